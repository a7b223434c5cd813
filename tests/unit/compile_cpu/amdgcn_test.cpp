// Kernels of HIP programs, one thread at a time: AMDGCN-flavoured IR and its libraries.
#include "support.h"

#include <cmath>
#include <cstdio>
#include <numeric>

#include <unistd.h>

using namespace test;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The message of the fault that one block of one thread ends with.
std::string faultOf(const Compiled& compiled, std::vector<void*> args,
                    mneme::device::cpu::FaultKind kind) {
  mneme::device::LaunchShape shape;
  auto outcome = mneme::device::cpu::run(*compiled.image, shape, args.data(), 60);
  CHECK(outcome.fault == kind);
  return outcome.message;
}

/// What `work` writes to stdout.
template <typename Work> std::string printed(Work work) {
  fflush(stdout);
  std::FILE* file = tmpfile();
  const int saved = dup(1);
  dup2(fileno(file), 1);
  work();
  fflush(stdout);
  dup2(saved, 1);
  close(saved);
  std::string text(4096, '\0');
  rewind(file);
  text.resize(fread(text.data(), 1, text.size(), file));
  fclose(file);
  return text;
}

} // namespace

TEST_CASE("an AMDGCN kernel without communication is a loop, vectorised at O3") {
  const std::string text = compiledKernels("basics");
  CHECK(compileText(text, "vectorAdd", "default<O3>").isLoop());
  const std::string ir = vectorisedIr(text, "vectorAdd");
  CHECK(ir.find("fadd <") != std::string::npos);
  CHECK(ir.find("alloca") == std::string::npos);
}

TEST_CASE("AMDGCN: sums are the same under every pipeline") {
  for (const char* passes : kPipelines) {
    Compiled compiled = compileText(compiledKernels("basics"), "vectorAdd", passes);
    std::vector<float> a(3 * 96, 1.5f), b(a), c(a.size(), -1.0f);
    std::iota(b.begin(), b.end(), 0.25f);
    int count = 250;
    void* pointers[] = {a.data(), b.data(), c.data()};
    launch(compiled, 3, 96, {&pointers[0], &pointers[1], &pointers[2], &count});
    for (int index = 0; index < int(a.size()); ++index)
      checkSame(c[index], index < count ? a[index] + b[index] : -1.0f, passes);
  }
}

TEST_CASE("AMDGCN: launch dimensions come by every way the compiler and its libraries know") {
  for (const char* version : {"500", "600"}) {
    std::string text =
        replaced(compiledKernels("basics"), "\"amdhsa_code_object_version\", i32 500",
                 std::string("\"amdhsa_code_object_version\", i32 ") + version);
    Compiled compiled = compileText(text, "dimensions");
    mneme::device::LaunchShape shape;
    for (unsigned axis = 0; axis < 3; ++axis) {
      shape.grid[axis] = axis + 2;
      shape.block[axis] = 5 - axis;
    }
    std::vector<uint32_t> out(8 * 24 * 60, ~0u);
    void* pointer = out.data();
    void* args[] = {&pointer};
    REQUIRE(mneme::device::cpu::run(*compiled.image, shape, args, 60).fault ==
            mneme::device::cpu::FaultKind::None);
    for (uint32_t group = 0; group < 24; ++group)
      for (uint32_t rank = 0; rank < 60; ++rank) {
        const uint32_t* mine = &out[8 * (group * 60 + rank)];
        CHECK(mine[0] == group);
        CHECK(mine[1] == rank);
        CHECK(mine[2] == 3);
        CHECK(mine[3] == rank / 5 % 4);
        CHECK(mine[4] == 4);
        CHECK(mine[5] == 10);
        CHECK(mine[6] == 4);
        CHECK(mine[7] == 12);
      }
  }
}

TEST_CASE("AMDGCN: structs passed by reference are each thread's own") {
  struct Settings {
    int scale;
    float factors[4];
    double last;
  } settings{3, {1, 2, 3, 4}, 0.5};
  for (const char* passes : {"default<O0>", "default<O2>"}) {
    Compiled compiled = compileText(compiledKernels("basics"), "byValue", passes);
    std::vector<double> out(8);
    void* pointer = out.data();
    launch(compiled, 1, 8, {&settings, &pointer});
    for (uint32_t t = 0; t < 8; ++t) {
      float factor = settings.factors[t & 3] + ((t & 3) < 2 ? float(t) : 0);
      CHECK(out[t] == 3 * factor + 0.5);
    }
  }
}

