// Two devices: each with its own memory, copies between them, and a kernel that reads the other's.
#include "common.h"

__global__ void addThrough(int* const* table, int* out, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    out[i] += (*table)[i];
}

int main() {
  int devices = 0;
  expect(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    std::printf("one device\n");
    return finish("peers");
  }
  constexpr int count = 10000;
  constexpr size_t bytes = count * sizeof(int);
  int* data[2];
  for (int device = 0; device < 2; ++device) {
    expect(cudaSetDevice(device));
    expect(cudaMalloc(&data[device], bytes));
    expect(cudaMemset(data[device], device + 1, bytes));
    scale<<<8, 128>>>(data[device], data[device], count, 3 + device);
    expectLaunched();
    cudaPointerAttributes attributes{};
    expect(cudaPointerGetAttributes(&attributes, data[device]));
    check(attributes.device == device, "memory is where it was asked for");
  }
  say("second", download(data[1], count));
  expect(cudaMemcpyPeer(data[0], 0, data[1], 1, bytes));
  say("copied to the first", download(data[0], count));
  int canAccess = 0;
  expect(cudaDeviceCanAccessPeer(&canAccess, 0, 1));
  if (canAccess) {
    expect(cudaSetDevice(0));
    expect(cudaDeviceEnablePeerAccess(1, 0));
    int* later = nullptr;
    expect(cudaSetDevice(1));
    expect(cudaMalloc(&later, bytes));
    expect(cudaMemset(later, 9, bytes));
    expect(cudaDeviceSynchronize());
    expect(cudaSetDevice(0));
    scale<<<8, 128>>>(later, data[0], count, 11);
    expectLaunched();
    say("read from the second", download(data[0], count));
    int** table = nullptr;
    expect(cudaMalloc(&table, sizeof(later)));
    expect(cudaMemcpy(table, &later, sizeof(later), cudaMemcpyHostToDevice));
    addThrough<<<8, 128>>>(table, data[0], count);
    expectLaunched();
    say("read through a pointer", download(data[0], count));
    expect(cudaFree(table));
    expect(cudaFree(later));
  }
  expect(cudaFree(data[0]));
  expect(cudaFree(data[1]));
  return finish("peers");
}
