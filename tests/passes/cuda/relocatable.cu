// REQUIRES: cuda
// Relocatable device code: two units that share a template kernel, each with internal variables of one
// name, link to one device image in which every kernel and the shared code are found.
// RUN: split-file %s %t
// RUN: %clang_cuda -fgpu-rdc -fPIC -O1 -c %t/first.cu -o %t/first.o
// RUN: %clang_cuda -fgpu-rdc -fPIC -O1 -fno-discard-value-names -c %t/second.cu -o %t/second.o
// RUN: %clang_link_rdc -shared %t/first.o %t/second.o -o %t/linked.so
// RUN: mneme_blob_dump %t/linked.so | FileCheck %s

// CHECK-DAG: "demangled":"first(int*)"{{.*}}"name":"_ZL5state__mneme_{{[0-9a-f]+}}"{{.*}}"undefined":["_Z5twicei"]
// CHECK-DAG: "demangled":"second(int*)"
// CHECK-DAG: "demangled":"void shared<int>(int*)"
// CHECK-DAG: "kernel":"",{{.*}}"undefined":[]

//--- shared.h
template <typename T> __global__ void shared(T* out) { out[threadIdx.x] = 1; }

//--- first.cu
#include "shared.h"
__device__ int twice(int value);
static __device__ int state;
__global__ void first(int* out) { out[0] = twice(state++); }
void runFirst() {
  first<<<1, 1>>>(nullptr);
  shared<int><<<1, 1>>>(nullptr);
}

//--- second.cu
#include "shared.h"
static __device__ int state;
__device__ int twice(int value) { return 2 * value + state++; }
__global__ void second(int* out) { out[0] = twice(state); }
void runSecond() {
  second<<<1, 1>>>(nullptr);
  shared<int><<<1, 1>>>(nullptr);
}
