// A program that does with descriptors, limits and signals what programs do, between and during its
// launches. What it prints, and what is in its files, must not depend on who watches it.
//
//   descriptors [<directory for its files> <step>...]
//
// Steps are done one after the other; `launch` is one of them. On a GPU the driver has descriptors
// too: numbers are not to be printed there (`open-some`), nor all closed once it has begun.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>

namespace {

constexpr int kFiles = 100;
int numValues = 1 << 20;

std::string directory;
std::vector<std::pair<std::string, int>> files; ///< what was opened: name and descriptor
volatile sig_atomic_t pipes = 0, limits = 0;

__global__ void mix(unsigned* values, unsigned seed) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = values[i] * 1664525u + seed * i + 1013904223u;
}

void launch() {
  static unsigned* values = nullptr;
  static unsigned seed = 0;
  if (!values && cudaMalloc(&values, numValues * sizeof(unsigned)) != cudaSuccess)
    std::printf("no memory\n");
  mix<<<numValues / 256, 256>>>(values, ++seed);
  static std::vector<unsigned> host(numValues); // not asked for again
  if (cudaMemcpy(host.data(), values, numValues * sizeof(unsigned), cudaMemcpyDefault) !=
      cudaSuccess)
    std::printf("no result\n");
  unsigned sum = 0;
  for (const unsigned value : host)
    sum = sum * 31 + value;
  std::printf("launch %u: %08x\n", seed, sum);
}

std::string contentOf(const std::string& name) {
  std::string content;
  for (int line = 0; line < 50; ++line)
    content += name + " line " + std::to_string(line) + "\n";
  return content;
}

/// Opens files of its own; what is written to them later is known.
void openFiles(int count, bool saysNumbers) {
  for (int i = 0; i < count; ++i) {
    const std::string name = directory + "/own-" + std::to_string(files.size());
    const int file = open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file < 0) {
      std::printf("open %d: %s\n", i, std::strerror(errno));
      return;
    }
    if (saysNumbers)
      std::printf("%d ", file);
    files.emplace_back(name, file);
  }
  std::printf("opened\n");
}

void checkFiles() {
  unsigned wrong = 0;
  for (const auto& [name, file] : files) {
    const std::string expected = contentOf(name);
    wrong += lseek(file, 0, SEEK_CUR) != 0;
    wrong += write(file, expected.data(), expected.size()) != ssize_t(expected.size());
    std::string found(expected.size() + 100, '\0');
    const ssize_t size = pread(file, found.data(), found.size(), 0);
    found.resize(size > 0 ? size : 0);
    wrong += found != expected;
    wrong += close(file) != 0;
  }
  std::printf("%zu files, %u wrong\n", files.size(), wrong);
}

void closeLoop() {
  for (int file = 3; file < 1024; ++file)
    close(file);
  files.clear();
}

void closeFrom(unsigned first) {
  syscall(SYS_close_range, first, ~0u, 0u);
  files.clear();
}

void redirectError(bool isNull) {
  const std::string name = isNull ? "/dev/null" : directory + "/own-error";
  close(2);
  const int file = open(name.c_str(), O_RDWR | (isNull ? 0 : O_CREAT | O_TRUNC), 0644);
  std::printf("stderr is %d\n", file);
}

void moveError() {
  const int file = open((directory + "/own-error").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0644);
  dup2(file, 2);
  close(file);
}

/// Goes on as a child that has left its parent's terminal, as daemon(3) does.
void becomeDaemon() {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child != 0) {
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  setsid();
  const int null = open("/dev/null", O_RDWR);
  dup2(null, 0);
  dup2(null, 2);
  close(null);
}

void openUntilRefused() {
  std::vector<int> opened;
  int file;
  while (opened.size() < 30000 && (file = open("/dev/null", O_RDONLY)) >= 0)
    opened.push_back(file);
  std::printf("%zu could be opened, the last is %d\n", opened.size(),
              opened.empty() ? -1 : opened.back());
  for (const int one : opened)
    close(one);
}

void limit(int resource, rlim_t soft) {
  rlimit both{};
  getrlimit(decltype(RLIMIT_FSIZE)(resource), &both);
  both.rlim_cur = soft;
  setrlimit(decltype(RLIMIT_FSIZE)(resource), &both);
}

std::atomic<bool> isOver{false};
std::thread closer;

/// Another thread closes everything and opens files, again and again, while kernels are launched.
void startCloser() {
  closer = std::thread([] {
    while (!isOver)
      for (int file = 3; file < 40; ++file)
        close(file);
  });
}

void countSignals() {
  std::signal(SIGPIPE, [](int) { pipes = pipes + 1; });
  std::signal(SIGXFSZ, [](int) { limits = limits + 1; });
}

void perform(const std::string& step) {
  const size_t equals = step.find('=');
  const std::string what = step.substr(0, equals);
  const unsigned long long number =
      equals == std::string::npos ? 0 : std::strtoull(step.c_str() + equals + 1, nullptr, 10);
  if (what == "launch")
    launch();
  else if (what == "close-loop")
    closeLoop();
  else if (what == "close-from")
    closeFrom(number);
  else if (what == "open" || what == "open-some")
    openFiles(number ? int(number) : kFiles, what == "open");
  else if (what == "check")
    checkFiles();
  else if (what == "error-file")
    redirectError(false);
  else if (what == "error-null")
    redirectError(true);
  else if (what == "error-moved")
    moveError();
  else if (what == "error-closed")
    close(2);
  else if (what == "daemon")
    becomeDaemon();
  else if (what == "exhaust")
    openUntilRefused();
  else if (what == "files")
    limit(RLIMIT_NOFILE, number);
  else if (what == "file-size")
    limit(RLIMIT_FSIZE, number);
  else if (what == "small")
    numValues = 1 << 14; // of all launches: what they need is there already when memory is limited
  else if (what == "memory")
    limit(RLIMIT_AS, number);
  else if (what == "closer")
    startCloser();
  else if (what == "count-signals")
    countSignals();
  else if (what == "sleep-ms")
    usleep(unsigned(number) * 1000);
  else
    std::printf("unknown step %s\n", step.c_str());
}

} // namespace

int main(int count, char** arguments) {
  directory = count > 1 ? arguments[1] : std::filesystem::temp_directory_path().string();
  for (int i = 2; i < count; ++i)
    perform(arguments[i]);
  if (count < 3)
    for (const char* step : {"launch", "error-moved", "open-some=20", "launch", "check"})
      perform(step);
  isOver = true;
  if (closer.joinable())
    closer.join();
  std::printf("signals: %d %d\n", int(pipes), int(limits));
}
