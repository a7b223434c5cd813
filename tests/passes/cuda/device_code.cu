// REQUIRES: cuda
// What mneme reads of device code that it did not make is the same in PTX and in machine code of every
// architecture, compressed in every way or not.
// RUN: %clang_cuda -O2 --cuda-device-only --no-offload-arch=sm_90 --offload-arch=sm_75 -S %s -o %t.ptx
// RUN: ptxas -arch=sm_75 %t.ptx -o %t.75 && ptxas -arch=sm_80 %t.ptx -o %t.80 && ptxas -arch=sm_90 %t.ptx -o %t.90
// RUN: fatbinary --create=%t.none --compress=false --image3=kind=elf,sm=75,file=%t.75 --image3=kind=ptx,sm=75,file=%t.ptx
// RUN: fatbinary --create=%t.packed --compress-all --image3=kind=elf,sm=80,file=%t.80 --image3=kind=elf,sm=90,file=%t.90 --image3=kind=ptx,sm=75,file=%t.ptx
// RUN: mneme_blob_dump --code %t.ptx | sort | FileCheck --check-prefixes=CHECK,PTX %s
// RUN: mneme_blob_dump --code %t.75 | sort | FileCheck --check-prefixes=CHECK,CUBIN %s
// RUN: mneme_blob_dump --code %t.90 | sort | FileCheck --check-prefixes=CHECK,CUBIN %s
// RUN: mneme_blob_dump --code %t.none | FileCheck --check-prefix=NONE %s
// RUN: mneme_blob_dump --code %t.packed | FileCheck --check-prefix=PACKED %s

// NONE: member sm_75: cubin sm_75
// NONE: member compute_75: PTX sm_75
// PACKED: member sm_80 (packed): cubin sm_80
// PACKED: member sm_90 (packed): cubin sm_90
// PACKED: member compute_75 (packed): PTX sm_75

struct Point {
  double x, y, z;
  short kind;
};
struct alignas(16) Four {
  float a, b, c, d;
};
__constant__ float factors[12];
__device__ Four place;
__device__ unsigned long long counter = 7;

// CUBIN: constant factors 48
// PTX: constant factors 48

// CHECK: kernel _Z4manyPfa5Pointb4Fours(8 at 0, 1 at 8, 32 at 16, 1 at 48, 16 at 64, 2 at 80)
__global__ void many(float* out, signed char a, Point b, bool c, Four d, short e) {
  *out = factors[a] + b.x + c + d.d + e + place.a + counter;
}

// CUBIN-NEXT: kernel _Z6boundsPi(8 at 0) registers {{[0-9]+}} shared 400 threads 256
// PTX-NEXT: kernel _Z6boundsPi(8 at 0) threads 256
__global__ void __launch_bounds__(256, 2) bounds(int* out) {
  __shared__ int all[100];
  all[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = all[99 - threadIdx.x];
}

// CHECK-NEXT: kernel _Z7nothingv()
__global__ void nothing() { counter = 1; place.b = 2; }

// CHECK: variable counter 8
// CHECK: variable place 16
