#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <utility>

#include <unistd.h>

#include "support.h"

using namespace test;

extern "C" {
int cudaLaunchKernel() { return 1; }
int cudaLaunchKernel_ptsz() { return 2; }
int cudaLaunchKernelExC() { return 3; }
}

[[maybe_unused]] const bool isFakeHere = [] {
  if (access(FAKE_CUDA, R_OK) == 0)
    return true;
  std::puts("skipped: the driver without a GPU is not at " FAKE_CUDA);
  std::fflush(stdout);
  _exit(0);
}();

Program& test::program() {
  static Program instance;
  return instance;
}

fake::Application& test::application() {
  static const auto find =
      reinterpret_cast<fake::Application* (*)()>(dlsym(RTLD_DEFAULT, "fakeApplication"));
  return *find();
}

LoadedRuntime test::runtime() {
  static fake::Function ofTheProgram{"k"};
  LoadedRuntime calls;
  calls.getDevice = [](int* device) { return *device = program().device, 0; };
  calls.peekAtLastError = [] { return program().lastError; };
  calls.getLastError = [] { return std::exchange(program().lastError, 0); };
  calls.getSymbolAddress = [](void** address, const void* shadow) {
    const auto found = program().shadows.find(shadow);
    if (found == program().shadows.end())
      return program().lastError = 13;
    *address = reinterpret_cast<void*>(found->second);
    return 0;
  };
  calls.getFuncAttributes = [](void* attributes, const void* handle) {
    if (handle != &kHandle)
      return program().lastError = 98;
    auto* words = static_cast<int*>(attributes);
    words[11] = program().maxDynamicShared;
    words[12] = -1;
    words[18] = program().hasLargeClusters;
    return 0;
  };
  calls.graphKernelNodeGetParams = [](void* node, void* params) {
    if (reinterpret_cast<fake::GraphNode*>(node)->kernel.gridDimX == kForeignGrid)
      return program().lastError = 98;
    *static_cast<const void**>(params) = &kHandle;
    return 0;
  };
  calls.lookup.functionOf = [](void** function, const void* handle) {
    if (handle != &kHandle)
      return program().lastError = 98;
    ofTheProgram.module = &program().module;
    *function = &ofTheProgram;
    return 0;
  };
  return calls;
}

std::unique_ptr<jit::Backend> test::start() {
  openFakeDriver();
  waitForGpu();
  application() = {};
  application().current = fake::primaryOf(0);
  program() = {};
  return jit::makeCudaBackend(Driver::get(), runtime());
}

mneme_launch test::plainLaunch(void* stream) {
  mneme_launch launch{};
  launch.version = MNEME_RT_ABI;
  launch.form = MNEME_LAUNCH_PLAIN;
  launch.kernel = &kHandle;
  launch.grid = {5, 1, 1};
  launch.block = {64, 1, 1};
  launch.stream = stream;
  launch.vendorEntry = reinterpret_cast<void*>(&cudaLaunchKernel);
  return launch;
}

tuned::Dims test::dimsOf(const mneme_launch& launch) { return {launch.grid, launch.block}; }

Image& Image::variable(const std::string& name, size_t sizeBytes) {
  text += ".variable " + name + " " + std::to_string(sizeBytes) + "\n";
  return *this;
}

std::unique_ptr<jit::LoadedKernel> Image::load(jit::Backend& backend) const {
  mneme_module_entry module{};
  module.version = MNEME_RT_ABI;
  module.globals = entries.data();
  module.globalCount = entries.size();
  return backend.load({bytesOf(text), kernel, &kHandle, &module, globals, sharedCarveout});
}

void test::waitForGpu() { Driver::get().cuStreamSynchronize(nullptr); }

bool test::tryLaunch(jit::Backend& backend, jit::LoadedKernel& kernel, const mneme_launch& launch) {
  int status = -1;
  const bool isLaunched = backend.launch(kernel, launch, dimsOf(launch), status);
  if (isLaunched)
    CHECK(status == 0);
  return isLaunched;
}

fake::Seen test::run(jit::Backend& backend, jit::LoadedKernel& kernel, const mneme_launch& launch) {
  const size_t before = application().launches.size();
  REQUIRE(tryLaunch(backend, kernel, launch));
  waitForGpu();
  REQUIRE(application().launches.size() == before + 1);
  return application().launches.back();
}

