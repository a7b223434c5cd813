// What kinds of numbers a kernel leaves behind its pointers, told by its code.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "kernels.h"

using namespace mneme;
using namespace mneme::test;
using nlohmann::json;

namespace {

json elementsOf(const std::string& kernel, const char* target = "sm_90") {
  compile::Request request;
  request.modules = {bytesOf("target triple = \"nvptx64-nvidia-cuda\"\n" + kernel)};
  request.kernel = "k";
  request.target = target;
  request.wantElements = true;
  const compile::Result result = compile::compile(request);
  CHECK(result.image.empty());
  return json::parse(result.statisticsJson)["elements"];
}

/// The one entry of a kernel with one pointer, or the first.
std::string typeOf(const std::string& body, const std::string& arguments = "ptr %p, double %d") {
  const json elements =
      elementsOf("define ptx_kernel void @k(" + arguments + ") {\n" + body + "\n ret void\n}\n");
  return elements.empty() ? "nothing" : elements[0]["type"].get<std::string>();
}

} // namespace

TEST_CASE("what is stored decides, whatever the way of the pointer") {
  CHECK(typeOf("store double %d, ptr %p") == "f64");
  CHECK(typeOf("%f = fptrunc double %d to float\n store float %f, ptr %p") == "f32");
  CHECK(typeOf("%h = fptrunc double %d to half\n store half %h, ptr %p") == "f16");
  CHECK(typeOf("%v = insertelement <2 x double> undef, double %d, i32 0\n"
               "store <2 x double> %v, ptr %p") == "f64");
  // As bytes, and through a local variable, as code has it before any pipeline.
  CHECK(typeOf("%a = alloca ptr\n store ptr %p, ptr %a\n %q = load ptr, ptr %a\n"
               "%c = getelementptr i8, ptr %q, i64 16\n store double %d, ptr %c") == "f64");
  CHECK(typeOf("%n = ptrtoint ptr %p to i64\n %m = add i64 %n, 8\n %q = inttoptr i64 %m to ptr\n"
               "store double %d, ptr %q") == "f64");
}

TEST_CASE("functions are followed, inlined or not") {
  const json elements = elementsOf(R"(
define internal void @set(ptr %to, float %x) noinline {
  store float %x, ptr %to
  ret void
}
define internal ptr @at(ptr %from, i64 %i) noinline {
  %q = getelementptr float, ptr %from, i64 %i
  ret ptr %q
}
define ptx_kernel void @k(ptr %p, float %x) {
  %q = call ptr @at(ptr %p, i64 3)
  call void @set(ptr %q, float %x)
  ret void
})");
  REQUIRE(elements.size() == 1);
  CHECK(elements[0]["type"] == "f32");
  CHECK(elements[0]["stored"] == true);
  CHECK(elements[0]["unordered"] == false);
}

TEST_CASE("atomics add up in no certain order, as instructions, in loops and in assembly") {
  const char* const forms[] = {
      "%o = atomicrmw fadd ptr %p, double %d monotonic",
      "call void asm sideeffect \"red.global.add.f64 [$0], $1;\", \"l,d\"(ptr %p, double %d)",
      "%x = load i64, ptr %p\n %y = bitcast i64 %x to double\n %z = fadd double %y, %d\n"
      "%w = bitcast double %z to i64\n"
      "%o = cmpxchg ptr %p, i64 %x, i64 %w monotonic monotonic"};
  for (const char* form : forms) {
    const json elements =
        elementsOf(std::string("define ptx_kernel void @k(ptr %p, double %d) {\n") + form +
                   "\n ret void\n}\n");
    CAPTURE(form);
    REQUIRE(elements.size() == 1);
    CHECK(elements[0]["type"] == "f64");
    CHECK(elements[0]["unordered"] == true);
  }
}

TEST_CASE("the largest of numbers does not depend on their order") {
  const json elements = elementsOf(R"(
define ptx_kernel void @k(ptr %p, float %x) {
  %bits = bitcast float %x to i32
  %o = atomicrmw max ptr %p, i32 %bits monotonic
  ret void
})");
  REQUIRE(elements.size() == 1);
  CHECK(elements[0]["type"] == "f32");
  CHECK(elements[0]["unordered"] == false);
}

TEST_CASE("fields of structures have one type, or none that fits all") {
  const std::string pair = "%q = getelementptr { double, i32 }, ptr %p, i64 2, i32 1\n"
                           "store i32 7, ptr %q\n store double %d, ptr %p";
  CHECK(typeOf(pair) == "f64");
  CHECK(typeOf("%q = getelementptr { double, float }, ptr %p, i64 2, i32 1\n"
               "store float 7.0, ptr %q\n store double %d, ptr %p") == "");
}

TEST_CASE("pointers in structures passed by value are told apart by their places") {
  const json elements = elementsOf(R"(
%args = type { ptr, i32, ptr }
define ptx_kernel void @k(ptr byval(%args) align 8 %s, double %d) {
  %p = load ptr, ptr %s
  %at = getelementptr inbounds %args, ptr %s, i32 0, i32 2
  %q = load ptr, ptr %at
  store double %d, ptr %p
  store i32 3, ptr %q
  ret void
})",
                                   "cpu");
  REQUIRE(elements.size() == 2);
  CHECK(elements[0] ==
        json({{"arg", 0}, {"offset", 0}, {"type", "f64"}, {"stored", true}, {"unordered", false}}));
  CHECK(elements[1]["offset"] == 16);
  CHECK(elements[1]["type"] == "u32");
}

TEST_CASE("variables are in the list by name, and what is only read says so") {
  const json elements = elementsOf(R"(
@total = addrspace(1) externally_initialized global double 0.0
define ptx_kernel void @k(ptr %p) {
  %x = load double, ptr %p
  store double %x, ptr addrspace(1) @total
  ret void
})");
  REQUIRE(elements.size() == 2);
  CHECK(elements[0]["stored"] == false);
  CHECK(elements[1]["global"] == "total");
  CHECK(elements[1]["type"] == "f64");
}
