// Device code that loaded_code.cpp carries as a file and loads by itself.
__device__ int offset = 30;

extern "C" __global__ void add(int* numbers, int count, int argument) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    numbers[at] += argument + offset;
}
