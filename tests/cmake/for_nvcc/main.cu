#ifdef WHOLE_OFF
static __device__ int deviceDouble(int x) { return 2 * x; }
#else
__device__ int deviceDouble(int x);
#endif
extern "C" const char* said(void);
void doubled(int* value);

__global__ void fill(int* value) { *value = deviceDouble(*value); }

int main() {
  int* value = nullptr;
  cudaMallocManaged(&value, sizeof(int));
  *value = 11;
  fill<<<1, 1>>>(value);
  cudaDeviceSynchronize();
  *value -= 1;
  doubled(value);
  cudaDeviceSynchronize();
  printf("%d %s\n", min(*value, 1000), said());
}
