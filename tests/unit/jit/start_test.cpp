// How libmneme_rt starts tuned kernels. It does so once per process: every test has its own child.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/core/abi/mneme_rt.h"

namespace {

namespace fs = std::filesystem;

constexpr int kVendor = 17, kRecorder = 33;

int vendorLaunch(const void*, mneme_dim3, mneme_dim3, void**, size_t, void*) { return kVendor; }

int launchOnce(const void* handle = reinterpret_cast<const void*>(0x1000)) {
  const mneme_launch launch{.version = MNEME_RT_ABI,
                            .form = MNEME_LAUNCH_PLAIN,
                            .kernel = handle,
                            .grid = {1, 1, 1},
                            .block = {1, 1, 1},
                            .args = nullptr,
                            .sharedBytes = 0,
                            .stream = nullptr,
                            .config = nullptr,
                            .vendorEntry = reinterpret_cast<void*>(vendorLaunch)};
  return mneme_launch_kernel(&launch);
}

bool isJitLoaded() { return dlopen(MNEME_TEST_JIT, RTLD_NOW | RTLD_NOLOAD) != nullptr; }

constexpr mneme_hooks kRecorderHooks{MNEME_RT_ABI, nullptr,
                                     [](void*, const mneme_launch*) { return kRecorder; }, nullptr};

/// One unit, with a kernel that carries no IR.
void registerUnit() {
  static const mneme_kernel_entry kernel{reinterpret_cast<const void*>(0x1000), "k"};
  static const uint64_t fatbin[] = {0x00100001BA55ED50ull, 0};
  static const struct {
    uint32_t magic, version;
    const void* data;
    const void* unused;
  } wrapper{0x466243b1, 1, fatbin, nullptr};
  static const mneme_module_entry entry{MNEME_RT_ABI, 0, &wrapper, &kernel, nullptr, 1, 0};
  mneme_rt_register_module(&entry);
}

struct Outcome {
  int code = -1; ///< what the child returned; -1 if it did not end by itself
  std::string said;
};

Outcome inChild(const std::function<int()>& body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(stdout); // else the child writes it once more
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    dup2(ends[1], STDERR_FILENO);
    std::exit(body());
  }
  close(ends[1]);
  Outcome outcome;
  char part[512];
  for (ssize_t size; (size = read(ends[0], part, sizeof(part))) > 0;)
    outcome.said.append(part, static_cast<size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status))
    outcome.code = WEXITSTATUS(status);
  return outcome;
}

/// A file that goes away.
struct File {
  explicit File(const std::string& text) {
    static int count = 0;
    path = (fs::temp_directory_path() /
            ("mneme-start-" + std::to_string(getpid()) + "-" + std::to_string(++count)))
               .string();
    std::ofstream(path) << text;
  }
  ~File() { fs::remove(path); }
  std::string path;
};

/// Nothing is loaded by other threads meanwhile.
void withLoaderKept(std::function<void()>& body) {
  dl_iterate_phdr(
      [](dl_phdr_info*, size_t, void* user) {
        (*static_cast<std::function<void()>*>(user))();
        return 1;
      },
      &body);
}

bool isAsleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string id, name, state;
  return file >> id >> name >> state && state == "S";
}

size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

} // namespace

TEST_CASE("nothing is loaded when nothing is tuned") {
  const Outcome outcome = inChild([] {
    const bool isRight = launchOnce() == kVendor && launchOnce() == kVendor && !isJitLoaded();
    // Asked once: what the environment says later has no effect.
    setenv("PROTEUS_TUNED_KERNELS", "/nowhere", 1);
    return isRight && launchOnce() == kVendor && !isJitLoaded() ? 0 : 1;
  });
  CHECK(outcome.code == 0);
  CHECK(outcome.said.empty());
}