TEST_CASE("a launch goes to the stream it was written for") {
  const auto backend = start();
  const auto kernel = Image().load(*backend);
  mneme_launch launch = plainLaunch();
  const fake::Seen seen = run(*backend, *kernel, launch);
  CHECK(seen.kernel == "k");
  CHECK(seen.config.gridDimX == 5);
  CHECK(seen.config.blockDimX == 64);
  CHECK(seen.config.hStream == nullptr);
  launch.vendorEntry = reinterpret_cast<void*>(&cudaLaunchKernel_ptsz);
  for (int repeat = 0; repeat < 2; ++repeat)
    CHECK(run(*backend, *kernel, launch).config.hStream == reinterpret_cast<CUstream>(2));
  launch.stream = reinterpret_cast<void*>(16);
  CHECK(run(*backend, *kernel, launch).config.hStream == reinterpret_cast<CUstream>(16));
  static const char unknown = 0;
  launch.vendorEntry = const_cast<char*>(&unknown);
  CHECK(run(*backend, *kernel, launch).config.hStream == reinterpret_cast<CUstream>(16));
  launch.stream = nullptr;
  CHECK_FALSE(tryLaunch(*backend, *kernel, launch));
}

TEST_CASE("other dimensions than the program's are launched") {
  const auto backend = start();
  const auto kernel = Image().load(*backend);
  int status = -1;
  REQUIRE(backend->launch(*kernel, plainLaunch(), {{2, 3, 4}, {8, 4, 2}}, status));
  waitForGpu();
  const CUlaunchConfig& config = application().launches.back().config;
  CHECK(config.gridDimX == 2);
  CHECK(config.gridDimY == 3);
  CHECK(config.gridDimZ == 4);
  CHECK(config.blockDimX == 8);
  CHECK(config.blockDimY == 4);
  CHECK(config.blockDimZ == 2);
}

TEST_CASE("launches go to a device only in its primary context, chosen by the program") {
  const auto backend = start();
  CHECK(backend->currentDevice() == 0);
  CHECK(backend->target(0) == "sm_90");
  CHECK(backend->deviceName(1) == "Fake GPU 1");
  program().device = 1; // cudaSetDevice() that has not taken effect
  CHECK(backend->currentDevice() == -1);
  application().current = fake::primaryOf(1);
  application().device = 1;
  CHECK(backend->currentDevice() == 1);
  application().current = reinterpret_cast<CUcontext>(uintptr_t{0x5000}); // the program's own
  CHECK(backend->currentDevice() == -1);
  application().current = nullptr;
  CHECK(backend->currentDevice() == -1);
  CHECK(failureOf([&] { Image().load(*backend); }).says("outside a primary context"));
  const test::Failing destroyed("cuCtxGetId=709");
  application().current = fake::primaryOf(1);
  CHECK(backend->currentDevice() == -1);
}

TEST_CASE("shared memory is what the program asked for its own kernel") {
  const auto backend = start();
  const auto kernel = Image().load(*backend);
  mneme_launch launch = plainLaunch();
  launch.sharedBytes = 48 << 10;
  CHECK(run(*backend, *kernel, launch).config.sharedMemBytes == 48 << 10);
  launch.sharedBytes += 4;
  CHECK_FALSE(tryLaunch(*backend, *kernel, launch));
  program().maxDynamicShared = 100 << 10; // cudaFuncSetAttribute() after the first launch
  CHECK(run(*backend, *kernel, launch).config.sharedMemBytes == (48 << 10) + 4);
  const auto second = Image().load(*backend); // and before
  launch.sharedBytes = 100 << 10;
  CHECK(tryLaunch(*backend, *second, launch));
  launch.sharedBytes = uint64_t{1} << 40;
  CHECK_FALSE(tryLaunch(*backend, *second, launch));
}

TEST_CASE("a carve-out of shared memory is the variant's, or what the program asked for") {
  const auto backend = start();
  const auto seen = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "fakeCarveouts"));
  REQUIRE(bool(seen));
  seen();
  Image image;
  image.load(*backend);
  CHECK(seen() == std::string());
  image.sharedCarveout = 50;
  const auto kernel = image.load(*backend);
  CHECK(seen() == std::string("50 "));
  program().hasLargeClusters = true; // what else it asks for changes nothing of that
  CHECK(tryLaunch(*backend, *kernel, plainLaunch()));
  CHECK(seen() == std::string());
}

