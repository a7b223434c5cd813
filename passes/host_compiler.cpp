// Room passes: refuses a compiler with another LLVM than the one the passes were made for, before
// any code that relies on it runs. Comparing version numbers is not enough: ROCm's clang 22.0.0git
// is older than LLVM 22.1.0.
#include <dlfcn.h>
#include <llvm/Config/llvm-config.h>

#include <cstdio>
#include <cstdlib>

namespace {

// Before the constructors of options, which register themselves with that LLVM.
[[gnu::constructor(101)]] void refuseOtherLlvm() {
  using GetVersion = void (*)(unsigned*, unsigned*, unsigned*);
  // Part of LLVM's C interface; a compiler that does not export it gets a try.
  const auto getVersion = reinterpret_cast<GetVersion>(::dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  unsigned major = LLVM_VERSION_MAJOR, minor = LLVM_VERSION_MINOR, patch = 0;
  if (getVersion)
    getVersion(&major, &minor, &patch);
  // Since LLVM 18 releases are 18.1 and so on, what lies before them is 18.0.
  if (major == LLVM_VERSION_MAJOR && minor == LLVM_VERSION_MINOR)
    return;
  std::fprintf(
      stderr,
      "mneme: this compiler has LLVM %u.%u, mneme's passes were made for LLVM %d.%d: compile with "
      "mneme-cxx, or with a clang %d.%d\n",
      major, minor, LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR);
  std::_Exit(1);
}

} // namespace