TEST_CASE("PROTEUS_DISABLE and an empty name load nothing") {
  for (const auto& [file, disable] : {std::pair{"/nowhere", "1"}, {"", "0"}}) {
    const Outcome outcome = inChild([&] {
      setenv("PROTEUS_TUNED_KERNELS", file, 1);
      setenv("PROTEUS_DISABLE", disable, 1);
      return launchOnce() == kVendor && !isJitLoaded() ? 0 : 1;
    });
    CHECK(outcome.code == 0);
    CHECK(outcome.said.empty());
  }
}

TEST_CASE("a file that cannot be used is said once, and the program goes on") {
  const File malformed("{\"k\": "), foreign("[1, 2]"), empty("{}");
  for (const std::string& path :
       {std::string("/nowhere"), std::string("/"), malformed.path, foreign.path, empty.path}) {
    CAPTURE(path);
    const Outcome outcome = inChild([&] {
      setenv("PROTEUS_TUNED_KERNELS", path.c_str(), 1);
      registerUnit();
      return launchOnce() == kVendor && launchOnce() == kVendor && isJitLoaded() ? 0 : 1;
    });
    CHECK(outcome.code == 0);
    CAPTURE(outcome.said);
    CHECK(lines(outcome.said) == 1);
    CHECK(outcome.said.find("'" + path + "'") != std::string::npos);
  }
}

TEST_CASE("a file for other programs is said in one line") {
  std::string text = "{";
  for (int i = 0; i < 100; ++i)
    text += (i == 0 ? "\"" : ", \"") + std::string("other") + std::to_string(i) + "\": {}";
  const File file(text + "}");
  const Outcome outcome = inChild([&] {
    setenv("PROTEUS_TUNED_KERNELS", file.path.c_str(), 1);
    registerUnit();
    return launchOnce() == kVendor && launchOnce() == kVendor ? 0 : 1;
  });
  CHECK(outcome.code == 0);
  CAPTURE(outcome.said);
  CHECK(lines(outcome.said) == 1);
  CHECK(outcome.said.find("100 kernel(s) ('other0', 'other1', 'other10', ...)") !=
        std::string::npos);
}

TEST_CASE("a file none of whose kernels is launched is said at the end") {
  const File file(R"({"k": {}})");
  const Outcome outcome = inChild([&] {
    setenv("PROTEUS_TUNED_KERNELS", file.path.c_str(), 1);
    registerUnit();
    return launchOnce(reinterpret_cast<const void*>(0x2000)) == kVendor ? 0 : 1;
  });
  CHECK(outcome.code == 0);
  CAPTURE(outcome.said);
  CHECK(lines(outcome.said) == 1);
  CHECK(outcome.said.find("names was launched, so nothing ran as tuned") != std::string::npos);
}

TEST_CASE("entries that are broken for one reason are said in one line") {
  std::string text = R"({"k": {})";
  for (int i = 0; i < 100; ++i)
    text += ", \"broken" + std::to_string(i) + "\": {\"Pipeline\": 7}";
  const File file(text + "}");
  const Outcome outcome = inChild([&] {
    setenv("PROTEUS_TUNED_KERNELS", file.path.c_str(), 1);
    registerUnit();
    return launchOnce() == kVendor ? 0 : 1;
  });
  CHECK(outcome.code == 0);
  CAPTURE(outcome.said);
  CHECK(lines(outcome.said) == 2); // the other one is of the kernel without IR
  CHECK(outcome.said.find("kernel 'broken0': Pipeline is 7 but has to be a text") !=
        std::string::npos);
  CHECK(outcome.said.find("99 more: 'broken1', 'broken2', 'broken3', ...") != std::string::npos);
}

