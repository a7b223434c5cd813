#include <doctest/doctest.h>

#include <dlfcn.h>

#include <string>
#include <thread>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"

namespace {

struct Call {
  const void* kernel = nullptr;
  mneme_dim3 grid{}, block{};
  void** args = nullptr;
  size_t sharedBytes = 0;
  void* stream = nullptr;
};
Call lastCall;

int vendorLaunch(const void* kernel, mneme_dim3 grid, mneme_dim3 block, void** args,
                 size_t sharedBytes, void* stream) {
  lastCall = {kernel, grid, block, args, sharedBytes, stream};
  return 17;
}

int vendorLaunchEx(const void* config, const void* kernel, void** args) {
  lastCall = {kernel, {}, {}, args, 0, const_cast<void*>(config)};
  return 18;
}

mneme_launch launchOf(const void* kernel, void** args) {
  return {.version = MNEME_RT_ABI,
          .form = MNEME_LAUNCH_PLAIN,
          .kernel = kernel,
          .grid = {1, 2, 3},
          .block = {4, 5, 6},
          .args = args,
          .sharedBytes = 7,
          .stream = reinterpret_cast<void*>(8),
          .config = nullptr,
          .vendorEntry = reinterpret_cast<void*>(vendorLaunch)};
}

const mneme_module_entry* findModule(const void* handle) {
  const mneme_module_entry* module = nullptr;
  const char* name = nullptr;
  return mneme_rt_find_kernel(handle, &module, &name) ? module : nullptr;
}

size_t moduleCount() {
  size_t count = 0;
  mneme_rt_visit_modules(
      [](void* user, const mneme_module_entry*) { ++*static_cast<size_t*>(user); }, &count);
  return count;
}

/// A unit with `size` kernels whose handles start at `first`.
struct Unit {
  Unit(uintptr_t first, size_t size) : names(size), kernels(size) {
    for (size_t index = 0; index < size; ++index) {
      names[index] = "kernel" + std::to_string(first + index);
      kernels[index] = {reinterpret_cast<const void*>(first + index), names[index].c_str()};
    }
    entry = {MNEME_RT_ABI, 0, nullptr, kernels.data(), nullptr, size, 0};
    mneme_rt_register_module(&entry);
  }
  ~Unit() { mneme_rt_unregister_module(&entry); }
  std::vector<std::string> names;
  std::vector<mneme_kernel_entry> kernels;
  mneme_module_entry entry;
};

} // namespace

TEST_CASE("without hooks a launch reaches the vendor with its own arguments") {
  int value = 0;
  void* args[] = {&value};
  mneme_launch launch = launchOf(&value, args);
  CHECK(mneme_launch_kernel(&launch) == 17);
  CHECK(lastCall.kernel == &value);
  CHECK(lastCall.grid.x == 1);
  CHECK(lastCall.grid.z == 3);
  CHECK(lastCall.block.y == 5);
  CHECK(lastCall.args == args);
  CHECK(lastCall.sharedBytes == 7);
  CHECK(lastCall.stream == reinterpret_cast<void*>(8));

  int config = 0;
  launch.form = MNEME_LAUNCH_EX;
  launch.config = &config;
  launch.vendorEntry = reinterpret_cast<void*>(vendorLaunchEx);
  CHECK(mneme_launch_kernel(&launch) == 18);
  CHECK(lastCall.kernel == &value);
  CHECK(lastCall.stream == &config);
}

TEST_CASE("hooks take over launches until they are removed") {
  int seen = 0;
  mneme_hooks hooks{MNEME_RT_ABI, &seen,
                    [](void* user, const mneme_launch* launch) {
                      ++*static_cast<int*>(user);
                      return mneme_rt_call_vendor(launch) + 1;
                    },
                    nullptr};
  mneme_launch launch = launchOf(&seen, nullptr);
  mneme_rt_set_hooks(&hooks);
  CHECK(mneme_launch_kernel(&launch) == 18);
  CHECK(seen == 1);
  mneme_rt_set_hooks(nullptr);
  CHECK(mneme_launch_kernel(&launch) == 17);
  CHECK(seen == 1);
}

TEST_CASE("hooks of another ABI are not installed") {
  mneme_hooks hooks{MNEME_RT_ABI + 1, nullptr, [](void*, const mneme_launch*) { return -1; },
                    nullptr};
  mneme_rt_set_hooks(&hooks);
  mneme_launch launch = launchOf(nullptr, nullptr);
  CHECK(mneme_launch_kernel(&launch) == 17);
}

