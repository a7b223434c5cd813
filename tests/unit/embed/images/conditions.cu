// Kernels that say which bodies of conditional nodes run: nvcc -cubin -arch=sm_90, nvcc -ptx -arch=compute_90
__global__ void chooses(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, *value > 0);
}

__global__ void chooses_rarely(cudaGraphConditionalHandle handle, int* value) {
  if (++*value > 100)
    cudaGraphSetConditional(handle, 0);
}

__global__ void plain(int* value) { ++*value; }
