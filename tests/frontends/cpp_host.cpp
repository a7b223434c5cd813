// C++ that is compiled while the program runs.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <proteus/CppJitModule.h>
#include <proteus/Error.h>

using proteus::CppJitModule;

static const char* const kCode = R"cpp(
#include <cmath>
#include <cstdlib>
#include <sys/stat.h>
#include FACTOR_HEADER
static unsigned long output() {
  struct stat status = {};
  fstat(1, &status);
  return status.st_ino;
}
// Known when the module is loaded: constructors have the program's environment and its descriptors.
static const char* const path = std::getenv("PATH");
static const unsigned long outputAtBegin = output();
extern "C" bool begun() { return path != nullptr && outputAtBegin == output(); }
extern "C" double scaled(double x) { return x * FACTOR; }
extern "C" void increase(int& n) { ++n; }
extern "C" double root(double x) { return std::sqrt(x); }
template <int N, typename T> T power(T x) {
  T result = 1;
  for (int i = 0; i < N; ++i)
    result *= x;
  return result;
}
template <typename A, typename B> double sum(A a, const B* b) { return a + *b; }
)cpp";

static std::string reasonOf(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(text.find(" => ") + 4);
}

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : ".";
  std::vector<std::string> extra = {"-I" + folder, "-DFACTOR_HEADER=\"factor.h\""};
  extra.insert(extra.end(), arguments + std::min(count, 2), arguments + count);
  CppJitModule module("host", kCode, extra);
  auto scaled = module.getFunction<double(double)>("scaled");
  std::printf("scaled %g\n", scaled.run(2));
  CppJitModule::FunctionHandle<void(int&)> increase = module.getFunction<void(int&)>("increase");
  int n = 41;
  increase.run(n);
  std::printf("increase %d root %g begun %d\n", n,
              module.getFunction<double(double)>("root").run(9),
              module.getFunction<bool()>("begun").run());

  auto& cube = module.instantiate("power", "3", "double");
  std::printf("power %g %g %d\n", cube.run<double>(2.0), cube.run<double>(3.0),
              &cube == &module.instantiate("power", "3", "double"));
  // Another type than the first call's.
  std::printf("power of an int %g\n", cube.run<double>(4));
  const unsigned big = 7;
  std::printf("sum %g\n", module.instantiate("sum", "int", "unsigned int").run<double>(1, &big));

  try {
    CppJitModule wrong("host", "extern \"C\" int f() {\n  return nothing;\n}\n");
    wrong.compile();
  } catch (const proteus::FatalError& error) {
    const std::string reason = reasonOf(error);
    const size_t at = reason.find("CppJitModule:");
    std::printf("%s\n", reason.substr(at == std::string::npos ? 0 : at).c_str());
  }
  try {
    module.getKernel<void()>("scaled");
  } catch (const proteus::FatalError& error) {
    std::printf("%s\n", reasonOf(error).c_str());
  }
}
