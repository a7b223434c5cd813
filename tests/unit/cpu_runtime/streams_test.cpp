#include <chrono>
#include <thread>

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

TEST_CASE("streams keep flags and priority until destroyed") {
  cudaStream_t stream = nullptr;
  int least = 1, greatest = 1, priority = 1;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1) == cudaSuccess);
  unsigned flags = 0;
  CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == -1);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(cudaStreamSynchronize(cudaStreamLegacy) == cudaSuccess);
  CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
  CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST_CASE("streams keep their attributes, and give them to others") {
  cudaStream_t stream = nullptr, other = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&other) == cudaSuccess);
  cudaStreamAttrValue value{};
  const auto get = [&](cudaStream_t from, cudaStreamAttrID id) {
    value = {};
    return cudaStreamGetAttribute(from, id, &value);
  };
  CHECK(get(stream, cudaStreamAttributeSynchronizationPolicy) == cudaSuccess);
  CHECK(value.syncPolicy == cudaSyncPolicyAuto);
  CHECK(get(nullptr, cudaStreamAttributeMemSyncDomainMap) == cudaSuccess);
  CHECK(value.memSyncDomainMap.remote == 1);
  value.syncPolicy = cudaSyncPolicyYield;
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &value) ==
        cudaSuccess);
  value.priority = -2;
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributePriority, &value) == cudaSuccess);
  CHECK(get(other, cudaStreamAttributeSynchronizationPolicy) == cudaSuccess);
  CHECK(value.syncPolicy == cudaSyncPolicyAuto);
  CHECK(cudaStreamCopyAttributes(other, stream) == cudaSuccess);
  CHECK(get(other, cudaStreamAttributeSynchronizationPolicy) == cudaSuccess);
  CHECK(value.syncPolicy == cudaSyncPolicyYield);
  CHECK(get(other, cudaStreamAttributePriority) == cudaSuccess);
  CHECK(value.priority == -2);
  CHECK(get(stream, cudaLaunchAttributeCooperative) == cudaErrorInvalidValue); // of launches alone
  CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributePriority, nullptr) ==
        cudaErrorInvalidValue);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(get(stream, cudaStreamAttributePriority) == cudaErrorInvalidResourceHandle);
  cudaStreamDestroy(other);
  cudaGetLastError();
}

TEST_CASE("events measure real time") {
  cudaEvent_t start = nullptr, stop = nullptr, untimed = nullptr;
  REQUIRE(cudaEventCreate(&start) == cudaSuccess);
  REQUIRE(cudaEventCreate(&stop) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(start, nullptr) == cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(cudaEventRecord(stop, nullptr) == cudaSuccess);
  CHECK(cudaEventSynchronize(stop) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess);
  CHECK(milliseconds >= 5.0f);
  CHECK(cudaStreamWaitEvent(nullptr, stop, 0) == cudaSuccess);
  CHECK(cudaEventRecord(untimed, nullptr) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start, untimed) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(start) == cudaSuccess);
  CHECK(cudaEventDestroy(start) == cudaErrorInvalidResourceHandle);
  cudaEventDestroy(stop);
  cudaEventDestroy(untimed);
  cudaGetLastError();
}

TEST_CASE("host functions run in stream order") {
  int value = 0;
  CHECK(cudaLaunchHostFunc(
            nullptr, [](void* user) { *static_cast<int*>(user) += 1; }, &value) == cudaSuccess);
  const auto callback = [](cudaStream_t, cudaError_t status, void* user) {
    *static_cast<int*>(user) += status == cudaSuccess ? 10 : 100;
  };
  CHECK(cudaStreamAddCallback(nullptr, callback, &value, 0) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(value == 11);
}
