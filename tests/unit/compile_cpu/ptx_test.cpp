#include <cmath>

#include "support.h"

using namespace test;

namespace {

using Words = std::vector<uint32_t>;

/// One inline assembly statement with one 32-bit result and up to three 32-bit inputs.
Words ptx(const std::string& text, std::vector<Words> inputs) {
  std::string constraints = "=r";
  std::string operands;
  const char* names[] = {"%a", "%b", "%c"};
  for (size_t index = 0; index < inputs.size(); ++index) {
    constraints += ",r";
    operands += (index ? ", i32 " : "i32 ") + std::string(names[index]);
  }
  return evaluate<uint32_t, uint32_t>("  %r = call i32 asm sideeffect \"" + text + "\", \"" +
                                          constraints + "\"(" + operands + ")",
                                      std::move(inputs));
}

} // namespace

TEST_CASE("a carry chain adds 64 bits in halves") {
  const std::string body =
      "  %p = call { i32, i32 } asm \"{\\0A\\09add.cc.u32 $0, $2, $3;\\0A\\09addc.u32 $1, $4, 0;"
      "\\0A\\09}\", \"=r,=r,r,r,r\"(i32 %a, i32 %b, i32 %c)\n"
      "  %l = extractvalue { i32, i32 } %p, 0\n  %h = extractvalue { i32, i32 } %p, 1\n"
      "  %r = xor i32 %l, %h";
  auto got = evaluate<uint32_t, uint32_t>(body, {{0xffffffff, 1}, {2, 2}, {7, 7}});
  CHECK(got == Words{1 ^ 8, 3 ^ 7});
}

TEST_CASE("multiply-add with carry multiplies 64 bits") {
  const std::string body =
      "  %p = call { i32, i32 } asm \"mad.lo.cc.u32 $0, $2, $3, $4;  madc.hi.u32 $1, $2, $3, 0;\", "
      "\"=r,=r,r,r,r\"(i32 %a, i32 %b, i32 %c)\n"
      "  %l = extractvalue { i32, i32 } %p, 0\n  %h = extractvalue { i32, i32 } %p, 1\n"
      "  %l6 = zext i32 %l to i64\n  %h6 = zext i32 %h to i64\n  %s = shl i64 %h6, 32\n"
      "  %r = or i64 %s, %l6";
  auto got = evaluate<uint64_t, uint32_t>(body, {{0xdeadbeef}, {0xfeedface}, {0x90abcdef}});
  CHECK(got[0] == uint64_t(0xdeadbeef) * 0xfeedface + 0x90abcdef);
}

TEST_CASE("bit instructions") {
  CHECK(ptx("bfe.u32 $0, $1, 4, 8;", {{0x12345678}}) == Words{0x67});
  CHECK(ptx("bfe.s32 $0, $1, 28, 8;", {{0x92345678}}) == Words{0xfffffff9});
  CHECK(ptx("bfi.b32 $0, $1, $2, 8, 8;", {{0xab}, {0x12345678}}) == Words{0x1234ab78});
  CHECK(ptx("bfind.u32 $0, $1;", {{0x00010000, 0}}) == Words{16, ~0u});
  CHECK(ptx("bfind.shiftamt.s32 $0, $1;", {{0xffff0000}}) == Words{16});
  CHECK(ptx("brev.b32 $0, $1;", {{1}}) == Words{0x80000000});
  CHECK(ptx("popc.b32 $0, $1;", {{0xf0f0}}) == Words{8});
  CHECK(ptx("clz.b32 $0, $1;", {{0, 1}}) == Words{32, 31});
  CHECK(ptx("lop3.b32 $0, $1, $2, $3, 0x96;", {{0xff00}, {0xf0f0}, {0xcccc}}) ==
        Words{0xff00 ^ 0xf0f0 ^ 0xcccc});
  CHECK(ptx("shf.l.wrap.b32 $0, $1, $2, $3;", {{0x80000001}, {0x1}, {36}}) == Words{0x18});
  CHECK(ptx("shf.r.clamp.b32 $0, $1, $2, $3;", {{0x80000001}, {0x7}, {40}}) == Words{0x7});
  CHECK(ptx("bmsk.clamp.b32 $0, $1, $2;", {{4, 0, 30, 32}, {8, 40, 8, 1}}) ==
        Words{0xff0, ~0u, 0xc0000000, 0});
  CHECK(ptx("bmsk.wrap.b32 $0, $1, $2;", {{4, 33}, {40, 1}}) == Words{0xff0, 2});
  CHECK(ptx("slct.b32.s32 $0, $1, $2, $3;", {{1, 1}, {2, 2}, {0, ~0u}}) == Words{1, 2});
  CHECK(ptx("cnot.b32 $0, $1;", {{0, 7}}) == Words{1, 0});
  CHECK(ptx("shl.b32 $0, $1, $2;", {{1, 1}, {31, 32}}) == Words{0x80000000, 0});
}

