// The other unit of relocatable.cu.
__device__ int counter = 1000;
__constant__ float factor = 2.0f;
static __device__ int hidden = 9;

__device__ int twice(int value) { return static_cast<int>(value * factor); }

__global__ void report(int* output) {
  if (threadIdx.x == 0) {
    output[0] = 7 + hidden;
    output[1] = counter;
  }
}

void launchOther(int* output) { report<<<1, 32>>>(output); }
