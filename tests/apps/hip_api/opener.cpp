// Opens the HIP runtime that its first argument names, as its second one says, looks its functions
// up, and launches the kernel `alone` of the code object in its third.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

int main(int, char** argv) {
  const bool isDeep = std::strcmp(argv[2], "deep") == 0;
  const bool isGlobal = std::strcmp(argv[2], "global") == 0;
  void* const hip = dlopen(argv[1], RTLD_NOW | (isDeep ? RTLD_DEEPBIND : 0) |
                                        (isGlobal ? RTLD_GLOBAL : RTLD_LOCAL));
  if (!hip) {
    std::puts(dlerror());
    return 1;
  }
  const auto load = reinterpret_cast<int (*)(void**, const void*)>(dlsym(hip, "hipModuleLoadData"));
  const auto find =
      reinterpret_cast<int (*)(void**, void*, const char*)>(dlsym(hip, "hipModuleGetFunction"));
  const auto take = reinterpret_cast<int (*)(void**, size_t)>(dlsym(hip, "hipMalloc"));
  const auto fill = reinterpret_cast<int (*)(void*, int, size_t)>(dlsym(hip, "hipMemset"));
  const auto copy =
      reinterpret_cast<int (*)(void*, const void*, size_t, int)>(dlsym(hip, "hipMemcpy"));
  const auto launch =
      reinterpret_cast<int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, void*, void**, void**)>(
          dlsym(hip, "hipModuleLaunchKernel"));
  std::ifstream file(argv[3], std::ios::binary);
  const std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
  void *module = nullptr, *kernel = nullptr, *data = nullptr;
  int host[100] = {}, count = 100, factors[2] = {2, 3};
  void* arguments[] = {&data, &count, factors};
  int failed = load(&module, code.data());
  failed |= find(&kernel, module, "alone");
  failed |= take(&data, sizeof host);
  failed |= fill(data, 1, sizeof host);
  failed |= launch(kernel, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr);
  failed |= copy(host, data, sizeof host, 2);
  std::printf("%d: %d %d\n", failed, host[0], host[99]);
}