TEST_CASE("dot products and lanes") {
  CHECK(ptx("dp4a.s32.s32 $0, $1, $2, $3;", {{0xff020304}, {0x01010101}, {10}}) == Words{18});
  CHECK(ptx("dp2a.lo.u32.u32 $0, $1, $2, $3;", {{0x00020003}, {0x00000504}, {1}}) == Words{23});
  CHECK(ptx("vadd4.u32.u32.u32.sat $0, $1, $2, $3;", {{0xf0010203}, {0x20010101}, {0}}) ==
        Words{0xff020304});
  CHECK(ptx("vabsdiff2.s32.s32.s32 $0, $1, $2, $3;", {{0xffff0005}, {0x00010007}, {0}}) ==
        Words{0x00020002});
}

TEST_CASE("declared registers and predicates") {
  const std::string text = "{ .reg .pred p, q; .reg .u32 t<2>; setp.lt.u32 p|q, $1, $2; "
                           "mov.u32 t0, 5; @p mov.u32 t0, 9; @!p add.u32 t0, t0, 1; "
                           "selp.u32 t1, 100, 200, q; add.u32 $0, t0, t1; }";
  CHECK(ptx(text, {{1, 3}, {2, 2}}) == Words{209, 106});
}

TEST_CASE("packing moves") {
  const std::string text =
      "{ .reg .b16 l, h; mov.b32 {l, h}, $1; mov.b32 $0, {h, l}; } // swaps the halves";
  CHECK(ptx(text, {{0x12345678}}) == Words{0x56781234});
}

TEST_CASE("half arithmetic rounds once") {
  const std::string text = "{ .reg .f16 x, y; cvt.rn.f16.f32 x, $1; cvt.rn.f16.f32 y, $2; "
                           "fma.rn.f16 x, x, y, x; cvt.f32.f16 $0, x; }";
  auto got = evaluate<float, float>("  %r = call float asm \"" + text +
                                        "\", \"=f,f,f\"(float %a, float %b)",
                                    {{1.0009765625f, 65504.0f}, {2.0f, 1.0f}});
  checkSame(got[0], 3.00390625f, "fma.f16"); // 3.0029296875 lies between two halves
  CHECK(got[1] > 1e30f);
}

TEST_CASE("a multiplication and addition of halves takes one addition") {
  const std::string body = "  %h = bitcast i16 %a to half\n  %g = bitcast i16 %b to half\n"
                           "  %f = bitcast i16 %c to half\n"
                           "  %s = call half @llvm.nvvm.fma.rn.f16(half %h, half %g, half %f)\n"
                           "  %r = bitcast half %s to i16";
  const std::string declaration = "declare half @llvm.nvvm.fma.rn.f16(half, half, half)";
  // 2^15 + 2^-48, (1 + 2^-10)^2 - 1 - 2^-9, 2^15 * 2 - 17 (between two halves), 2^-24 * 0.5 +
  // 2^-24.
  auto got = evaluate<uint16_t, uint16_t>(body,
                                          {{0x0001, 0x3c01, 0x7800, 0x0001},
                                           {0x0001, 0x3c01, 0x4000, 0x3800},
                                           {0x7800, 0xbc02, 0xcc40, 0x0001}},
                                          declaration);
  CHECK(got == std::vector<uint16_t>{0x7800, 0x0010, 0x7bff, 0x0002});
  const std::string ir =
      vectorisedIr(kPreamble + declaration +
                       "\ndefine ptx_kernel void @k(ptr %o, half %a, half %b, half %c) {\n"
                       "  %s = call half @llvm.nvvm.fma.rn.f16(half %a, half %b, half %c)\n"
                       "  store half %s, ptr %o\n  ret void\n}\n",
                   "k");
  CHECK(ir.find("fadd") != std::string::npos);
  CHECK(ir.find("fsub") == std::string::npos);
}

TEST_CASE("integers saturate") {
  const Words values = {uint32_t(-300), 300, 5};
  CHECK(ptx("cvt.sat.s8.s32 $0, $1;", {values}) == Words{uint32_t(-128), 127, 5});
  CHECK(ptx("cvt.sat.u8.s32 $0, $1;", {values}) == Words{0, 255, 5});
  CHECK(ptx("cvt.sat.s32.u32 $0, $1;", {{0x80000000}}) == Words{0x7fffffff});
}