TEST_CASE("handles are found by unit and name, and forgotten with their unit") {
  Unit first(0x1000, 100);
  {
    Unit second(0x2000, 300);
    const mneme_module_entry* module = nullptr;
    const char* name = nullptr;
    REQUIRE(mneme_rt_find_kernel(reinterpret_cast<void*>(0x2000 + 299), &module, &name) == 1);
    CHECK(module == &second.entry);
    CHECK(std::string(name) == second.names[299]);
    CHECK(moduleCount() == 2);
  }
  CHECK(findModule(reinterpret_cast<void*>(0x2000)) == nullptr);
  for (uintptr_t handle = 0x1000; handle < 0x1000 + 100; ++handle)
    CHECK(findModule(reinterpret_cast<void*>(handle)) == &first.entry);
  CHECK(findModule(nullptr) == nullptr);
  CHECK(findModule(reinterpret_cast<void*>(0x9999)) == nullptr);
}

TEST_CASE("a handle two units list survives the end of one") {
  Unit first(0x1000, 1);
  {
    Unit second(0x1000, 1);
    CHECK(findModule(reinterpret_cast<void*>(0x1000)) == &first.entry);
  }
  CHECK(findModule(reinterpret_cast<void*>(0x1000)) == &first.entry);
}

TEST_CASE("a unit of another ABI is not registered") {
  mneme_kernel_entry kernel{reinterpret_cast<void*>(0x77), "k"};
  mneme_module_entry entry{MNEME_RT_ABI + 1, 0, nullptr, &kernel, nullptr, 1, 0};
  mneme_rt_register_module(&entry);
  CHECK(findModule(kernel.handle) == nullptr);
  mneme_rt_unregister_module(&entry);
}

TEST_CASE("threads register, look up and unregister at once") {
  std::vector<std::thread> threads;
  for (uintptr_t id = 1; id <= 4; ++id)
    threads.emplace_back([id] {
      for (int round = 0; round < 300; ++round) {
        Unit unit(id << 32, 50);
        const mneme_module_entry* module = findModule(reinterpret_cast<void*>((id << 32) + 49));
        if (module != &unit.entry)
          FAIL_CHECK("a registered kernel was not found");
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(moduleCount() == 0);
}

TEST_CASE("a fat binary is found through the wrapper") {
  uint64_t fatbin[2] = {0x00100001BA55ED50ull, 0};
  struct {
    uint32_t magic, version;
    const void* data;
    void* unused;
  } wrapper{0x466243b1, 1, fatbin, nullptr};
  mneme_module_entry entry{MNEME_RT_ABI, 0, &wrapper, nullptr, nullptr, 0, 0};
  const void* found[1] = {};
  CHECK(mneme_rt_fatbins(&entry, found, 1) == 1);
  CHECK(found[0] == fatbin);
  CHECK(mneme_rt_fatbins(&entry, nullptr, 0) == 1);
  CHECK(mneme_rt_fatbins(nullptr, found, 1) == 0);
}

TEST_CASE("shared libraries come and go, with the fat binary their linker made") {
  void* library = dlopen(MNEME_TEST_PLUGIN, RTLD_NOW);
  REQUIRE(library != nullptr);
  using Entry = const mneme_module_entry* (*)();
  using Fatbin = const void* (*)();
  const mneme_module_entry* entry = reinterpret_cast<Entry>(dlsym(library, "plugin_entry"))();
  const void* handle = entry->kernels[0].handle;
  CHECK(findModule(handle) == entry);
  const void* found[4] = {};
  CHECK(mneme_rt_fatbins(entry, found, 4) == 1);
  CHECK(found[0] == reinterpret_cast<Fatbin>(dlsym(library, "plugin_fatbin"))());

  static const mneme_module_entry* gone = nullptr;
  mneme_hooks hooks{MNEME_RT_ABI, nullptr, [](void*, const mneme_launch*) { return 0; },
                    [](void*, const mneme_module_entry* module) { gone = module; }};
  mneme_rt_set_hooks(&hooks);
  dlclose(library);
  mneme_rt_set_hooks(nullptr);
  CHECK(gone == entry);
  CHECK(findModule(handle) == nullptr);
}
