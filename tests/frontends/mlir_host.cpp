// Functions of MLIR on the host.
#include <cstdio>
#include <string>

#include <proteus/Error.h>
#include <proteus/MLIRJitModule.h>

extern "C" int ofTheProgram(int n) { return n + 100; }

static const char* const kCode = R"(
memref.global "private" @calls : memref<i32> = dense<0>
func.func private @ofTheProgram(i32) -> i32
func.func @add(%a: i32, %b: i32) -> i32 {
  %calls = memref.get_global @calls : memref<i32>
  %n = memref.load %calls[] : memref<i32>
  %one = arith.constant 1 : i32
  %m = arith.addi %n, %one : i32
  memref.store %m, %calls[] : memref<i32>
  %s = arith.addi %a, %b : i32
  return %s : i32
}
func.func @calls_so_far() -> i32 {
  %calls = memref.get_global @calls : memref<i32>
  %n = memref.load %calls[] : memref<i32>
  return %n : i32
}
func.func @ask(%n: i32) -> i32 {
  %r = call @ofTheProgram(%n) : (i32) -> i32
  return %r : i32
}
func.func @half(%n: i32) -> i32 {
  %two = arith.constant 2 : i32
  %h = arith.divsi %n, %two : i32
  %zero = arith.constant 0 : i32
  %isSmall = arith.cmpi slt, %n, %zero : i32
  cf.cond_br %isSmall, ^small, ^large
^small:
  return %zero : i32
^large:
  return %h : i32
}
func.func @roots(%data: memref<8xf64>, %n: index) -> f64 {
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %i = %first to %n step %one iter_args(%s = %zero) -> f64 {
    %v = memref.load %data[%i] : memref<8xf64>
    %r = math.sqrt %v : f64
    %t = arith.addf %s, %r : f64
    scf.yield %t : f64
  }
  return %sum : f64
}
func.func @error_of(%x: f64) -> f64 {
  %r = math.erf %x : f64
  return %r : f64
}
func.func @twice(%data: memref<8xf64>) {
  %first = arith.constant 0 : index
  %v = vector.load %data[%first] : memref<8xf64>, vector<8xf64>
  %w = arith.addf %v, %v : vector<8xf64>
  affine.for %i = 0 to 1 {
    vector.store %w, %data[%i] : memref<8xf64>, vector<8xf64>
  }
  return
}
)";

// The number of elements is known only when it runs.
static const char* const kAnySize = R"(
func.func @sum(%data: memref<?xf32>) -> f32 {
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %data, %first : memref<?xf32>
  %sum = scf.for %i = %first to %n step %one iter_args(%s = %zero) -> f32 {
    %v = memref.load %data[%i] : memref<?xf32>
    %t = arith.addf %s, %v : f32
    scf.yield %t : f32
  }
  return %sum : f32
}
)";

static void refuse(const char* what, const char* target, const char* code) {
  try {
    proteus::MLIRJitModule module(target, code);
    module.compile();
    module.getFunction<int()>("f").run();
    std::printf("%s: accepted\n", what);
  } catch (const proteus::FatalError& error) {
    const std::string text = error.what();
    std::printf("%s: %s\n", what, text.substr(text.find(" => ") + 4).c_str());
  }
}

int main() {
  proteus::MLIRJitModule module("host", kCode);
  auto add = module.getFunction<int(int, int)>("add");
  std::printf("add %d\n", add.run(1, 2));
  // Another module of the same text has variables of its own.
  proteus::MLIRJitModule other("native", kCode);
  other.compile(true);
  std::printf("calls %d %d\n", module.getFunction<int()>("calls_so_far").run(),
              other.getFunction<int()>("calls_so_far").run());
  std::printf("ask %d\n", module.getFunction<int(int)>("ask").run(7));
  auto half = module.getFunction<int(int)>("half");
  std::printf("half %d %d\n", half.run(9), half.run(-9));
  double data[8] = {1, 4, 9, 16};
  std::printf("roots %g\n", module.getFunction<double(double*, long)>("roots").run(data, 4));
  std::printf("erf %.6f\n", module.getFunction<double(double)>("error_of").run(0.5));
  module.getFunction<void(double*)>("twice").run(data);
  std::printf("twice %g %g\n", data[0], data[3]);
  proteus::MLIRJitModule any("host", kAnySize);
  float few[] = {1, 2, 3.5f};
  std::printf("sum %g\n", any.getFunction<float(float*, float*, long, long, long)>("sum").run(
                              few, few, 0, 3, 1));
  refuse("no MLIR", "host", "func.func @f( {");
  refuse("wrong type", "host",
         "func.func @f() -> i32 {\n  %x = arith.constant 0 : i64\n  return %x : i32\n}\n");
  refuse("unknown", "host", "func.func @f() {\n  toys.play\n  return\n}\n");
  refuse("no lowering", "host", "func.func @f() {\n  gpu.barrier\n  return\n}\n");
  refuse("verifier", "host",
         "llvm.func @f() -> i32 {\n  %0 = llvm.mlir.constant(1 : i32) : i32\n  llvm.br ^bb1(%0 : "
         "i32)\n"
         "^bb1(%1: i64):\n  %2 = llvm.trunc %1 : i64 to i32\n  llvm.return %2 : i32\n}\n");
  refuse("no such function", "host", "func.func @g() {\n  return\n}\n");
  refuse("undefined", "host",
         "func.func private @nowhere()\nfunc.func @f() {\n  call @nowhere() : () -> ()\n  "
         "return\n}\n");
  refuse("other target", "gpu", kCode);
  refuse("host_cuda", "host_cuda", kCode);
}
