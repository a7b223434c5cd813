// REQUIRES: cuda
// How a program is compiled is told by the compiler, not guessed from the code: a unit whose only kernel
// forbids contraction is still fused by -ffp-contract=fast, which pragmas do not stop.
// RUN: %clang_cuda -O3 -c %s -o %t.o && mneme_blob_dump %t.o | FileCheck --check-prefixes=CHECK,FAST %s
// RUN: %clang_cuda -O3 -ffp-contract=fast-honor-pragmas -c %s -o %t.honor.o && mneme_blob_dump %t.honor.o | FileCheck --check-prefixes=CHECK,HONOR %s
// RUN: %clang_cuda -O3 -fno-unroll-loops -mllvm -unroll-count=2 -Xcuda-ptxas -O1 -Xcuda-ptxas -maxrregcount -Xcuda-ptxas 32 -c %s -o %t.loops.o && mneme_blob_dump %t.loops.o | FileCheck --check-prefix=LOOPS %s
// CHECK: "kernel":"_Z5exactPf"
// FAST-SAME: "fp_contract":"fast"
// HONOR-SAME: "fp_contract":"fast-honor-pragmas"
// CHECK-SAME: "own_functions":["_Z7productff"]
// LOOPS: "assembler_level":"1","assembler_options":["-maxrregcount=32"]
// LOOPS-SAME: "interleave_loops":false,"llvm_options":["unroll-count=2"]
// LOOPS-SAME: "unroll_loops":false
__attribute__((device)) float product(float a, float b) {
#pragma clang fp contract(off)
  return a * b + a;
}
__attribute__((global)) void exact(float* x) { *x = product(*x, 2); }
