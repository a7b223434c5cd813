// Loads the device code in argv[1] by the driver API alone, from memory and from its file, and runs
// its kernel `add`, which adds its argument and the variable `offset` to each number. What is in
// argv[2], with a kernel `other`, is a module of its own.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include <cuda.h>

namespace {

int failures = 0;

void expect(CUresult status, const char* what, CUresult expected = CUDA_SUCCESS) {
  const char* name = "no name";
  cuGetErrorName(status, &name);
  if (status != expected)
    std::printf("%s: %s\n", what, name);
  failures += status != expected;
}

int run(CUfunction function, int argument) {
  CUdeviceptr numbers = 0;
  int count = 100, last = 0;
  expect(cuMemAlloc(&numbers, count * sizeof(int)), "memory");
  expect(cuMemsetD32(numbers, 5, count), "a fill");
  void* args[] = {&numbers, &count, &argument};
  expect(cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr), "a launch");
  expect(cuCtxSynchronize(), "the end");
  expect(cuMemcpyDtoH(&last, numbers + 4 * (count - 1), sizeof last), "a copy");
  expect(cuMemFree(numbers), "memory back");
  return last;
}

void checkApart(CUmodule module, const char* path) {
  CUmodule another = nullptr;
  CUfunction function = nullptr;
  expect(cuModuleLoad(&another, path), "another module");
  expect(cuModuleGetFunction(&function, another, "other"), "its function");
  expect(cuModuleGetFunction(&function, module, "other"), "of one only", CUDA_ERROR_NOT_FOUND);
  expect(cuModuleUnload(another), "the end of another");
}

} // namespace

int main(int, char** argv) {
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  image.push_back(0);
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  expect(cuInit(0), "the driver");
  expect(cuDevicePrimaryCtxRetain(&context, 0), "a context");
  expect(cuCtxSetCurrent(context), "the context");
  const CUresult loaded = cuModuleLoadData(&module, image.data());
  if (loaded != CUDA_SUCCESS) {
    expect(cuModuleLoad(&module, argv[1]), "from the file", loaded);
    std::printf("not loaded: %d\n", static_cast<int>(loaded));
    return 0;
  }
  image.assign(image.size(), 'x'); // a driver keeps its own

  CUfunction function = nullptr;
  CUdeviceptr offset = 0;
  size_t bytes = 0;
  int value = 0;
  expect(cuModuleGetFunction(&function, module, "add"), "a function");
  expect(cuModuleGetGlobal(&offset, &bytes, module, "offset"), "a variable");
  expect(cuMemcpyDtoH(&value, offset, sizeof value), "its value");
  std::printf("%d in %zu bytes, %d", value, bytes, run(function, 2));
  value = 1000;
  expect(cuMemcpyHtoD(offset, &value, sizeof value), "another value");
  std::printf(", %d", run(function, 3));
  if (argv[2])
    checkApart(module, argv[2]);
  expect(cuModuleUnload(module), "the end of a module");
  expect(cuModuleUnload(module), "not twice", CUDA_ERROR_INVALID_HANDLE);

  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  expect(cuLibraryLoadFromFile(&library, argv[1], nullptr, nullptr, 0, nullptr, nullptr, 0),
         "a library");
  expect(cuLibraryGetKernel(&kernel, library, "add"), "a kernel");
  std::printf(", %d\n", run(reinterpret_cast<CUfunction>(kernel), 4));
  expect(cuLibraryUnload(library), "the end of a library");
  return failures;
}
