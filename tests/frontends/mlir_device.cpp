// Kernels of MLIR: a program that has none of its own.
#include <cstddef>
#include <cstdio>
#include <string>

#include <proteus/Error.h>
#include <proteus/MLIRJitModule.h>

#ifdef TEST_HIP
#define VENDOR(name) hip##name
static const char* const kTarget = "hip";
#else
#define VENDOR(name) cuda##name
static const char* const kTarget = "cuda";
#endif

// Beside it, a function that a host would have launched it from.
static const char* const kCode = R"(
module attributes {gpu.container_module} {
  func.func @not_of_the_device() {
    return
  }
  gpu.module @any_name {
    func.func private @root(%x: f64) -> f64 {
      %r = math.exp %x : f64
      return %r : f64
    }
    // Reverses each block by way of its shared memory.
    gpu.func @reverse(%x: memref<192xf64>, %a: f64, %total: !llvm.ptr)
        workgroup(%tile: memref<64xf64, #gpu.address_space<workgroup>>) kernel {
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %n = gpu.block_dim x
      %o = arith.muli %b, %n : index
      %i = arith.addi %o, %t : index
      %v = memref.load %x[%i] : memref<192xf64>
      memref.store %v, %tile[%t] : memref<64xf64, #gpu.address_space<workgroup>>
      gpu.barrier
      %one = arith.constant 1 : index
      %last = arith.subi %n, %one : index
      %other = arith.subi %last, %t : index
      %w = memref.load %tile[%other] : memref<64xf64, #gpu.address_space<workgroup>>
      %r = arith.mulf %w, %a : f64
      memref.store %r, %x[%i] : memref<192xf64>
      %zero = arith.constant 0 : index
      %isFirst = arith.cmpi eq, %t, %zero : index
      scf.if %isFirst {
        %count = arith.constant 1 : i32
        %old = llvm.atomicrmw add %total, %count seq_cst : !llvm.ptr, i32
      }
      gpu.return
    }
    gpu.func @powers(%x: memref<4xf64>) kernel {
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<4xf64>
      %r = func.call @root(%v) : (f64) -> f64
      memref.store %r, %x[%t] : memref<4xf64>
      gpu.return
    }
  }
}
)";

extern "C" {
int VENDOR(MallocManaged)(void** pointer, size_t bytes, unsigned flags);
int VENDOR(DeviceSynchronize)();
}

static void refuse(const char* what, const char* code) {
  try {
    proteus::MLIRJitModule module(kTarget, code);
    module.compile();
    std::printf("%s: accepted\n", what);
  } catch (const proteus::FatalError& error) {
    const std::string text = error.what();
    std::printf("%s: %s\n", what, text.substr(text.find(" => ") + 4).c_str());
  }
}

int main() {
  constexpr int kBlocks = 3, kThreads = 64;
  double* x = nullptr;
  int* count = nullptr;
  VENDOR(MallocManaged)(reinterpret_cast<void**>(&x), sizeof(double) * kBlocks * kThreads, 1);
  VENDOR(MallocManaged)(reinterpret_cast<void**>(&count), sizeof(int), 1);
  for (int index = 0; index < kBlocks * kThreads; ++index)
    x[index] = index;

  proteus::MLIRJitModule module(kTarget, kCode);
  auto reverse = module.getKernel<void(double*, double, int*)>("reverse");
  int status = reverse.launch({kBlocks}, kThreads, 0, nullptr, x, 1.5, count);
  status += reverse.launch({kBlocks}, kThreads, 0, nullptr, x, 1.0, count);
  status += reverse.launch({1}, kThreads, 0, nullptr, x, 2.0, count);
  VENDOR(DeviceSynchronize)();
  std::printf("status %d x %g %g blocks %d\n", status, x[0], x[kBlocks * kThreads - 1], *count);
  x[0] = 0;
  x[1] = 1;
  module.getKernel<void(double*)>("powers").launch({1}, {2}, 0, nullptr, x);
  VENDOR(DeviceSynchronize)();
  std::printf("powers %.4f %.4f\n", x[0], x[1]);

  refuse("none", "func.func @f() {\n  return\n}\n");
  refuse("two", "gpu.module @a {\n  gpu.func @k() kernel {\n    gpu.return\n  }\n}\n"
                "gpu.module @b {\n}\n");
  refuse("wrong", "gpu.module @a {\n  gpu.func @k() kernel {\n    %x = gpu.thread_id t\n"
                  "    gpu.return\n  }\n}\n");
  try {
    module.getKernel<void()>("not_of_the_device");
  } catch (const proteus::FatalError& error) {
    const std::string text = error.what();
    std::printf("%s\n", text.substr(text.find(" => ") + 4).c_str());
  }
}
