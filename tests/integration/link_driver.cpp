// A libcuda.so.1 that knows one kernel, `link` of examples/linked_list: memory is where it is asked
// for, and the kernel runs here. LINK_DRIVER_WRONG=1 makes it leave something else. With
// LINK_DRIVER_HEAD=1 the image has the variable `head`, elsewhere than it was recorded.
// LINK_DRIVER_STACK=65536 makes the launch fail with smaller stacks.
// LINK_DRIVER_OPTIONS="0=24 7=1 " are the options that PTX has to be compiled by.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>

namespace {

struct Node {
  Node* next;
  int value;
  int sum;
};

constexpr uint64_t kHeadAt = 0x7e0000000200;
Node* head = nullptr;
size_t limits[5] = {1024, 1 << 20, 8 << 20, 2, 2048};
bool isTold(const char* name) { return std::getenv(name) != nullptr; }

} // namespace

extern "C" {

int cuInit(unsigned) { return isTold("LINK_DRIVER_ABSENT") ? 100 : 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGet(int* device, int) { return *device = 0, 0; }
int cuDeviceGetName(char* name, int size, int) { return std::strncpy(name, "Fake GPU", size), 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = context, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxGetLimit(size_t* value, int number) { return *value = limits[number], 0; }
int cuCtxSetLimit(int number, size_t value) { return limits[number] = value, 0; }
int cuGetErrorString(int, const char** text) { return *text = "a fake error", 0; }
int cuMemGetAllocationGranularity(size_t* bytes, const void*, int) { return *bytes = 2 << 20, 0; }
int cuMemAddressReserve(uint64_t* granted, size_t bytes, size_t, uint64_t wanted,
                        unsigned long long) {
  const uint64_t place = isTold("LINK_DRIVER_ELSEWHERE") ? 0 : wanted;
  void* memory =
      mmap(reinterpret_cast<void*>(place), bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (place ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  *granted = reinterpret_cast<uint64_t>(memory);
  return memory == MAP_FAILED ? 2 : 0;
}
int cuMemCreate(unsigned long long* handle, size_t, const void*, unsigned long long) {
  return *handle = 1, 0;
}
int cuMemMap(uint64_t, size_t, size_t, unsigned long long, unsigned long long) { return 0; }
int cuMemSetAccess(uint64_t, size_t, const void*, size_t) { return 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  return std::memcpy(to, reinterpret_cast<void*>(from), bytes), 0;
}
int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes) {
  return std::memset(reinterpret_cast<void*>(to), value, bytes), 0;
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                       void** values) {
  *module = module;
  const bool isElf = std::memcmp(image, "\177ELF", 4) == 0;
  std::string given;
  for (unsigned i = 0; i < count; ++i)
    given += std::to_string(options[i]) + "=" +
             std::to_string(reinterpret_cast<uintptr_t>(values[i])) + " ";
  const char* wanted = std::getenv("LINK_DRIVER_OPTIONS");
  if (given != (wanted && !isElf ? wanted : ""))
    return 1;
  return isElf || std::strstr(static_cast<const char*>(image), ".entry _Z4linkP4Nodeii") ? 0 : 200;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = function;
  return std::strcmp(name, "_Z4linkP4Nodeii") == 0 ? 0 : 500;
}
int cuModuleGetGlobal_v2(uint64_t* address, size_t* bytes, void*, const char* name) {
  *address = reinterpret_cast<uint64_t>(&head);
  *bytes = sizeof head;
  return isTold("LINK_DRIVER_HEAD") && std::strcmp(name, "head") == 0 ? 0 : 500;
}
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuFuncSetCacheConfig(void*, int) { return 0; }
int cuLaunchKernelEx(const void* config, void*, void** arguments, void**) {
  if (const char* stack = std::getenv("LINK_DRIVER_STACK"); stack && limits[0] < std::stoul(stack))
    return 719;
  unsigned dims[6];
  std::memcpy(dims, config, sizeof dims);
  Node* nodes;
  int count, stride;
  std::memcpy(&nodes, arguments[0], sizeof nodes);
  std::memcpy(&count, arguments[1], sizeof count);
  std::memcpy(&stride, arguments[2], sizeof stride);
  for (int i = 0; i < count && i < static_cast<int>(dims[0] * dims[3]); ++i) {
    nodes[i].next = i + 1 < count ? &nodes[(i + 1) * stride % count] : nullptr;
    nodes[i].value = i;
    nodes[i].sum = 0;
  }
  if (isTold("LINK_DRIVER_WRONG"))
    nodes[2].value = 7;
  if (isTold("LINK_DRIVER_HEAD"))
    head = nodes;
  else
    std::memcpy(reinterpret_cast<void*>(kHeadAt), &nodes, sizeof nodes);
  return 0;
}
int cuCtxSynchronize() { return isTold("LINK_DRIVER_FAULT") ? 700 : 0; }
}