TEST_CASE("a pipe, a socket or a device in the place of the file is said, and holds nothing up") {
  const std::string pipe = fs::temp_directory_path() / ("mneme-pipe-" + std::to_string(getpid()));
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {pipe, std::string("/dev/zero"), std::string("/dev/full")}) {
    CAPTURE(path);
    const Outcome outcome = inChild([&] {
      setenv("PROTEUS_TUNED_KERNELS", path.c_str(), 1);
      registerUnit();
      return launchOnce() == kVendor ? 0 : 1;
    });
    CHECK(outcome.code == 0);
    CHECK(lines(outcome.said) == 1);
    CHECK(outcome.said.find("'" + path + "' is a ") != std::string::npos);
  }
  fs::remove(pipe);
}

TEST_CASE("a tuned kernel that carries no IR is said once, and runs as it was built") {
  const File file(R"({"k": {}, "broken": 1})");
  const Outcome outcome = inChild([&] {
    setenv("PROTEUS_TUNED_KERNELS", file.path.c_str(), 1);
    setenv("PROTEUS_ASYNC_THREADS", "many", 1);
    registerUnit();
    return launchOnce() == kVendor && launchOnce() == kVendor ? 0 : 1;
  });
  CHECK(outcome.code == 0);
  CAPTURE(outcome.said);
  CHECK(lines(outcome.said) == 3);
  CHECK(outcome.said.find("PROTEUS_ASYNC_THREADS='many'") != std::string::npos);
  CHECK(outcome.said.find("kernel 'broken'") != std::string::npos);
  CHECK(outcome.said.find("tuned kernel 'k' is not used: it carries no mneme IR") !=
        std::string::npos);
}

TEST_CASE("a recorder takes the launches, and says that nothing is tuned") {
  const File file(R"({"k": {}})");
  const Outcome outcome = inChild([&] {
    setenv("PROTEUS_TUNED_KERNELS", file.path.c_str(), 1);
    mneme_rt_set_hooks(&kRecorderHooks);
    registerUnit();
    registerUnit();
    const bool isRecorded = launchOnce() == kRecorder;
    mneme_rt_set_hooks(nullptr); // recording is over; it does not start late
    return isRecorded && launchOnce() == kVendor && !isJitLoaded() ? 0 : 1;
  });
  CHECK(outcome.code == 0);
  CHECK(lines(outcome.said) == 1);
  CHECK(outcome.said.find("no effect while the program is recorded") != std::string::npos);
}

TEST_CASE("a recorder that comes after the units says it too; without tuned kernels none does") {
  const Outcome late = inChild([] {
    setenv("PROTEUS_TUNED_KERNELS", "/nowhere", 1);
    registerUnit();
    mneme_rt_set_hooks(&kRecorderHooks);
    return launchOnce() == kRecorder ? 0 : 1;
  });
  CHECK(late.code == 0);
  CHECK(lines(late.said) == 1);
  const Outcome plain = inChild([] {
    registerUnit();
    mneme_rt_set_hooks(&kRecorderHooks);
    return launchOnce() == kRecorder ? 0 : 1;
  });
  CHECK(plain.code == 0);
  CHECK(plain.said.empty());
}

TEST_CASE("while one thread starts, others launch as built; a recorder that comes then stays") {
  const File file(R"({"k": {}})");
  const Outcome outcome = inChild([&] {
    setenv("PROTEUS_TUNED_KERNELS", file.path.c_str(), 1);
    int first = 0, second = 0;
    std::atomic<pid_t> startingId{0};
    std::atomic<bool> isKept{false};
    std::thread starting([&] {
      while (!isKept)
        std::this_thread::yield();
      startingId = gettid();
      first = launchOnce(); // waits for the loader, which the other thread keeps
    });
    std::function<void()> meanwhile = [&] {
      isKept = true;
      while (startingId == 0 || !isAsleep(startingId))
        std::this_thread::yield();
      second = launchOnce();
      mneme_rt_set_hooks(&kRecorderHooks);
    };
    withLoaderKept(meanwhile);
    starting.join();
    return first == kRecorder && second == kVendor && launchOnce() == kRecorder ? 0 : 1;
  });
  CHECK(outcome.code == 0);
}
