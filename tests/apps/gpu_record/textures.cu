// Kernels that read and write textures and surfaces in the ways that programs do. Each mode prints
// numbers that depend on all elements read or left.
//
//   textures [bilinear|layered|volume|row|linear|pitched|bytes|surface|surfaces|struct|memory|
//             constant|mipmaps|many|colours|level|gone|number|own]
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>
#include <dlfcn.h>

#define CHECK(call)                                                                                \
  if (const int status = (call); status != 0)                                                      \
  return std::printf("%s: %d\n", #call, status), 1

constexpr int kSide = 24, kCount = kSide * kSide, kLayers = 5, kMany = 20;

__global__ void samples(cudaTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kSide + x] = tex2D<float>(texture, (x + 0.3f) / kSide, (y - 0.7f) / kSide);
}
__global__ void samplesLayers(cudaTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  float sum = 0;
  for (int layer = 0; layer < kLayers; ++layer)
    sum = sum * 3 + tex2DLayered<float>(texture, x + 0.25f, y + 0.75f, layer);
  out[y * kSide + x] = sum;
}
__global__ void samplesVolume(cudaTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  float sum = 0;
  for (int z = 0; z < kLayers; ++z)
    sum = sum * 3 + tex3D<float>(texture, x + 0.25f, y + 0.5f, z + 0.75f);
  out[y * kSide + x] = sum;
}
__global__ void samplesRow(cudaTextureObject_t texture, float* out) {
  out[blockIdx.x * kSide + threadIdx.x] = tex1D<float>(texture, threadIdx.x + blockIdx.x * 0.125f);
}
__global__ void fetches(cudaTextureObject_t texture, int* out) {
  const int at = blockIdx.x * kSide + threadIdx.x;
  const int2 found = tex1Dfetch<int2>(texture, kCount - 1 - at);
  out[at] = found.x * 3 + found.y;
}
__global__ void samplesBytes(cudaTextureObject_t texture, float* out) {
  const float4 found = tex2D<float4>(texture, threadIdx.x + 0.5f, blockIdx.x + 0.25f);
  out[blockIdx.x * kSide + threadIdx.x] = found.x + found.y * 2 + found.z * 4 + found.w * 8;
}
__global__ void adds(cudaSurfaceObject_t surface, int* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  const int found = surf2Dread<int>(surface, x * 4, y);
  surf2Dwrite<int>(found * 2 + x, surface, x * 4, y);
  out[y * kSide + x] = found;
}
__global__ void fills(cudaSurfaceObject_t surface, cudaTextureObject_t texture) {
  const int x = threadIdx.x, y = blockIdx.x;
  for (int layer = 0; layer < kLayers; ++layer)
    surf2DLayeredwrite<float>(tex2D<float>(texture, x, y) + layer, surface, x * 4, y, layer);
}
struct Picture {
  int width;
  cudaTextureObject_t texture;
  float* out;
  float factor;
};
__global__ void samplesStruct(Picture picture) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x < picture.width)
    picture.out[y * kSide + x] = picture.factor * tex2D<float>(picture.texture, x + 0.5f, y);
}
__global__ void samplesMemory(const cudaTextureObject_t* textures, float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kSide + x] = tex2D<float>(textures[1], x, y) - tex2D<float>(textures[0], y, x);
}
__constant__ cudaTextureObject_t ofAll;
__global__ void samplesConstant(float* out) {
  out[blockIdx.x * kSide + threadIdx.x] = tex2D<float>(ofAll, threadIdx.x, blockIdx.x);
}
__global__ void samplesLevels(cudaTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kSide + x] = tex2DLod<float>(texture, (x + 0.5f) / kSide, (y + 0.5f) / kSide, x * 0.1f);
}
struct Pictures {
  cudaTextureObject_t textures[kMany / 2];
};
__global__ void samplesMany(Pictures all, unsigned long long one, float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  float sum = static_cast<float>(one);
  for (const cudaTextureObject_t texture : all.textures)
    sum = sum * 1.5f + tex2D<float>(texture, x, y);
  out[y * kSide + x] = sum;
}