TEST_CASE("numbers of eight bits round to the nearest, ties to even") {
  auto packed = [](const std::string& format, std::vector<float> values) {
    return evaluate<uint32_t, float>("  %h = call i16 asm \"cvt.rn.satfinite." + format +
                                         ".f32 $0, $2, $1;\", \"=h,f,f\"(float %a, float 2.0)\n"
                                         "  %r = zext i16 %h to i32",
                                     {std::move(values)});
  };
  // 2^-10 lies between zero and the smallest denormal, 2^-9; 0.015 rounds up to a normal number.
  CHECK(packed("e4m3x2", {1.0625f, 1.1875f, -500.0f, 0x1p-10f, 0x1.8p-9f, 0.0155f, NAN}) ==
        Words{0x4038, 0x403a, 0x40fe, 0x4000, 0x4002, 0x4008, 0x407f});
  CHECK(packed("e5m2x2", {1.125f, 1.375f, INFINITY, 0x1p-16f, -0x1p-14f}) ==
        Words{0x403c, 0x403e, 0x407b, 0x4001, 0x4084});
  CHECK(ptx("{ .reg .b16 l, h; mov.b32 {l, h}, $1; cvt.rn.f16x2.e4m3x2 $0, l; }",
            {{0x40fe, 0x0801, 0x7fff}}) == Words{0x4000df00, 0x24001800, 0x7fff7fff});
  CHECK(ptx("{ .reg .b16 l, h; mov.b32 {l, h}, $1; cvt.rn.f16x2.e5m2x2 $0, l; }", {{0x40fb}}) ==
        Words{0x4000fb00});
}

TEST_CASE("memory instructions reach generic memory") {
  const std::string body =
      "  %q = getelementptr i32, ptr %pb, i32 %i\n"
      "  call void asm sideeffect \"st.global.cg.u32 [$0], $1;\", \"l,r,~{memory}\"(ptr %q, i32 "
      "%a)\n"
      "  %o = call i32 asm sideeffect \"atom.global.add.u32 $0, [$1], 5;\", \"=r,l\"(ptr %q)\n"
      "  call void asm sideeffect \"fence.acq_rel.gpu;\", \"~{memory}\"()\n"
      "  %n = call i32 asm sideeffect \"ld.acquire.gpu.u32 $0, [$1+0];\", \"=r,l\"(ptr %q)\n"
      "  %m = mul i32 %o, 1000\n  %r = add i32 %m, %n";
  auto got = evaluate<uint32_t, uint32_t>(body, {{3, 4}, {0, 0}});
  CHECK(got == Words{3008, 4009});
}

TEST_CASE("hints to caches change nothing") {
  const auto got = evaluate<uint32_t, uint32_t>(
      "  %cell = alloca [4 x i32]\n  store i32 %a, ptr %cell\n"
      "  %r = call i32 asm sideeffect \"{ .reg .b64 p; .reg .b32 x; "
      "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 p, 0.5; "
      "ld.global.L1::no_allocate.L2::cache_hint.b32 x, [$1], p; add.u32 x, x, 1; "
      "st.global.L2::cache_hint.b32 [$1], x, p; "
      "red.global.add.L2::cache_hint.u32 [$1], 5, p; ld.global.b32 $0, [$1]; }\", "
      "\"=r,l\"(ptr %cell)",
      {{7, 9}});
  CHECK(got == Words{13, 15});
}

TEST_CASE("atomics of vectors add to each element") {
  const auto got = evaluate<float, float>(
      "  %cell = alloca [4 x float], align 16\n"
      "  store <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>, ptr %cell\n"
      "  %p = call { float, float } asm sideeffect \"red.global.v2.f32.add [$2], {$3, 0f40000000};"
      " red.relaxed.gpu.global.add.v4.f32 [$2], {$3, $3, $3, $3};"
      " atom.global.v2.f32.add {$0, $1}, [$2], {$3, $3};\", \"=f,=f,l,f\"(ptr %cell, float %a)\n"
      "  %x = extractvalue { float, float } %p, 0\n  %y = extractvalue { float, float } %p, 1\n"
      "  %z = load float, ptr %cell\n  %d = fmul float %y, 100.0\n  %e = fmul float %z, 10000.0\n"
      "  %s = fadd float %x, %d\n  %r = fadd float %s, %e",
      {{1, 2}});
  CHECK(got == std::vector<float>{3 + 500 + 40000, 5 + 600 + 70000});
}

TEST_CASE("vector loads") {
  const std::string body =
      "  %s = call { i32, i32 } asm \"ld.global.nc.v2.u32 {$0, $1}, [$2];\", \"=r,=r,l\"(ptr %pa)\n"
      "  %x = extractvalue { i32, i32 } %s, 0\n  %y = extractvalue { i32, i32 } %s, 1\n"
      "  %r = sub i32 %y, %x";
  CHECK(evaluate<uint32_t, uint32_t>(body, {{30, 50}}) == Words{20, 20});
}

TEST_CASE("special registers") {
  CHECK(ptx("mov.u32 $0, %laneid; add.u32 $0, $0, $1;", {{10, 10, 10}}) == Words{10, 11, 12});
  CHECK(ptx("mov.u32$0, %laneid; add.u32$0, $0, $1;", {{10, 10, 10}}) == Words{10, 11, 12});
  CHECK(ptx("mov.u32 $0, %lanemask_lt; or.b32 $0, $0, $1;", {{0, 0, 0}}) == Words{0, 1, 3});
  CHECK(ptx("mov.u32 $0, %ntid.x; or.b32 $0, $0, $1;", {{0, 0, 0}}) == Words{3, 3, 3});
}
