// A program that launches four times and then dies as its first argument says, with buffers of as
// many MiB as its second says.
#include <cassert>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

#include <cuda_runtime.h>

__global__ void fill(unsigned* values, size_t count, unsigned seed) {
  const size_t index = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (index < count)
    values[index] = static_cast<unsigned>(index) * 2654435761u ^ seed;
}

__global__ void fail() { __trap(); }

namespace {

sigjmp_buf back;

void launch(unsigned* values, size_t count, unsigned first) {
  for (unsigned seed = first; seed < first + 4; ++seed)
    fill<<<static_cast<unsigned>((count + 255) / 256), 256>>>(values, count, seed);
  cudaDeviceSynchronize();
}

void abortInHandler(int) { abort(); }
void jumpBack(int) { siglongjmp(back, 1); }

void die(const char* how) {
  const auto is = [how](const char* name) { return std::strcmp(how, name) == 0; };
  if (is("abort"))
    abort();
  if (is("assert"))
    assert(!"what is wanted");
  if (is("terminate"))
    std::terminate();
  if (is("thread"))
    std::thread([] { abort(); }).join();
  if (is("threads")) {
    std::thread other([] { abort(); });
    abort();
  }
  if (is("handler")) {
    std::signal(SIGSEGV, abortInHandler);
    raise(SIGSEGV);
  }
  if (is("fault")) {
    fail<<<1, 1>>>();
    if (cudaDeviceSynchronize() != cudaSuccess)
      abort();
  }
  if (is("_exit"))
    _exit(3);
  if (is("syscall"))
    syscall(SYS_exit_group, 4);
  if (is("segv"))
    *static_cast<volatile int*>(nullptr) = 1;
  if (is("term"))
    raise(SIGTERM);
  if (is("kill"))
    raise(SIGKILL);
}

} // namespace

int main(int, char** arguments) {
  const size_t count = std::strtoul(arguments[2], nullptr, 10) << 18;
  unsigned* values = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&values), count * sizeof(unsigned));
  launch(values, count, 0);
  std::puts("launched");
  std::fflush(stdout);
  if (std::strcmp(arguments[1], "jump") == 0) {
    std::signal(SIGABRT, jumpBack);
    if (sigsetjmp(back, 1) == 0)
      abort();
    launch(values, count, 4);
    std::puts("launched again");
    return 0;
  }
  die(arguments[1]);
  return 1;
}
