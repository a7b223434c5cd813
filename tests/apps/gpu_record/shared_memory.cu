// Two processes share device memory: one allocates it and hands it out, the other multiplies what
// is there.
//
//   shared_memory [<command before the second process>...]
//
// The second process is this program again, with the handle of the memory as a file and the
// device's number; it takes the last device there is.
#include <cstdlib>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

namespace {

constexpr int kCount = 4096;
constexpr size_t kBytes = kCount * sizeof(int);
constexpr const char* kSecond = "--second";

__global__ void multiply(int* values, const int* factors) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] *= factors[i];
}

bool transfer(const char* path, const char* mode, cudaIpcMemHandle_t* handle) {
  FILE* file = std::fopen(path, mode);
  const bool isDone = file && (*mode == 'w' ? std::fwrite(handle, sizeof *handle, 1, file)
                                            : std::fread(handle, sizeof *handle, 1, file)) == 1;
  return file && std::fclose(file) == 0 && isDone;
}

int second(const char* path) {
  int devices = 0;
  expect(cudaGetDeviceCount(&devices));
  expect(cudaSetDevice(devices - 1));
  cudaIpcMemHandle_t handle;
  check(transfer(path, "r", &handle), "the handle is read");
  int *shared = nullptr, *factors = nullptr;
  const std::vector<int> host(kCount, 3);
  expect(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&shared), handle,
                              cudaIpcMemLazyEnablePeerAccess));
  expect(cudaMalloc(&factors, kBytes));
  expect(cudaMemcpy(factors, host.data(), kBytes, cudaMemcpyHostToDevice));
  multiply<<<kCount / 256, 256>>>(shared, factors);
  expectLaunched();
  expect(cudaDeviceSynchronize());
  expect(cudaIpcCloseMemHandle(shared));
  expect(cudaFree(factors));
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == kSecond)
    return second(argv[2]);
  int *values = nullptr, *factors = nullptr;
  const std::vector<int> host(kCount, 5);
  for (int** one : {&values, &factors}) {
    expect(cudaMalloc(one, kBytes));
    expect(cudaMemcpy(*one, host.data(), kBytes, cudaMemcpyHostToDevice));
  }
  multiply<<<kCount / 256, 256>>>(values, factors);
  expectLaunched();
  expect(cudaDeviceSynchronize());
  cudaIpcMemHandle_t handle;
  const cudaError_t status = cudaIpcGetMemHandle(&handle, values);
  if (status == cudaErrorNotSupported) {
    std::printf("memory cannot be shared here\n");
    return 0;
  }
  expect(status);
  char path[] = "/tmp/mneme-shared-XXXXXX";
  close(mkstemp(path));
  check(transfer(path, "w", &handle), "the handle is written");
  std::string command;
  for (int i = 1; i < argc; ++i)
    command += std::string(argv[i]) + " ";
  const int ended = std::system((command + argv[0] + " " + kSecond + " " + path).c_str());
  unlink(path);
  check(ended == 0, "the second process ends well");
  say("shared", download(values, kCount));
  expect(cudaFree(values));
  expect(cudaFree(factors));
}