TEST_CASE("AMDGCN: device variables and constants live behind slots") {
  Compiled compiled = compileText(compiledKernels("basics"), "variables");
  REQUIRE(compiled.header().globalCount == 3);
  CHECK(compiled.header().relocationCount == 1);
  auto storage = bindGlobals(compiled);
  std::vector<float> out(64);
  void* pointer = out.data();
  launch(compiled, 1, 64, {&pointer});
  uint64_t counted = 0;
  for (size_t index = 0; index < 3; ++index) {
    const mneme_cpu_global& global = compiled.header().globals[index];
    CHECK(bool(global.isConstant) == (std::string(global.name) == "coefficients"));
    if (std::string(global.name) == "counter")
      counted = storage[index][0];
  }
  CHECK(counted >= 128);
  CHECK(out[6] == 3.0f);
}

TEST_CASE("AMDGCN: integer instructions") {
  const std::vector<uint32_t> a = {0x12345678, 0xff00ff80, 0x80000001, 7};
  const std::vector<uint32_t> b = {0x0804, 0x1f03, 0x0021, 0x2063};
  Compiled compiled = compileText(compiledKernels("basics"), "integers");
  std::vector<uint32_t> out(16 * a.size());
  const void* pointers[] = {a.data(), b.data(), out.data()};
  launch(compiled, 1, uint32_t(a.size()), {&pointers[0], &pointers[1], &pointers[2]});
  CHECK(out[0] == 0x67); // bits 4 to 11
  CHECK(out[1] == 0x67);
  CHECK(int(out[16 + 1]) == int(0xff00ff80) >> 3); // 31 bits from the third on reach the top
  CHECK(out[32 + 0] == 0);                         // of no width
  CHECK(out[48 + 0] == 0);                         // width 32 counts as 0
  for (size_t i = 0; i < a.size(); ++i) {
    const uint32_t* mine = &out[16 * i];
    const uint64_t pair = uint64_t(a[i]) << 32 | b[i];
    CHECK(mine[2] == uint32_t(pair >> 13));
    CHECK(mine[3] == uint32_t(pair >> 24));
    const uint32_t sign = (b[i] >> 15 & 1) * 0xff;
    CHECK(mine[4] == (0xff000000 | sign << 8 | (a[i] >> 8 & 0xff)));
    uint32_t sad = 0, masked = 0, average = 0;
    for (unsigned byte = 0; byte < 32; byte += 8) {
      const int x = a[i] >> byte & 0xff, y = b[i] >> byte & 0xff;
      sad += uint32_t(std::abs(x - y));
      masked += y ? uint32_t(std::abs(x - y)) : 0;
      average |= uint32_t(x + y + (0x01000100u >> byte & 1)) / 2 << byte;
    }
    CHECK(mine[5] == sad + 7);
    CHECK(mine[6] == average);
    CHECK(mine[7] == masked + 1);
    CHECK(mine[8] == (std::min(a[i], 65535u) | std::min(b[i], 65535u) << 16));
    CHECK(mine[9] == a[i] << (b[i] & 31)); // shifts count modulo 32
    CHECK(mine[10] == ((b[i] & 3) ? a[i] / (b[i] & 3) : ~0u));
    const int low = int(a[i] & 0xffff) - int(b[i] & 0xffff);
    const int high = int(a[i] >> 16) - int(b[i] >> 16);
    CHECK(mine[11] == uint32_t(std::abs(low) + std::abs(high)));
  }
}

TEST_CASE("AMDGCN: device math is the host's") {
  for (const char* passes : {"default<O0>", "default<O3>"}) {
    Compiled compiled = compileText(compiledKernels("library"), "math", passes);
    CHECK(compiled.header().globalCount == 0); // the libraries' settings are not variables
    const std::vector<float> in = {0.5f, 1.75f, 3.1415f, 100.25f, 1e-3f, 2.5f, 7.0f};
    std::vector<double> out(24 * in.size());
    const void* pointers[] = {in.data(), out.data()};
    launch(compiled, 1, uint32_t(in.size()), {&pointers[0], &pointers[1]});
    for (size_t i = 0; i < in.size(); ++i) {
      const float x = in[i];
      const double* mine = &out[24 * i];
      int exponent = 0;
      const float mantissa = std::frexp(x, &exponent);
      const double expected[] = {sinf(x),
                                 exp(double(x)),
                                 powf(x, 2.5f),
                                 sqrtf(x),
                                 rintf(x),
                                 1.0f / sqrtf(x),
                                 std::max(x, 0.75f),
                                 double(x),
                                 sinf(x),
                                 cosf(x),
                                 mantissa,
                                 double(exponent),
                                 1.0f / x,
                                 x - floorf(x),
                                 mantissa,
                                 double(exponent),
                                 std::min(std::max(x, 1.0f), 2.0f),
                                 1.0,
                                 x * 8.0f,
                                 float(sin(double(x - floorf(x)) * 6.283185307179586)),
                                 x / 3.0f,
                                 float(x * 3.0f) + 1e-7f};
      for (size_t at = 0; at < std::size(expected); ++at) {
        CAPTURE(at);
        CAPTURE(x);
        if (at == 19) // the hardware's sine takes turns
          CHECK(mine[at] == doctest::Approx(expected[at]).epsilon(1e-6));
        else
          checkSame(mine[at], expected[at], passes);
      }
    }
  }
}