__global__ void samplesColours(cudaTextureObject_t texture, int* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  const int4 found = tex2D<int4>(texture, x - 2.0f, y + 3.0f);
  out[y * kSide + x] = found.x + found.y * 3 + found.z * 5 + found.w * 7;
}
/// Adds each second element of the first level to the second one.
__global__ void addsLevels(cudaTextureObject_t texture, cudaSurfaceObject_t second, float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  const float u = (x + 0.5f) / (kSide / 2), v = (y + 0.5f) / (kSide / 2);
  const float sum = tex2DLod<float>(texture, u, v, 1) + tex2DLod<float>(texture, u, v, 0);
  out[y * kSide + x] = surf2Dread<float>(second, x * 4, y) - sum * 2;
  surf2Dwrite<float>(sum, second, x * 4, y);
}
__global__ void samplesNumber(unsigned long long number, const cudaTextureObject_t* other,
                              float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kSide + x] = tex2D<float>(*other, x, y) + static_cast<float>(number);
}

template <typename Number> int print(const Number* out) {
  std::vector<Number> numbers(kCount);
  CHECK(cudaMemcpy(numbers.data(), out, kCount * sizeof(Number), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (int at = 0; at < kCount; ++at)
    sum += static_cast<double>(numbers[at]) * (at % 7 + 1);
  std::printf("%.9g %.9g\n", sum, static_cast<double>(numbers[kSide + 1]));
  return 0;
}

std::vector<float> content(int count) {
  std::vector<float> numbers(count);
  for (int at = 0; at < count; ++at)
    numbers[at] = static_cast<float>(at * 7 % 101) / 8;
  return numbers;
}

cudaArray_t arrayOf(cudaExtent extent, unsigned flags, int factor = 1) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  std::vector<float> numbers(extent.width * (extent.height ? extent.height : 1) *
                             (extent.depth ? extent.depth : 1));
  numbers = content(static_cast<int>(numbers.size()));
  for (float& number : numbers)
    number *= static_cast<float>(factor);
  cudaArray_t array = nullptr;
  if (cudaMalloc3DArray(&array, &format, extent, flags) != cudaSuccess)
    return nullptr;
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(numbers.data(), extent.width * 4, extent.width,
                                    extent.height ? extent.height : 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, extent.height ? extent.height : 1,
                                extent.depth ? extent.depth : 1);
  copy.kind = cudaMemcpyHostToDevice;
  return cudaMemcpy3D(&copy) == cudaSuccess ? array : nullptr;
}

cudaResourceDesc resourceOf(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaTextureObject_t textureOf(const cudaResourceDesc& resource, bool isLinear = false,
                              bool isNormal = false) {
  cudaTextureDesc description{};
  description.addressMode[0] = isNormal ? cudaAddressModeMirror : cudaAddressModeBorder;
  description.addressMode[1] = isNormal ? cudaAddressModeWrap : cudaAddressModeClamp;
  description.addressMode[2] = cudaAddressModeClamp;
  description.filterMode = isLinear ? cudaFilterModeLinear : cudaFilterModePoint;
  description.normalizedCoords = isNormal;
  description.borderColor[0] = 0.625f;
  cudaTextureObject_t texture = 0;
  return cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaSuccess
             ? texture
             : 0;
}

cudaTextureObject_t flat(int factor = 1) {
  return textureOf(resourceOf(arrayOf(make_cudaExtent(kSide, kSide, 0), 0, factor)));
}

int ofMemory(bool isPitched, void* out) {
  cudaResourceDesc resource{};
  const std::vector<float> numbers = content(kCount * 2);
  void* memory = nullptr;
  if (isPitched) {
    size_t pitch = 0;
    CHECK(cudaMallocPitch(&memory, &pitch, kSide * 4, kSide));
    CHECK(cudaMemcpy2D(memory, pitch, numbers.data(), kSide * 4, kSide * 4, kSide,
                       cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = resource.res.pitch2D.height = kSide;
    resource.res.pitch2D.pitchInBytes = pitch;
    samples<<<kSide, kSide>>>(textureOf(resource, true, true), static_cast<float*>(out));
    return print(static_cast<float*>(out));
  }
  CHECK(cudaMalloc(&memory, kCount * sizeof(int2)));
  CHECK(cudaMemcpy(memory, numbers.data(), kCount * sizeof(int2), cudaMemcpyHostToDevice));
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<int2>();
  resource.res.linear.sizeInBytes = kCount * sizeof(int2);
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  fetches<<<kSide, kSide>>>(texture, static_cast<int*>(out));
  return print(static_cast<int*>(out));
}

/// Bytes that are read as fractions, as colours are.
int ofBytes(float* out) {
  std::vector<unsigned char> bytes(kCount * 4);
  for (size_t at = 0; at < bytes.size(); ++at)
    bytes[at] = static_cast<unsigned char>(at * 13);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, kSide, kSide));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, bytes.data(), kSide * 4, kSide * 4, kSide,
                            cudaMemcpyHostToDevice));
  const cudaResourceDesc resource = resourceOf(array);
  cudaTextureDesc description{};
  description.filterMode = cudaFilterModeLinear;
  description.readMode = cudaReadModeNormalizedFloat;
  description.sRGB = 1;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  samplesBytes<<<kSide, kSide>>>(texture, out);
  return print(out);
}

