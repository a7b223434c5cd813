// Kernels that read what no recording holds, and some that do not.
//
//   nvcc -cubin -arch=sm_90 -o reads.cubin reads.cu
__device__ __noinline__ int* make(int n) { return static_cast<int*>(malloc(n)); }
extern "C" __global__ void heap(int** out) { out[0] = new int[4]; }
extern "C" __global__ void heapByCall(int** out) { out[0] = make(16); }
extern "C" __global__ void heapFree(int** out) { delete[] out[0]; }
extern "C" __global__ void fetch(cudaTextureObject_t texture, float* out) {
  out[0] = tex1Dfetch<float>(texture, threadIdx.x);
}
extern "C" __global__ void sample(cudaTextureObject_t* textures, float* out) {
  out[0] = tex2D<float>(textures[threadIdx.x], threadIdx.x, 0.5f);
}
extern "C" __global__ void query(cudaTextureObject_t texture, int* out) {
  asm volatile("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(texture));
}
extern "C" __global__ void load(cudaSurfaceObject_t surface, float* out) {
  out[0] = surf2Dread<float>(surface, threadIdx.x * 4, 1);
}
extern "C" __global__ void store(cudaSurfaceObject_t surface, float* in) {
  surf2Dwrite<float>(in[0], surface, threadIdx.x * 4, 1);
}
extern "C" __global__ void stamp(long long* out) { out[0] = clock64(); }
extern "C" __global__ void place(int* out) {
  asm volatile("mov.u32 %0, %%smid;" : "=r"(out[0]));
}
extern "C" __global__ void plain(int* out) {
  out[threadIdx.x + blockIdx.y * gridDim.x] = __shfl_sync(~0u, out[threadIdx.x * 2], 3);
  __syncthreads();
  atomicAdd(out + 5, threadIdx.y + blockIdx.z);
  out[3] *= __float2int_rd(sinf(out[0]));
}
