#include "tests/unit/jit/support.h"

#include <algorithm>

namespace mneme::jit::test {

std::atomic<int> vendorCalls{0};

namespace {

int vendorLaunch(const void*, mneme_dim3, mneme_dim3, void**, size_t, void*) {
  ++vendorCalls;
  return kVendorStatus;
}

class FakeKernel final : public LoadedKernel {};

class FakeBackend final : public Backend {
public:
  explicit FakeBackend(World& world) : world_(world) {}

  int currentDevice() noexcept override { return world_.device; }
  std::string target(int device) override {
    if (device == 9)
      throw Error(ErrorCode::DeviceFailed, "device 9 is odd");
    return "sm_90";
  }
  std::string deviceName(int) override { return "Fake"; }
  bool needsPlacedGlobals() const override { return world_.placesGlobals; }
  std::unique_ptr<LoadedKernel> load(const KernelImage& image) override {
    world_.onLoad();
    const std::lock_guard lock(world_.mutex);
    ++world_.loaded;
    world_.loads.push_back(image);
    return std::make_unique<FakeKernel>();
  }
  bool launch(LoadedKernel&, const mneme_launch&, const tuned::Dims& dims,
              int& status) noexcept override {
    if (world_.refusesLaunch)
      return false;
    ++world_.tunedLaunches;
    const std::lock_guard lock(world_.mutex);
    world_.lastDims = dims;
    status = kTunedStatus;
    return true;
  }

  bool isCaptured(const mneme_launch& launch) noexcept override {
    return launch.stream && launch.stream == world_.capturedStream;
  }
  void visitKernels(const ExecutableGraph&,
                    const std::function<void(const GraphKernel&)>& visit) override {
    for (const GraphKernel& one : world_.inGraph)
      visit(one);
  }
  bool replaceIn(const ExecutableGraph&, const GraphKernel&, LoadedKernel&,
                 const tuned::Dims& dims) noexcept override {
    if (world_.refusesLaunch)
      return false;
    const std::lock_guard lock(world_.mutex);
    world_.replaced.push_back(dims);
    return true;
  }

private:
  World& world_;
};

Services servicesOf(World& world) {
  const auto listTo = [&world](std::vector<std::string>& list) {
    return [&world, &list](const std::string& line) {
      const std::lock_guard lock(world.mutex);
      if (std::ranges::find(list, line) == list.end())
        list.push_back(line);
    };
  };
  return {
      .makeBackend = [&world](const mneme_launch&, std::string& why) -> std::unique_ptr<Backend> {
        world.onMakeBackend();
        why = "there is no device";
        return world.hasBackend ? std::make_unique<FakeBackend>(world) : nullptr;
      },
      .compile =
          [&world](const compile::Request& request) {
            {
              const std::lock_guard lock(world.mutex);
              world.requests.push_back(request);
            }
            world.onCompile(request);
            ++world.compiled;
            compile::Result result;
            result.image = embed::test::bytesOf("image");
            result.ir = "; IR";
            return result;
          },
      .findStored =
          [&world](const compile::Request&, compile::Result& result) {
            result.image = embed::test::bytesOf("stored");
            return world.isStored;
          },
      .warn =
          [&world, warn = listTo(world.warnings)](const std::string& line) {
            world.onWarn();
            warn(line);
          },
      .trace = listTo(world.traces)};
}

/// As in a program, engines live for ever; something has to point to them.
Engine& keep(std::unique_ptr<Engine> engine) {
  static auto& all = *new std::vector<std::unique_ptr<Engine>>;
  all.push_back(std::move(engine));
  return *all.back();
}

} // namespace

Unit::Unit(uintptr_t firstHandle, const std::vector<std::string>& kernels, bool carriesIr,
           bool isMarked)
    : names_(kernels) {
  std::vector<embed::test::Symbol> symbols;
  for (size_t i = 0; carriesIr && i < kernels.size(); ++i) {
    std::string metadata = embed::test::metadataFor(kernels[i], kHash);
    if (isMarked)
      metadata.insert(1, R"("jit":{"marks":[]},)");
    symbols.push_back({embed::test::symbolFor("__mneme_ir_", i),
                       embed::test::blobWith(metadata, "bitcode of " + kernels[i], kHash)});
  }
  fatbin_ = embed::test::fatBinaryWith({{2, embed::test::elfWith(symbols)}});
  wrapper_ = {0x466243b1, 1, fatbin_.data(), nullptr};
  for (size_t i = 0; i < names_.size(); ++i)
    kernels_.push_back({reinterpret_cast<const void*>(firstHandle + i), names_[i].c_str()});
  entry_ = {MNEME_RT_ABI, 0, &wrapper_, kernels_.data(), nullptr, kernels_.size(), 0};
  mneme_rt_register_module(&entry_);
}

void Unit::leave() {
  if (isThere_)
    mneme_rt_unregister_module(&entry_);
  isThere_ = false;
}

Launch::Launch(uintptr_t handle, int32_t value, mneme_dim3 grid, mneme_dim3 block) : n(value) {
  launch = {.version = MNEME_RT_ABI,
            .form = MNEME_LAUNCH_PLAIN,
            .kernel = reinterpret_cast<const void*>(handle),
            .grid = grid,
            .block = block,
            .args = args,
            .sharedBytes = 0,
            .stream = nullptr,
            .config = nullptr,
            .vendorEntry = reinterpret_cast<void*>(vendorLaunch)};
}

World::World(const std::string& tunedFile, Settings settings)
    : engine(keep(std::make_unique<Engine>(
          std::move(settings), tuned::parseFile(tunedFile, "t.json"), servicesOf(*this)))) {
  vendorCalls = 0;
}

void Gate::open() {
  const std::lock_guard lock(mutex_);
  isOpen_ = true;
  changed_.notify_all();
}

void Gate::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return isOpen_; });
}

} // namespace mneme::jit::test