int onSurface(int* out) {
  const cudaResourceDesc resource =
      resourceOf(arrayOf(make_cudaExtent(kSide, kSide, 0), cudaArraySurfaceLoadStore));
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  for (int time = 0; time < 3; ++time)
    adds<<<kSide, kSide>>>(surface, out);
  return print(out);
}

/// What one kernel writes by a surface, another reads by a texture.
int onSurfaces(float* out) {
  const cudaResourceDesc resource = resourceOf(arrayOf(
      make_cudaExtent(kSide, kSide, kLayers), cudaArrayLayered | cudaArraySurfaceLoadStore));
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  fills<<<kSide, kSide>>>(surface, flat());
  samplesLayers<<<kSide, kSide>>>(textureOf(resource, true), out);
  return print(out);
}

int inMemory(bool isConstant, float* out) {
  const cudaTextureObject_t textures[2] = {flat(), flat(3)};
  if (isConstant) {
    CHECK(cudaMemcpyToSymbol(ofAll, &textures[1], sizeof(textures[1])));
    samplesConstant<<<kSide, kSide>>>(out);
    return print(out);
  }
  cudaTextureObject_t* memory = nullptr;
  CHECK(cudaMalloc(&memory, sizeof(textures)));
  CHECK(cudaMemcpy(memory, textures, sizeof(textures), cudaMemcpyHostToDevice));
  samplesMemory<<<kSide, kSide>>>(memory, out);
  return print(out);
}

/// The texture is left without its array if `isGone`.
int withMipmaps(float* out, bool isWritten = false, bool isGone = false) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t mipmaps = nullptr;
  CHECK(cudaMallocMipmappedArray(&mipmaps, &format, make_cudaExtent(kSide, kSide, 0), 4,
                                 cudaArraySurfaceLoadStore));
  for (int level = 0; level < 4; ++level) {
    cudaArray_t array = nullptr;
    const std::vector<float> numbers = content(kCount >> 2 * level);
    CHECK(cudaGetMipmappedArrayLevel(&array, mipmaps, level));
    const size_t row = (kSide >> level) * sizeof(float);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, numbers.data(), row, row, kSide >> level,
                              cudaMemcpyHostToDevice));
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmaps;
  cudaTextureDesc description{};
  if (!isWritten)
    description.filterMode = description.mipmapFilterMode = cudaFilterModeLinear;
  description.normalizedCoords = 1;
  description.maxMipmapLevelClamp = 3;
  description.maxAnisotropy = isWritten ? 0 : 2;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  if (isWritten) {
    cudaArray_t second = nullptr;
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaGetMipmappedArrayLevel(&second, mipmaps, 1));
    const cudaResourceDesc level = resourceOf(second);
    CHECK(cudaCreateSurfaceObject(&surface, &level));
    if (!isGone) {
      addsLevels<<<kSide / 2, kSide / 2>>>(texture, surface, out);
      addsLevels<<<kSide / 2, kSide / 2>>>(texture, surface, out);
      return print(out);
    }
    CHECK(cudaFreeMipmappedArray(mipmaps));
    const cudaTextureObject_t other = flat();
    cudaTextureObject_t* memory = nullptr;
    CHECK(cudaMalloc(&memory, sizeof(other)));
    CHECK(cudaMemcpy(memory, &other, sizeof(other), cudaMemcpyHostToDevice));
    samplesNumber<<<kSide, kSide>>>(0, memory, out);
    return print(out);
  }
  samplesLevels<<<kSide, kSide>>>(texture, out);
  return print(out);
}