TEST_CASE("cooperative launches are cooperative, and attributes are passed on") {
  const auto backend = start();
  const auto kernel = Image().load(*backend);
  mneme_launch launch = plainLaunch();
  launch.form = MNEME_LAUNCH_COOPERATIVE;
  CHECK_FALSE(backend->mayReshape(launch));
  fake::Seen seen = run(*backend, *kernel, launch);
  REQUIRE(seen.attributes.size() == 1);
  CHECK(seen.attributes[0].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  CHECK(seen.attributes[0].value.cooperative == 1);

  CUlaunchAttribute attributes[2];
  RuntimeLaunchConfig config{{5, 1, 1}, {64, 1, 1}, 0, nullptr, attributes, 0};
  launch.form = MNEME_LAUNCH_EX;
  launch.config = &config;
  launch.vendorEntry = reinterpret_cast<void*>(&cudaLaunchKernelExC);
  CHECK(backend->mayReshape(launch));
  CHECK(run(*backend, *kernel, launch).attributes.empty());
  attributes[0].id = static_cast<CUlaunchAttributeID>(8); // a priority
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[1].value.clusterDim = {5, 1, 1};
  config.attributeCount = 1;
  CHECK(backend->mayReshape(launch));
  config.attributeCount = 2;
  CHECK_FALSE(backend->mayReshape(launch));
  seen = run(*backend, *kernel, launch);
  REQUIRE(seen.attributes.size() == 2);
  CHECK(seen.attributes[0].id == 8);
  CHECK(seen.attributes[1].value.clusterDim.x == 5);
  attributes[1].value.clusterDim.x = 16;
  CHECK_FALSE(tryLaunch(*backend, *kernel, launch));
  program().hasLargeClusters = true;
  CHECK(tryLaunch(*backend, *kernel, launch));
  for (const int unknown : {13, 15, 99}) { // a node the device updates, what nobody knows yet
    attributes[0].id = static_cast<CUlaunchAttributeID>(unknown);
    CHECK_FALSE(tryLaunch(*backend, *kernel, launch));
  }
}

TEST_CASE("a launch that fails is the program's own to report") {
  const auto backend = start();
  Image image;
  image.kernel = "refused";
  const auto kernel = image.load(*backend);
  CHECK_FALSE(tryLaunch(*backend, *kernel, plainLaunch()));
  const auto fine = Image().load(*backend);
  const test::Failing broken("cuLaunchKernel=700");
  CHECK_FALSE(tryLaunch(*backend, *fine, plainLaunch()));
  CHECK(application().launches.empty());
}

TEST_CASE("an image that does not load says why") {
  const auto backend = start();
  {
    const test::Failing broken("cuModuleLoadDataEx=218");
    const Failure failure = failureOf([&] { Image().load(*backend); });
    CHECK(failure.code == ErrorCode::CompileFailed);
    CHECK(failure.says("loading the tuned kernel 'k' failed"));
    CHECK(failure.says("what is this?"));
  }
  Image image;
  image.kernel = "missing";
  CHECK(failureOf([&] { image.load(*backend); }).says("finding the tuned kernel 'missing'"));
  REQUIRE(application().modules.size() == 1);
  CHECK_FALSE(application().modules[0]->isLoaded);
}

TEST_CASE("loading does not spoil a capture, nor the program's last error") {
  const auto backend = start();
  Image image;
  static const char foreign = 0; // not in this program's runtime
  image.variable("factor", 4).globals = {{"factor", 4, 4, true, true}};
  image.entries = {{&foreign, "factor", 4, 1, 0}};
  program().module.variables["factor"] = {0x9000, 4};
  auto kernel = image.load(*backend);
  CHECK(program().lastError == 0);
  CHECK(application().modesOfLoads == std::vector<int>{CU_STREAM_CAPTURE_MODE_RELAXED});
  CHECK(application().captureMode == CU_STREAM_CAPTURE_MODE_GLOBAL);
  program().lastError = 2;
  kernel = image.load(*backend);
  CHECK(program().lastError != 0);
}

TEST_CASE("after a device reset the kernel is loaded again, once") {
  const auto backend = start();
  const auto kernel = Image().load(*backend);
  CHECK(tryLaunch(*backend, *kernel, plainLaunch()));
  application().lives[0] = 101;
  std::atomic<int> launched = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        int status = -1;
        launched += backend->launch(*kernel, plainLaunch(), {}, status);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(launched == 200);
  REQUIRE(application().modules.size() == 2);
  CHECK(application().modules[0]->isLoaded); // gone with its context: nobody may touch it
}

TEST_CASE("where it cannot be loaded again, the program's own kernel runs") {
  const auto backend = start();
  auto kernel = Image().load(*backend);
  application().lives[0] = 102;
  {
    const test::Failing broken("cuModuleLoadDataEx=2");
    CHECK_FALSE(tryLaunch(*backend, *kernel, plainLaunch()));
  }
  CHECK_FALSE(tryLaunch(*backend, *kernel, plainLaunch())); // for good
  application().lives[0] = 103;
  CHECK(tryLaunch(*backend, *kernel, plainLaunch()));
  application().current = fake::primaryOf(1);
  application().device = program().device = 1;
  CHECK_FALSE(tryLaunch(*backend, *kernel, plainLaunch())); // loaded for GPU 0
}

TEST_CASE("a kernel is unloaded in its own context only") {
  const auto backend = start();
  auto first = Image().load(*backend);
  auto second = Image().load(*backend);
  first.reset();
  CHECK_FALSE(application().modules[0]->isLoaded);
  application().lives[0] = 104;
  second.reset();
  CHECK(application().modules[1]->isLoaded);
}
