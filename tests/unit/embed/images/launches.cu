// A kernel that launches kernels itself, and some that do not; linked with CUDA's device runtime.
//
//   nvcc -rdc=true -arch=sm_90 -ptx launches.cu
//   nvcc -rdc=true -arch=sm_90 -cubin -o unlinked launches.cu
//   nvlink -arch=sm_90 unlinked -lcudadevrt -o linked
//   fatbinary --create=launches.fatbin --compress-all --compress-mode=size \
//     --image3=kind=elf,sm=90,file=linked
extern "C" __global__ void child(int* out, int value) { out[threadIdx.x] = value; }
extern "C" __global__ void parent(int* out, int depth) {
  if (depth > 0) {
    child<<<1, 32>>>(out, depth);
    parent<<<1, 1>>>(out + 32, depth - 1);
  }
}
__device__ int counter = 3;
extern "C" __global__ void plain(int* out) { out[threadIdx.x] += counter; }