TEST_CASE("AMDGCN: integer powers hold exponents a float does not") {
  Compiled compiled = compileText(compiledKernels("library"), "integerPower");
  std::vector<float> bases{-1, -1, 1.5f, 2, -2}, out(5);
  std::vector<int> exponents{16777217, 16777216, 3, -2, 5};
  void* pointers[] = {bases.data(), exponents.data(), out.data()};
  launch(compiled, 1, 5, {&pointers[0], &pointers[1], &pointers[2]});
  CHECK(out == std::vector<float>{-1, 1, 3.375f, 0.25f, -32});
}

TEST_CASE("AMDGCN: denormals are flushed where the program was compiled to") {
  Compiled compiled = compileText(compiledKernels("library"), "math", "default<O2>",
                                  R"({"flush_denormals": true})");
  float x = 6.0f;
  std::vector<double> out(24);
  void* pointers[] = {&x, out.data()};
  launch(compiled, 1, 1, {&pointers[0], &pointers[1]});
  CHECK(out[20] == 1.0);
}

TEST_CASE("AMDGCN: printf in pieces prints once, with every argument") {
  Compiled compiled = compileText(compiledKernels("library"), "prints");
  int value = -7;
  double number = 3.14159;
  CHECK(printed([&] { launch(compiled, 1, 2, {&value, &number}); }) ==
        "value -7,  3.14, text\nvalue -7,  3.14, text\n");
}

TEST_CASE("AMDGCN: dimensions a request fixes are constants") {
  mneme::compile::Request request =
      requestOf(compiledKernels("basics"), "vectorAdd", "default<O2>");
  request.specializeDims = true;
  request.block[0] = 48;
  const std::string ir = mneme::compile::compile(request).ir;
  CHECK(ir.find("mul i32 %ctaid.x, 48") != std::string::npos);
}

TEST_CASE("AMDGCN: assert and trap end the launch with what they say") {
  using mneme::device::cpu::FaultKind;
  int value = 4;
  void* pointer = &value;
  Compiled asserting = compileText(compiledKernels("library"), "asserts");
  CHECK(faultOf(asserting, {&pointer}, FaultKind::Assert).find("*value == 3") != std::string::npos);
  Compiled trapping = compileText(compiledKernels("library"), "traps");
  CHECK(faultOf(trapping, {&pointer}, FaultKind::Trap).find("traps") != std::string::npos);
  value = 3;
  launch(asserting, 1, 1, {&pointer});
}

TEST_CASE("AMDGCN: the device heap, and assembly that only holds values in place") {
  Compiled compiled = compileText(compiledKernels("library"), "heap");
  std::vector<uint64_t> out(10);
  void* pointer = out.data();
  launch(compiled, 1, 10, {&pointer});
  for (size_t t = 0; t < out.size(); ++t)
    CHECK(out[t] == 42 + t);
  Compiled holding = compileText(compiledKernels("library"), "assembly");
  uint32_t value = 8;
  pointer = &value;
  launch(holding, 1, 1, {&pointer});
  CHECK(value == 9);
}

TEST_CASE("AMDGCN: what the CPU device cannot execute is named") {
  const std::string text = compiledKernels("library");
  CHECK(compileError(text, "matrix").find("'llvm.amdgcn.mfma.f32.4x4x1f32'") != std::string::npos);
  CHECK(compileError(text, "instruction").find("'v_mov_b32 $0, 7'") != std::string::npos);
  CHECK(compileError("target triple = \"amdgcn-amd-amdhsa\"\n"
                     "declare ptr addrspace(1) @__printf_alloc(i32)\n"
                     "define amdgpu_kernel void @k(ptr addrspace(1) %out) {\n"
                     "  %p = call ptr addrspace(1) @__printf_alloc(i32 8)\n"
                     "  store ptr addrspace(1) %p, ptr addrspace(1) %out\n"
                     "  ret void\n}\n",
                     "k")
            .find("-mprintf-kind=hostcall") != std::string::npos);
  CHECK(compileError(text, "callsHost").find("'__ockl_hostcall_preview'") != std::string::npos);
}
