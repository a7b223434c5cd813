// What code that a program makes while it runs costs it: the first module, further ones, and calls
// and launches of what is there. Any C++ compiler builds it. Prints one line of JSON: milliseconds,
// for hot calls nanoseconds.
// usage: frontend_latency dsl|ir|clang|nvcc host|cuda [further modules=9] [batches=2000]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <proteus/CppJitModule.h>
#include <proteus/JitFrontend.h>

using namespace proteus;
using namespace builtins::gpu;

extern "C" {
int cudaMalloc(void** pointer, size_t bytes);
int cudaMemset(void* pointer, int value, size_t bytes);
int cudaDeviceSynchronize();
struct Extent {
  unsigned x, y, z;
};
int cudaLaunchKernel(const void* kernel, Extent grid, Extent block, void** arguments, size_t shared,
                     void* stream);
}

constexpr int kLaunches = 256, kBlock = 32;
using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

static double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

static void replaceAll(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

/// out[thread] = out[thread] * factor + i for i < COUNT, a constant of the code.
static const char* const kSource = R"cpp(
#ifdef __CUDA__
#define KERNEL __global__
#define THREAD threadIdx.x
#elif defined(__CUDACC__)
#define KERNEL __global__
#define THREAD threadIdx.x
#else
#define KERNEL
#define THREAD 0
#endif
extern "C" KERNEL void step(float* out, float factor) {
  for (int i = 0; i < COUNT; ++i)
    out[THREAD] = out[THREAD] * factor + i;
}
)cpp";

static const char* const kText = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define CONVENTION void @step(ptr %out, float %factor) {
entry:
  %t = THREAD
  %l = zext i32 %t to i64
  %p = getelementptr float, ptr %out, i64 %l
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %v = load float, ptr %p
  %m = fmul contract float %v, %factor
  %f = sitofp i32 %i to float
  %r = fadd contract float %m, %f
  store float %r, ptr %p
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, COUNT
  br i1 %again, label %loop, label %end
end:
  ret void
}
)";

/// A module with its one function, or kernel.
class Step {
public:
  virtual ~Step() = default;
  virtual void compile() = 0;
  virtual void call(float* out) = 0;
  virtual void* address() = 0; ///< function, or what cudaLaunchKernel() takes
};

template <typename Module> class OfModule final : public Step {
public:
  template <typename... Words>
  explicit OfModule(bool isHost, Words&&... words)
      : module_(std::forward<Words>(words)...), isHost_(isHost) {}
  void compile() override {
    if (isHost_)
      function_.emplace_back(module_.template getFunction<void(float*, float)>("step"));
    else
      kernel_.emplace_back(module_.template getKernel<void(float*, float)>("step"));
  }
  void call(float* out) override {
    if (isHost_)
      function_[0].run(out, .5f);
    else
      kernel_[0].launch(1, kBlock, 0, nullptr, out, .5f);
  }
  void* address() override {
    return isHost_ ? module_.getFunctionAddress("step") : module_.getKernelAddress("step");
  }

private:
  Module module_;
  bool isHost_;
  std::vector<typename Module::template FunctionHandle<void(float*, float)>> function_;
  std::vector<typename Module::template KernelHandle<void(float*, float)>> kernel_;
};

class OfDsl final : public Step {
public:
  OfDsl(bool isHost, int count) : module_(isHost ? "host" : "cuda") {
    if (isHost) {
      function_ = &module_.addFunction<void(float*, float)>("step");
      write(*function_, count, false);
    } else {
      kernel_.push_back(module_.addKernel<void(float*, float)>("step"));
      write(kernel_[0].F, count, true);
    }
  }
  void compile() override { module_.compile(); }
  void call(float* out) override {
    if (function_)
      (*function_)(out, .5f);
    else
      (void)kernel_[0].launch(1, kBlock, 0, nullptr, out, .5f);
  }
  void* address() override {
    const std::string& name = function_ ? function_->getName() : kernel_[0].F.getName();
    return module_.getDispatcher().getFunctionAddress(name, module_.getModuleHash(),
                                                      module_.getLibrary());
  }

private:
  template <typename F> static void write(F& f, int count, bool isKernel) {
    f.function([&] {
      auto& out = f.template getArg<0>();
      auto& factor = f.template getArg<1>();
      auto at = f.template declVar<unsigned>("at");
      at = 0;
      if (isKernel)
        at = f.callBuiltin(getThreadIdX);
      auto end = f.defRuntimeConst(count);
      auto i = f.template declVar<int>("i");
      f.forLoop(i, 0, end, 1, [&] { out[at] = out[at] * factor + i; });
      f.ret();
    });
  }

