// Textures and surfaces of HIP, as far as the CPU device has them. Prints what was read otherwise
// than expected, then how often.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

static int broken = 0;

static void expect(bool holds, const char* promise, int line) {
  if (!holds) {
    std::printf("line %d: %s\n", line, promise);
    ++broken;
  }
}
#define EXPECT(promise) expect((promise), #promise, __LINE__)
#define OK(call) EXPECT((call) == hipSuccess)

constexpr int kWidth = 16, kHeight = 8, kDepth = 3;

__global__ void fetchLinear(hipTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x);
}
__global__ void samplePlane(hipTextureObject_t texture, float* out, float shift) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kWidth + x] = tex2D<float>(texture, x + shift, y + 0.5f);
}
__global__ void sampleFractions(hipTextureObject_t texture, float4* out) {
  out[threadIdx.x] = tex2D<float4>(texture, (threadIdx.x + 0.5f) / kWidth, 0.25f);
}
__global__ void sampleVolume(hipTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  out[(z * kHeight + y) * kWidth + x] = tex3D<float>(texture, x + 0.5f, y + 0.5f, z + 0.5f);
}
__global__ void sampleLayers(hipTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  out[(z * kHeight + y) * kWidth + x] = tex2DLayered<float>(texture, x + 0.5f, y + 0.5f, z);
}
__global__ void gather(hipTextureObject_t texture, float4* out) {
  out[threadIdx.x] = tex2Dgather<float4>(texture, threadIdx.x + 1.0f, 1.0f, 1); // HIP counts channels from 1
}
__global__ void store(hipSurfaceObject_t surface, const float* values, float* read) {
  surf2Dwrite(values[threadIdx.x], surface, int(threadIdx.x) * 2, 0);
  surf2Dread(&read[threadIdx.x], surface, int(threadIdx.x) * 2, 0);
}
/// Turns rows round; what lies outside is zero, and stays unwritten.
template <typename T> __global__ void mirror(hipSurfaceObject_t in, hipSurfaceObject_t out) {
  const int x = threadIdx.x, y = blockIdx.x;
  T value;
  surf2Dread(&value, in, x * int(sizeof(T)), y);
  surf2Dwrite(value, out, (kWidth - 1 - x) * int(sizeof(T)), y);
  surf2Dread(&value, in, (x + kWidth) * int(sizeof(T)), y);
  surf2Dwrite(value, out, -(x + 1) * int(sizeof(T)), y);
}

