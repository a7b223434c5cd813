// Gives labels to launches, by the interface that the argument names, and prints what it computes.
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "kokkos_like.h"
#include "nvtx_like.h"
#include <mneme/label.hpp>

extern "C" __attribute__((weak)) int roctxRangePushA(const char* message);
extern "C" __attribute__((weak)) int roctxRangePop();

template <class F> __global__ void launch(int n, F f) {
  if (threadIdx.x < n)
    f(threadIdx.x);
}

__global__ void unlabelled(float* x) { x[threadIdx.x] += 1; }

static void byApi(float* x) {
  mneme::label step("step");
  {
    mneme::label scope("advection");
    launch<<<1, 32>>>(32, [=] __device__(int i) { x[i] += 2; });
  }
  std::thread([x] {
    mneme::label scope("other thread");
    launch<<<1, 32>>>(32, [=] __device__(int i) { x[i] *= 3; });
    cudaDeviceSynchronize();
  }).join();
  launch<<<1, 32>>>(32, [=] __device__(int i) { x[i] -= 4; });
}

static void byKokkos(float* x) {
  using namespace kokkos_like;
  initialize();
  parallel("for", "fill x", 32, [=] __device__(int i) { x[i] += 2; });
  parallel("reduce", "Z4mainEUliE_", 32, [=] __device__(int i) { x[i] *= 3; });
  parallel("scan", "scan x", 32, [=] __device__(int i) { x[i] -= 4; });
  std::printf("fences: %d, copies seen: %d\n", needsFences,
              find<void (*)()>("kokkosp_begin_deep_copy") != nullptr);
  finalize();
}

static void byNvtx(float* x) {
  int level = nvtx_like::push("outer");
  nvtx_like::pushWide(L"w\u00efde");
  launch<<<1, 32>>>(32, [=] __device__(int i) { x[i] += 2; });
  nvtx_like::pop();
  nvtx_like::Event event;
  event.messageType = 3;
  event.message = nvtx_like::registerString("registered");
  nvtx_like::pushDomain(&event);
  launch<<<1, 32>>>(32, [=] __device__(int i) { x[i] *= 3; });
  nvtx_like::popDomain();
  std::printf("level %d, then %d\n", level, nvtx_like::pop());
}

static void byRoctx(float* x) {
  if (roctxRangePushA)
    std::printf("level %d\n", roctxRangePushA("range"));
  launch<<<1, 32>>>(32, [=] __device__(int i) { x[i] += 2; });
  if (roctxRangePop)
    roctxRangePop();
}

static void plainly(float* x) {
  launch<<<1, 32>>>(32, [=] __device__(int i) { x[i] += 7; }); // one
  launch<<<1, 32>>>(32, [=] __device__(int i) { x[i] *= 5; }); // other
}

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "api";
  float *x, host[32];
  cudaMalloc(&x, sizeof(host));
  cudaMemset(x, 0, sizeof(host));
  unlabelled<<<1, 32>>>(x);
  if (way == "kokkos")
    byKokkos(x);
  else if (way == "nvtx")
    byNvtx(x);
  else if (way == "roctx")
    byRoctx(x);
  else if (way == "plain")
    plainly(x);
  else
    byApi(x);
  cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[31]);
  return 0;
}
