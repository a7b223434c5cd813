// Launches with textures and surfaces, by a program to be recorded on a GPU.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

#include "runtime/devices/cuda/texture_types.h"
#include "tests/unit/record/guest_driver.h"
#include "tests/unit/record/guest_graphs.h"
#include "tests/unit/record/guest_kernel.h"

namespace mneme::record::test {

/// A texture and a surface of one array. What lies beyond the texture's border has a colour.
struct TexturedArray {
  void* array = nullptr;
  unsigned long long texture = 0, surface = 0;

  TexturedArray() {
    const struct {
      size_t width = 8, height = 4, depth = 0;
      unsigned format = 0x20, channels = 1, flags = 2;
    } shape; // CUDA_ARRAY3D_DESCRIPTOR
    struct {
      int type = 0;
      void* array = nullptr;
      char more[128] = {};
    } resource; // CUDA_RESOURCE_DESC
    const struct {
      unsigned address[3] = {3, 1, 1}, more[7] = {};
      float border[4] = {0.5f, 0, 0, 2};
      int reserved[12] = {};
    } sampler; // CUDA_TEXTURE_DESC
    std::printf("array %d\n", ofDriver("cuArray3DCreate_v2", &resource.array, &shape));
    std::printf("texture %d\n", ofDriver("cuTexObjectCreate", &texture, &resource, &sampler,
                                         static_cast<void*>(nullptr)));
    std::printf("surface %d\n", ofDriver("cuSurfObjectCreate", &surface, &resource));
    array = resource.array;
  }
};

/// No argument names the texture and the surface; then there is the surface alone.
inline void launchWithTextures(GuestKernel kernel, float* data) {
  const TexturedArray made;
  launchKernel(kernel, data, 50);
  std::printf("destroy %d\n", ofDriver("cuTexObjectDestroy", made.texture));
  launchKernel(kernel, data, 60);
  std::printf("destroy %d\n", ofDriver("cuArrayDestroy", made.array));
}

inline void* painted = nullptr; ///< an array

/// Fills the array with the number that is its argument.
inline int paint(mneme_dim3, mneme_dim3, void** args) {
  static std::vector<char> colours;
  colours.assign(128, static_cast<char>(*static_cast<int*>(args[1])));
  device::cuda::CUDA_MEMCPY3D copy;
  copy.src.device = reinterpret_cast<uintptr_t>(colours.data());
  copy.dst.array = static_cast<device::cuda::CUarray>(painted);
  copy.WidthInBytes = 32, copy.Height = 4, copy.Depth = 1;
  return ofDriver("cuMemcpy3DAsync_v2", &copy, static_cast<void*>(nullptr));
}

/// A graph whose first kernel writes into the array that the second can read, while another thread
/// destroys an array that neither is given; then a launch after its end.
inline void launchGraphWithTextures(GuestKernel kernel, float* data) {
  const TexturedArray made, other;
  painted = made.array;
  registerKernel<2>(paint, {}, R"({"unrecorded_reads":["surfaces"]})");
  int counts[] = {7, 70};
  void* args[2][2] = {{&data, &counts[0]}, {&data, &counts[1]}};
  const GuestKernel kernels[] = {paint, kernel};
  void *graph = nullptr, *exec = nullptr, *node = nullptr;
  cudaGraphCreate(&graph, 0);
  for (const int index : {0, 1}) {
    const GuestNode params{.function = reinterpret_cast<const void*>(kernels[index]),
                           .grid = {1, 1, 1},
                           .block = {32, 1, 1},
                           .sharedBytes = 0,
                           .args = args[index],
                           .extra = nullptr};
    cudaGraphAddKernelNode(&node, graph, node ? &node : nullptr, node ? 1 : 0, &params);
    if (index == 0) {
      const GuestHostNode ending{.function = [](void* array) { ofDriver("cuArrayDestroy", array); },
                                 .data = other.array};
      cudaGraphAddHostNode(&node, graph, &node, 1, &ending);
    }
  }
  std::printf("instantiate %d\n", cudaGraphInstantiateWithFlags(&exec, graph, 0));
  std::printf("launch %d\n", cudaGraphLaunch(exec, nullptr));
  std::printf("end %d %d\n", cudaGraphExecDestroy(exec), cudaGraphDestroy(graph));
  ofDriver("cuTexObjectDestroy", made.texture);
  ofDriver("cuSurfObjectDestroy", made.surface);
  std::printf("destroy %d\n", ofDriver("cuArrayDestroy", made.array));
  launchKernel(kernel, data, 71);
}

/// An array with levels, which a texture shows, and a surface one of them; then neither has an
/// array any more.
inline void launchWithLevels(GuestKernel kernel, float* data) {
  const struct {
    size_t width = 8, height = 4, depth = 0;
    unsigned format = 0x20, channels = 1, flags = 2;
  } shape;
  struct {
    int type;
    void* array = nullptr;
    char more[128] = {};
  } whole{1}, part{0};
  const std::vector<char> sampler(104);
  unsigned long long texture = 0, surface = 0;
  std::printf("array %d\n", ofDriver("cuMipmappedArrayCreate", &whole.array, &shape, 3u));
  std::printf("level %d\n", ofDriver("cuMipmappedArrayGetLevel", &part.array, whole.array, 1u));
  std::printf("texture %d\n", ofDriver("cuTexObjectCreate", &texture, &whole, sampler.data(),
                                       static_cast<void*>(nullptr)));
  std::printf("surface %d\n", ofDriver("cuSurfObjectCreate", &surface, &part));
  launchKernel(kernel, data, 50);
  std::printf("destroy %d\n", ofDriver("cuMipmappedArrayDestroy", whole.array));
  launchKernel(kernel, data, 60);
}

} // namespace mneme::record::test