static hipTextureObject_t textureOf(const hipResourceDesc& resource, hipTextureDesc how = {}) {
  hipTextureObject_t texture = nullptr;
  OK(hipCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

static hipResourceDesc resourceOf(hipArray* array) {
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

static std::vector<float> numbers(int count) {
  std::vector<float> made(count);
  for (int i = 0; i < count; ++i)
    made[i] = 0.5f * i;
  return made;
}

static void linear() {
  std::vector<int> host(100), back(128);
  for (int i = 0; i < 100; ++i)
    host[i] = i - 50;
  int *data = nullptr, *out = nullptr;
  OK(hipMalloc(&data, 400));
  OK(hipMalloc(&out, 512));
  OK(hipMemcpy(data, host.data(), 400, hipMemcpyHostToDevice));
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = hipCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 400;
  hipTextureObject_t texture = textureOf(resource);
  fetchLinear<<<1, 128>>>(texture, out);
  OK(hipMemcpy(back.data(), out, 512, hipMemcpyDeviceToHost));
  EXPECT(std::memcmp(back.data(), host.data(), 400) == 0 && back[100] == 0);
  hipResourceDesc told = {};
  OK(hipGetTextureObjectResourceDesc(&told, texture));
  EXPECT(told.res.linear.devPtr == data);
  OK(hipDestroyTextureObject(texture));
}

static void planes() {
  const std::vector<float> host = numbers(kWidth * kHeight);
  std::vector<float> back(host.size());
  const size_t bytes = host.size() * sizeof(float), row = kWidth * sizeof(float);
  hipArray* array = nullptr;
  const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  OK(hipMallocArray(&array, &format, kWidth, kHeight, 0));
  OK(hipMemcpy2DToArray(array, 0, 0, host.data(), row, row, kHeight, hipMemcpyHostToDevice));
  float* out = nullptr;
  OK(hipMalloc(&out, bytes));
  hipTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = hipAddressModeClamp;
  hipTextureObject_t texture = textureOf(resourceOf(array), how);
  samplePlane<<<kHeight, kWidth>>>(texture, out, 0.5f);
  OK(hipMemcpy(back.data(), out, bytes, hipMemcpyDeviceToHost));
  EXPECT(back == host);
  gather<<<1, 8>>>(texture, reinterpret_cast<float4*>(out));
  OK(hipMemcpy(back.data(), out, 128, hipMemcpyDeviceToHost));
  EXPECT(back[0] == host[kWidth] && back[1] == host[kWidth + 1]);
  EXPECT(back[2] == host[1] && back[3] == host[0]);
  how.filterMode = hipFilterModeLinear;
  hipTextureObject_t smooth = textureOf(resourceOf(array), how);
  samplePlane<<<kHeight, kWidth>>>(smooth, out, 1);
  OK(hipMemcpy(back.data(), out, bytes, hipMemcpyDeviceToHost));
  EXPECT(back[0] == 0.25f && back[kWidth - 1] == host[kWidth - 1]);
  std::fill(back.begin(), back.end(), -1.0f);
  OK(hipMemcpy2DFromArray(back.data(), row, array, 0, 0, row, kHeight, hipMemcpyDeviceToHost));
  EXPECT(back == host);
  OK(hipDestroyTextureObject(smooth));
  OK(hipDestroyTextureObject(texture));
  OK(hipFreeArray(array));
}

static void fractions() {
  uchar4 host[2 * kWidth];
  for (int i = 0; i < 2 * kWidth; ++i)
    host[i] = make_uchar4(i, 255, 0, 51);
  hipArray* array = nullptr;
  // HIP's own description of uchar4 has signed numbers.
  const hipChannelFormatDesc format =
      hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned);
  OK(hipMallocArray(&array, &format, kWidth, 2, 0));
  OK(hipMemcpy2DToArray(array, 0, 0, host, 64, 64, 2, hipMemcpyHostToDevice));
  hipTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = hipAddressModeWrap;
  how.readMode = hipReadModeNormalizedFloat;
  how.normalizedCoords = 1;
  hipTextureObject_t texture = textureOf(resourceOf(array), how);
  float4 *out = nullptr, back[32];
  OK(hipMalloc(&out, sizeof(back)));
  sampleFractions<<<1, 32>>>(texture, out);
  OK(hipMemcpy(back, out, sizeof(back), hipMemcpyDeviceToHost));
  EXPECT(back[3].x == 3 / 255.0f && back[3].y == 1 && back[3].z == 0 && back[3].w == 0.2f);
  EXPECT(back[19].x == back[3].x);
}

static void volumes(unsigned flags) {
  const std::vector<float> host = numbers(kWidth * kHeight * kDepth);
  std::vector<float> back(host.size());
  hipArray* array = nullptr;
  const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  OK(hipMalloc3DArray(&array, &format, make_hipExtent(kWidth, kHeight, kDepth), flags));
  hipMemcpy3DParms copy = {};
  copy.srcPtr = make_hipPitchedPtr(const_cast<float*>(host.data()), kWidth * 4, kWidth, kHeight);
  copy.dstArray = array;
  copy.extent = make_hipExtent(kWidth, kHeight, kDepth);
  copy.kind = hipMemcpyHostToDevice;
  OK(hipMemcpy3D(&copy));
  float* out = nullptr;
  OK(hipMalloc(&out, host.size() * sizeof(float)));
  hipTextureObject_t texture = textureOf(resourceOf(array));
  if (flags == hipArrayLayered)
    sampleLayers<<<dim3(kHeight, kDepth), kWidth>>>(texture, out);
  else
    sampleVolume<<<dim3(kHeight, kDepth), kWidth>>>(texture, out);
  OK(hipMemcpy(back.data(), out, host.size() * sizeof(float), hipMemcpyDeviceToHost));
  EXPECT(back == host);
}

template <typename T> static void surfaces() {
  std::vector<T> host(kWidth * kHeight), back(kWidth * kHeight);
  for (size_t i = 0; i < host.size() * sizeof(T); ++i)
    reinterpret_cast<unsigned char*>(host.data())[i] = static_cast<unsigned char>(i * 7 % 125);
  hipArray* arrays[2] = {};
  hipSurfaceObject_t objects[2] = {};
  const hipChannelFormatDesc format = hipCreateChannelDesc<T>();
  const size_t row = kWidth * sizeof(T);
  for (int i = 0; i < 2; ++i) {
    OK(hipMallocArray(&arrays[i], &format, kWidth, kHeight, hipArraySurfaceLoadStore));
    const hipResourceDesc resource = resourceOf(arrays[i]);
    OK(hipCreateSurfaceObject(&objects[i], &resource));
  }
  OK(hipMemcpy2DToArray(arrays[0], 0, 0, host.data(), row, row, kHeight, hipMemcpyHostToDevice));
  mirror<T><<<kHeight, kWidth>>>(objects[0], objects[1]);
  OK(hipGetLastError());
  OK(hipMemcpy2DFromArray(back.data(), row, arrays[1], 0, 0, row, kHeight, hipMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      EXPECT(std::memcmp(&back[y * kWidth + kWidth - 1 - x], &host[y * kWidth + x], sizeof(T)) == 0);
  for (hipSurfaceObject_t object : objects)
    OK(hipDestroySurfaceObject(object));
}

/// What is written is converted, rounded to even.
static void halves() {
  const float values[8] = {1, -0.1f, 65504, 65519, 65520, 6.1e-5f, 5.9604645e-8f, 2049};
  const unsigned short wanted[8] = {0x3c00, 0xae66, 0x7bff, 0x7bff, 0x7c00, 0x03ff, 0x0001, 0x6800};
  unsigned short found[8];
  float *given = nullptr, read[8];
  OK(hipMalloc(&given, 64));
  OK(hipMemcpy(given, values, 32, hipMemcpyHostToDevice));
  hipArray* array = nullptr;
  const hipChannelFormatDesc format = hipCreateChannelDesc(16, 0, 0, 0, hipChannelFormatKindFloat);
  OK(hipMallocArray(&array, &format, 8, 1, hipArraySurfaceLoadStore));
  const hipResourceDesc resource = resourceOf(array);
  hipSurfaceObject_t surface = nullptr;
  OK(hipCreateSurfaceObject(&surface, &resource));
  store<<<1, 8>>>(surface, given, given + 8);
  OK(hipMemcpy(read, given + 8, 32, hipMemcpyDeviceToHost));
  OK(hipMemcpy2DFromArray(found, 16, array, 0, 0, 16, 1, hipMemcpyDeviceToHost));
  EXPECT(std::memcmp(found, wanted, sizeof found) == 0);
  EXPECT(read[0] == 1 && read[2] == 65504 && read[6] == values[6] && read[7] == 2048);
}

int main() {
  linear();
  planes();
  fractions();
  volumes(0);
  volumes(hipArrayLayered);
  surfaces<float>();
  surfaces<float4>();
#if HIP_VERSION_MAJOR >= 6 // before, the headers made floats of whole numbers
  surfaces<int2>();
  surfaces<uchar4>();
  surfaces<short>();
#endif
  halves();
  std::printf("%d broken promises\n", broken);
}