  JitModule module_;
  Func<void, float*, float>* function_ = nullptr;
  std::vector<KernelHandle<void(float*, float)>> kernel_;
};

static std::unique_ptr<Step> make(const std::string& frontend, bool isHost, int count) {
  const std::string target = isHost ? "host" : "cuda";
  if (frontend == "dsl")
    return std::make_unique<OfDsl>(isHost, count);
  if (frontend == "ir") {
    std::string text = kText;
    replaceAll(text, "CONVENTION", isHost ? "" : "ptx_kernel");
    replaceAll(text, "THREAD",
               isHost ? "add i32 0, 0" : "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
    replaceAll(text, "COUNT", std::to_string(count));
    return std::make_unique<OfModule<LLVMIRJitModule>>(isHost, target, text);
  }
  return std::make_unique<OfModule<CppJitModule>>(
      isHost, target, kSource, std::vector<std::string>{"-DCOUNT=" + std::to_string(count)},
      frontend == "nvcc" ? CppJitCompilerBackend::Nvcc : CppJitCompilerBackend::Clang);
}

static void wait(bool isHost) {
  if (!isHost && cudaDeviceSynchronize() != 0)
    std::exit(2);
}

/// The time of one call, in batches so short that no queue fills.
template <typename Call> static double hot(int batches, bool isHost, const Call& call) {
  std::vector<double> times;
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < kLaunches; ++i)
      call();
    times.push_back(since(start) * 1e6 / kLaunches);
    wait(isHost);
  }
  return median(times);
}

static void printHot(Step& step, float* out, bool isHost, int batches) {
  void* const address = step.address();
  const auto plain = [&] {
    float factor = .5f;
    void* arguments[] = {&out, &factor};
    if (isHost)
      reinterpret_cast<void (*)(float*, float)>(address)(out, factor);
    else
      cudaLaunchKernel(address, {1, 1, 1}, {kBlock, 1, 1}, arguments, 0, nullptr);
  };
  // In turn, so that what else the machine does hits both.
  std::vector<double> plainTimes, times;
  for (int round = 0; round < 10; ++round) {
    plainTimes.push_back(hot(batches / 10, isHost, plain));
    times.push_back(hot(batches / 10, isHost, [&] { step.call(out); }));
  }
  std::printf("\"hot plain\": %.1f, \"hot\": %.1f}\n", median(plainTimes), median(times));
}

int main(int count, char** arguments) {
  if (count < 3)
    return 1;
  const std::string frontend = arguments[1];
  const bool isHost = std::string(arguments[2]) == "host";
  const int further = count > 3 ? std::atoi(arguments[3]) : 9;
  const int batches = count > 4 ? std::atoi(arguments[4]) : 2000;
  float memory[kBlock] = {};
  float* out = memory;
  auto start = Clock::now();
  if (!isHost) {
    cudaMalloc(reinterpret_cast<void**>(&out), sizeof memory);
    cudaMemset(out, 0, sizeof memory);
    wait(isHost);
  }
  std::printf("{\"context\": %.3f, ", since(start));
  std::vector<double> writing, times;
  std::vector<std::unique_ptr<Step>> steps;
  for (int number = 0; number <= further; ++number) {
    start = Clock::now();
    steps.push_back(make(frontend, isHost, 3 + number));
    writing.push_back(since(start));
    steps.back()->compile();
    steps.back()->call(out);
    wait(isHost);
    times.push_back(since(start));
  }
  std::printf("\"write first\": %.3f, \"first\": %.3f, \"second\": %.3f, ", writing[0], times[0],
              times[1]);
  writing.erase(writing.begin());
  times.erase(times.begin());
  std::printf("\"write\": %.3f, \"further\": %.3f, ", median(writing), median(times));
  printHot(*steps[0], out, isHost, batches);
}