/// Integers beyond a border whose colour is of integers.
int withColours(int* out) {
  const std::vector<float> numbers = content(kCount * 4);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int4>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, kSide, kSide));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, numbers.data(), kSide * 16, kSide * 16, kSide,
                            cudaMemcpyHostToDevice));
  const cudaResourceDesc resource = resourceOf(array);
  cudaTextureDesc description{};
  for (cudaTextureAddressMode& mode : description.addressMode)
    mode = cudaAddressModeBorder;
  const int colour[4] = {-5, 1 << 20, 77, 3};
  std::memcpy(description.borderColor, colour, sizeof(colour));
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  samplesColours<<<kSide, kSide>>>(texture, out);
  return print(out);
}

/// One texture is found in memory, and a number is the other's handle.
int withNumber(float* out) {
  const cudaTextureObject_t textures[2] = {flat(), flat(3)};
  cudaTextureObject_t* memory = nullptr;
  CHECK(cudaMalloc(&memory, sizeof(textures[1])));
  CHECK(cudaMemcpy(memory, &textures[1], sizeof(textures[1]), cudaMemcpyHostToDevice));
  samplesNumber<<<kSide, kSide>>>(textures[0], memory, out);
  return print(out);
}

/// From now on this thread works in a context of the program's own.
int makeContext() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  using Create = int (*)(void** context, unsigned flags, int device);
  const auto create = driver ? reinterpret_cast<Create>(dlsym(driver, "cuCtxCreate_v2")) : nullptr;
  void* context = nullptr;
  CHECK(cudaFree(nullptr));
  CHECK(create ? create(&context, 0, 0) : 1);
  return 0;
}

/// Handles are not the first ones, in no order, and a number may look like one of them.
int ofMany(float* out) {
  cudaTextureObject_t made[kMany];
  for (int at = 0; at < kMany; ++at)
    made[at] = flat(at + 1);
  Pictures all{};
  for (int at = 0; at < kMany / 2; ++at) {
    CHECK(cudaDestroyTextureObject(made[at * 2]));
    all.textures[at] = made[kMany - 1 - at * 2];
  }
  samplesMany<<<kSide, kSide>>>(all, 4, out);
  return print(out);
}

int main(int count, char** argv) {
  const auto is = [&](const char* mode) { return count > 1 && std::strcmp(argv[1], mode) == 0; };
  if (is("own"))
    CHECK(makeContext());
  float* out = nullptr;
  CHECK(cudaMalloc(&out, kCount * sizeof(float)));
  CHECK(cudaMemset(out, 0, kCount * sizeof(float)));
  if (is("linear") || is("pitched"))
    return ofMemory(is("pitched"), out);
  if (is("surface"))
    return onSurface(reinterpret_cast<int*>(out));
  if (is("bytes") || is("surfaces") || is("mipmaps") || is("many"))
    return is("bytes") ? ofBytes(out) : is("surfaces") ? onSurfaces(out)
                                    : is("mipmaps")    ? withMipmaps(out)
                                                       : ofMany(out);
  if (is("level") || is("gone"))
    return withMipmaps(out, true, is("gone"));
  if (is("colours"))
    return withColours(reinterpret_cast<int*>(out));
  if (is("number"))
    return withNumber(out);
  if (is("memory") || is("constant"))
    return inMemory(is("constant"), out);
  if (count == 1 || is("bilinear") || is("own"))
    samples<<<kSide, kSide>>>(
        textureOf(resourceOf(arrayOf(make_cudaExtent(kSide, kSide, 0), 0)), true, true), out);
  else if (is("layered"))
    samplesLayers<<<kSide, kSide>>>(
        textureOf(resourceOf(arrayOf(make_cudaExtent(kSide, kSide, kLayers), cudaArrayLayered)),
                  true),
        out);
  else if (is("volume"))
    samplesVolume<<<kSide, kSide>>>(
        textureOf(resourceOf(arrayOf(make_cudaExtent(kSide, kSide, kLayers), 0)), true), out);
  else if (is("row"))
    samplesRow<<<kSide, kSide>>>(
        textureOf(resourceOf(arrayOf(make_cudaExtent(kSide, 0, 0), 0)), true), out);
  else if (is("struct"))
    samplesStruct<<<kSide, kSide>>>(Picture{kSide - 1, flat(), out, 0.5f});
  else
    return std::printf("unknown mode\n"), 2;
  return print(out);
}
