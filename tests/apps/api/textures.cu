// Arrays, textures and surfaces.
#include "check.h"

#include <cmath>
#include <vector>

#include <cuda_fp16.h>

template <typename T> cudaArray_t makeArray(cudaExtent extent, unsigned flags = 0) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format =
      std::is_same_v<T, __half> ? cudaCreateChannelDescHalf() : cudaCreateChannelDesc<T>();
  expect(cudaMalloc3DArray(&array, &format, extent, flags));
  return array;
}

template <typename T>
void fill(cudaArray_t array, const std::vector<T>& values, cudaExtent extent) {
  cudaMemcpy3DParms copy{};
  const size_t rows = extent.height ? extent.height : 1, slices = extent.depth ? extent.depth : 1;
  copy.srcPtr = make_cudaPitchedPtr(const_cast<T*>(values.data()), extent.width * sizeof(T),
                                    extent.width, rows);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, rows, slices);
  copy.kind = cudaMemcpyHostToDevice;
  expect(cudaMemcpy3D(&copy));
}

cudaResourceDesc resourceOf(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaTextureObject_t makeTexture(const cudaResourceDesc& resource, cudaTextureAddressMode address,
                                cudaTextureFilterMode filter, bool isNormalized = false,
                                cudaTextureReadMode mode = cudaReadModeElementType) {
  cudaTextureDesc texture{};
  for (auto& axis : texture.addressMode)
    axis = address;
  texture.filterMode = filter;
  texture.readMode = mode;
  texture.normalizedCoords = isNormalized;
  texture.borderColor[0] = 77;
  cudaTextureObject_t object = 0;
  expect(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  return object;
}

constexpr int kPoints = 256;

__global__ void read1D(cudaTextureObject_t texture, float from, float step, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = from + i * step; // there is one level, whatever names it
  out[i] = i % 2 ? tex1D<float>(texture, x) : tex1DLod<float>(texture, x, 0.0f);
}

__global__ void read2D(cudaTextureObject_t texture, float from, float step, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = from + i % 16 * step, y = from + i / 16 * step;
  const float2 none = make_float2(0.0f, 0.0f);
  out[i] = i % 2 ? tex2D<float>(texture, x, y) : tex2DGrad<float>(texture, x, y, none, none);
}

__global__ void read3D(cudaTextureObject_t texture, cudaTextureObject_t layered, float* out) {
  const int i = threadIdx.x;
  out[i] = tex3D<float>(texture, i % 4 + 0.75f, i / 4 % 4 + 0.5f, i / 16 + 1.0f);
  out[i + 64] = tex2DLayered<float>(layered, i % 4 + 0.5f, i / 4 % 4 + 0.5f, i / 16);
}

__global__ void readOthers(cudaTextureObject_t bytes, cudaTextureObject_t halves,
                           cudaTextureObject_t pairs, cudaTextureObject_t linear, float* out) {
  const int i = threadIdx.x;
  const float4 channels = tex2D<float4>(bytes, i % 8 + 0.5f, i / 8 + 0.5f);
  out[i * 8] = channels.x, out[i * 8 + 1] = channels.w;
  out[i * 8 + 2] = tex2D<float>(halves, i % 8 + 0.5f, i / 8 + 0.5f);
  const short2 pair = tex2D<short2>(pairs, i % 8 + 0.5f, i / 8 + 0.5f);
  out[i * 8 + 3] = pair.x, out[i * 8 + 4] = pair.y;
  out[i * 8 + 5] = tex1Dfetch<int2>(linear, i).y;
  out[i * 8 + 6] = tex1Dfetch<int2>(linear, i + 1000000).y;
  const float4 four = tex2Dgather<float4>(halves, i % 8 + 0.25f, i / 8 + 0.25f, 0);
  out[i * 8 + 7] = four.x + 10 * four.y + 100 * four.z + 1000 * four.w;
}

float texel1D(const std::vector<float>& texels, int index, cudaTextureAddressMode address) {
  const int size = static_cast<int>(texels.size());
  if (index >= 0 && index < size)
    return texels[index];
  if (address == cudaAddressModeBorder)
    return 77;
  if (address == cudaAddressModeClamp)
    return texels[index < 0 ? 0 : size - 1];
  const int period = address == cudaAddressModeWrap ? size : 2 * size;
  const int inside = (index % period + period) % period;
  return texels[inside < size ? inside : period - 1 - inside];
}

void testAddresses() {
  std::vector<float> texels(10);
  for (int at = 0; at < 10; ++at)
    texels[at] = at * at + 1.0f;
  const cudaExtent extent = make_cudaExtent(10, 0, 0);
  cudaArray_t array = makeArray<float>(extent);
  fill(array, texels, extent);
  Buffer<float> out(kPoints);
  for (const auto address :
       {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder})
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
      const auto texture = makeTexture(resourceOf(array), address, filter, true);
      read1D<<<1, kPoints>>>(texture, -1.0f, 3.0f / 256, out.device());
      expectLaunched();
      out.download();
      bool isRight = true;
      for (int at = 0; at < kPoints; ++at) {
        const float x = (-1.0f + at * (3.0f / 256)) * 10;
        float expected = texel1D(texels, int(std::floor(x)), address);
        if (filter == cudaFilterModeLinear) {
          const float fixed = std::nearbyint((x - 0.5f) * 256) / 256;
          const int first = int(std::floor(fixed));
          expected = (1 - (fixed - first)) * texel1D(texels, first, address) +
                     (fixed - first) * texel1D(texels, first + 1, address);
        }
        isRight = isRight && std::fabs(out[at] - expected) < 1e-3f;
      }
      check(isRight, "addresses outside");
      expect(cudaDestroyTextureObject(texture));
    }
  expect(cudaFreeArray(array));
}

void testVolumes() {
  std::vector<float> texels(64);
  for (int at = 0; at < 64; ++at)
    texels[at] = static_cast<float>(at);
  const cudaExtent extent = make_cudaExtent(4, 4, 4);
  cudaArray_t volume = makeArray<float>(extent);
  cudaArray_t layers = makeArray<float>(extent, cudaArrayLayered);
  fill(volume, texels, extent), fill(layers, texels, extent);
  const auto smooth = makeTexture(resourceOf(volume), cudaAddressModeClamp, cudaFilterModeLinear);
  const auto layered = makeTexture(resourceOf(layers), cudaAddressModeClamp, cudaFilterModePoint);
  Buffer<float> out(128);
  read3D<<<1, 64>>>(smooth, layered, out.device());
  expectLaunched();
  out.download();
  bool isRight = true;
  for (int at = 0; at < 64; ++at) {
    const float x = std::fmin(at % 4 + 0.25f, 3.0f), z = std::fmin(at / 16 + 0.5f, 3.0f);
    isRight = isRight && out[at] == x + at / 4 % 4 * 4 + z * 16 && out[64 + at] == at;
  }
  check(isRight, "volumes and layers");
}

void testTypes() {
  std::vector<uchar4> bytes(64);
  std::vector<__half> halves(64);
  std::vector<short2> pairs(64);
  std::vector<int2> numbers(64);
  for (int at = 0; at < 64; ++at) {
    bytes[at] = make_uchar4(at * 4, 0, 0, 255);
    halves[at] = __float2half(at * 0.5f);
    pairs[at] = make_short2(-at, at * 500);
    numbers[at] = make_int2(0, at * 3);
  }
  const cudaExtent extent = make_cudaExtent(8, 8, 0);
  cudaArray_t byteArray = makeArray<uchar4>(extent), halfArray = makeArray<__half>(extent);
  fill(byteArray, bytes, extent), fill(halfArray, halves, extent);
  short2* pitched = nullptr;
  size_t pitch = 0;
  expect(cudaMallocPitch(&pitched, &pitch, 8 * sizeof(short2), 8));
  expect(cudaMemcpy2D(pitched, pitch, pairs.data(), 32, 32, 8, cudaMemcpyHostToDevice));
  cudaResourceDesc plane{}, linear{};
  plane.resType = cudaResourceTypePitch2D;
  plane.res.pitch2D = {pitched, cudaCreateChannelDesc<short2>(), 8, 8, pitch};
  int2* line = nullptr;
  expect(cudaMalloc(&line, 512));
  expect(cudaMemcpy(line, numbers.data(), 512, cudaMemcpyHostToDevice));
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {line, cudaCreateChannelDesc<int2>(), 512};
  const auto point = cudaFilterModePoint;
  const auto clamp = cudaAddressModeClamp;
  Buffer<float> out(512);
  readOthers<<<1, 64>>>(
      makeTexture(resourceOf(byteArray), clamp, point, false, cudaReadModeNormalizedFloat),
      makeTexture(resourceOf(halfArray), clamp, point), makeTexture(plane, clamp, point),
      makeTexture(linear, clamp, point), out.device());
  expectLaunched();
  out.download();
  bool isRight = true;
  for (int at = 0; at < 64; ++at) {
    const float* got = out.host() + at * 8;
    const auto half = [&](int x, int y) { return 0.5f * ((x < 0 ? 0 : x) + 8 * (y < 0 ? 0 : y)); };
    const int x = at % 8, y = at / 8;
    isRight = isRight && got[0] == at * 4 / 255.0f && got[1] == 1 && got[2] == at * 0.5f &&
              got[3] == -at && got[4] == at * 500 && got[5] == at * 3 && got[6] == 0 &&
              got[7] == half(x - 1, y) + 10 * half(x, y) + 100 * half(x, y - 1) +
                            1000 * half(x - 1, y - 1);
  }
  check(isRight, "types of elements");
}

__global__ void onSurfaces(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int* out) {
  const int i = threadIdx.x, x = i % 8, y = i / 8;
  const ushort2 value = surf2Dread<ushort2>(from, x * 4, y);
  surf2Dwrite(make_ushort2(value.y, value.x + 1), to, (7 - x) * 4, y);
  surf2Dwrite(make_ushort2(9, 9), to, 40, y, cudaBoundaryModeZero);
  out[i] = surf2Dread<ushort2>(from, (x - 4) * 4, y, cudaBoundaryModeClamp).x;
  out[i + 64] = surf2Dread<ushort2>(from, (x - 4) * 4, y, cudaBoundaryModeZero).x;
}

void testSurfaces() {
  const cudaExtent extent = make_cudaExtent(8, 8, 0);
  cudaArray_t from = makeArray<ushort2>(extent, cudaArraySurfaceLoadStore);
  cudaArray_t to = makeArray<ushort2>(extent, cudaArraySurfaceLoadStore);
  std::vector<ushort2> values(64), written(64);
  for (int at = 0; at < 64; ++at)
    values[at] = make_ushort2(at + 1, at * 7);
  expect(cudaMemcpy2DToArray(from, 0, 0, values.data(), 32, 32, 8, cudaMemcpyHostToDevice));
  cudaSurfaceObject_t surfaces[2] = {};
  const cudaResourceDesc first = resourceOf(from), second = resourceOf(to);
  expect(cudaCreateSurfaceObject(&surfaces[0], &first));
  expect(cudaCreateSurfaceObject(&surfaces[1], &second));
  Buffer<int> out(128);
  onSurfaces<<<1, 64>>>(surfaces[0], surfaces[1], out.device());
  expectLaunched();
  expect(cudaMemcpy2DFromArray(written.data(), 32, to, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
  out.download();
  bool isRight = true;
  for (int at = 0; at < 64; ++at) {
    const int x = at % 8, row = at / 8 * 8;
    isRight = isRight && written[row + 7 - x].x == at * 7 && written[row + 7 - x].y == at + 2 &&
              out[at] == (x < 4 ? row : row + x - 4) + 1 &&
              out[64 + at] == (x < 4 ? 0 : row + x - 3);
  }
  check(isRight, "surfaces");
  expect(cudaDestroySurfaceObject(surfaces[0]));
  expect(cudaDestroySurfaceObject(surfaces[0]), cudaErrorInvalidValue);
  cudaGetLastError();
}

void testArrays() {
  const cudaExtent extent = make_cudaExtent(6, 5, 0);
  cudaArray_t array = makeArray<float2>(extent), other = makeArray<float2>(extent);
  std::vector<float2> values(30), back(30);
  for (int at = 0; at < 30; ++at)
    values[at] = make_float2(at, -at);
  fill(array, values, extent);
  cudaStream_t stream = nullptr;
  expect(cudaStreamCreate(&stream));
  expect(cudaMemcpy2DArrayToArray(other, 8, 1, array, 16, 2, 24, 3));
  expect(cudaMemcpy2DFromArrayAsync(back.data(), 24, other, 8, 1, 24, 3, cudaMemcpyDeviceToHost,
                                    stream));
  expect(cudaStreamSynchronize(stream));
  bool isRight = true;
  for (int at = 0; at < 9; ++at)
    isRight = isRight && back[at].y == -((at / 3 + 2) * 6 + at % 3 + 2);
  check(isRight, "parts of arrays");
  cudaChannelFormatDesc format{};
  cudaExtent size{};
  unsigned flags = 9;
  expect(cudaArrayGetInfo(&format, &size, &flags, array));
  check(format.x == 32 && format.y == 32 && format.z == 0 &&
            format.f == cudaChannelFormatKindFloat && size.width == 6 && size.height == 5 &&
            size.depth == 0 && flags == 0,
        "what arrays say of themselves");
  expect(cudaMemcpy2DToArray(array, 8, 0, values.data(), 48, 48, 5, cudaMemcpyHostToDevice),
         cudaErrorInvalidValue);
  expect(cudaFreeArray(array));
  expect(cudaFreeArray(nullptr));
  cudaTextureObject_t object = 0;
  const cudaResourceDesc gone = resourceOf(array);
  const cudaTextureDesc texture{};
  expect(cudaCreateTextureObject(&object, &gone, &texture, nullptr), cudaErrorInvalidValue);
  cudaGetLastError();
}

/// Where they are not there, that is said.
void testCubes() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  const cudaError_t made =
      cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 8, 6), cudaArrayCubemap);
  check(made == cudaSuccess || made == cudaErrorNotSupported, "cubemap arrays");
  if (made == cudaSuccess)
    expect(cudaFreeArray(array));
  cudaGetLastError();
}

int main() {
  testAddresses();
  testVolumes();
  testTypes();
  testSurfaces();
  testArrays();
  testCubes();
  return finish("textures");
}
