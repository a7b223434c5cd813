#include <doctest/doctest.h>

#include "runtime/core/abi/variable_names.h"
#include "toolkit.h"

using namespace mneme;
using namespace mneme::test;

namespace {

const char* const kPointers = R"(
target triple = "nvptx64-nvidia-cuda"
@vtable = available_externally unnamed_addr constant [2 x ptr] [ptr @first, ptr @second]
@chosen = available_externally addrspace(1) externally_initialized global ptr @first
@__mneme_function_first = available_externally addrspace(1) externally_initialized constant ptr @first
@__mneme_function_second = available_externally addrspace(1) externally_initialized constant ptr @second
@__mneme_function_other = available_externally addrspace(1) externally_initialized constant ptr @other

define linkonce_odr i32 @first(ptr %this) {
  ret i32 11
}
define linkonce_odr i32 @second(ptr %this) {
  ret i32 22
}
define linkonce_odr float @other(float %x) {
  ret float %x
}

define ptx_kernel void @callAny(ptr %object, ptr %out) {
  %vptr = load ptr, ptr %object
  %function = load ptr, ptr %vptr
  %result = call i32 %function(ptr %object)
  store i32 %result, ptr %out
  ret void
}

define ptx_kernel void @callKnown(ptr %object, ptr %out) {
  %slot = alloca ptr
  store ptr @vtable, ptr %object
  store ptr getelementptr (ptr, ptr @vtable, i64 1), ptr %slot
  %entry = load ptr, ptr %slot
  %function = load ptr, ptr %entry
  %result = call i32 %function(ptr %object)
  store i32 %result, ptr %out
  ret void
}

define ptx_kernel void @callIfThere(ptr %function, ptr %out, i32 %count) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %end ]
  %word = load volatile i32, ptr %out
  %isOdd = trunc i32 %word to i1
  %isThere = icmp ne ptr %function, null
  %isWanted = and i1 %isOdd, %isThere
  br i1 %isWanted, label %call, label %end
call:
  %result = call i32 %function(ptr %out)
  store volatile i32 %result, ptr %out
  br label %end
end:
  %next = add i32 %i, 1
  %isMore = icmp slt i32 %next, %count
  br i1 %isMore, label %loop, label %exit
exit:
  ret void
}

define ptx_kernel void @hold(ptr %out, ptr %asked) {
  store ptr @other, ptr %out
  %same = icmp eq ptr %asked, @first
  %number = zext i1 %same to i32
  %next = getelementptr ptr, ptr %out, i64 1
  store i32 %number, ptr %next
  %value = load ptr, ptr addrspace(1) @chosen
  %last = getelementptr ptr, ptr %out, i64 2
  store ptr %value, ptr %last
  ret void
}
)";

constexpr uint64_t kFirst = 0x600000001000, kSecond = 0x600000001100, kOther = 0x600000001200,
                   kVtable = 0x600000001300, kChosen = 0x600000001400;

compile::Request requestFor(const char* kernel, bool isKnown, const char* passes = "default<O2>") {
  compile::Request request;
  request.modules = {bytesOf(kPointers)};
  request.kernel = kernel;
  request.target = "sm_90";
  request.passes = passes;
  request.wantIr = true;
  const auto place = [&](const char* name, uint64_t address) {
    request.placedGlobals.push_back({name, isKnown ? address : 0});
  };
  place("__mneme_function_first", kFirst);
  place("__mneme_function_second", kSecond);
  place("__mneme_function_other", kOther);
  place("vtable", kVtable);
  place("chosen", kChosen);
  return request;
}

std::string addressOf(uint64_t address) { return "inttoptr (i64 " + std::to_string(address) + " "; }

} // namespace

TEST_CASE("a pointer that is called is compared with the program's addresses of its candidates") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  for (const char* passes : {"default<O2>", "default<O0>", ""}) {
    CAPTURE(passes);
    const compile::Result result = compile::compile(requestFor("callAny", true, passes));
    CHECK(isCubin(result.image));
    CHECK(contains(result.ir, addressOf(kFirst)));
    CHECK(contains(result.ir, addressOf(kSecond)));
    CHECK_FALSE(contains(result.ir, "@other"));
    CHECK_FALSE(contains(result.ir, "@__mneme_function_"));
    CHECK_FALSE(contains(result.ir, "mneme.callee"));
    CHECK(contains(result.ir, "call void @llvm.trap()"));
  }
}

TEST_CASE("a pointer that turns out to be a constant is a direct call") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  const compile::Result result = compile::compile(requestFor("callKnown", true));
  CHECK(contains(result.ir, "store i32 22"));
  CHECK_FALSE(contains(result.ir, "icmp"));
  CHECK_FALSE(contains(result.ir, "trap"));
  CHECK_MESSAGE(contains(result.ir, "store ptr inttoptr (i64 105553116271360 to ptr)"), result.ir);
}

TEST_CASE("addresses of functions that are data are the program's") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  const compile::Result result = compile::compile(requestFor("hold", true));
  CHECK(contains(result.ir, addressOf(kOther)));
  CHECK(contains(result.ir, addressOf(kFirst)));
  CHECK(contains(result.ir, addressOf(kChosen)));
  CHECK_FALSE(contains(result.ir, "define internal"));
}

TEST_CASE("in a running program addresses of functions are found when the image is loaded") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  const auto placeOf = [](const char* name) { return "@" + placeVariable(name) + " "; };
  const compile::Result any = compile::compile(requestFor("callAny", false));
  CHECK(isCubin(any.image));
  CHECK(contains(any.ir, placeOf("__mneme_function_first")));
  CHECK(contains(any.ir, placeOf("__mneme_function_second")));
  // A function of another module may be what is meant.
  CHECK_FALSE(contains(any.ir, "trap"));
  const compile::Result known = compile::compile(requestFor("callKnown", false));
  CHECK(contains(known.ir, "store i32 22"));
  CHECK(contains(known.ir, placeOf("vtable")));
  const compile::Result hold = compile::compile(requestFor("hold", false));
  CHECK(contains(hold.ir, placeOf("__mneme_function_other")));
  CHECK_FALSE(contains(hold.ir, "define internal"));
}

TEST_CASE("without places a kernel has its own functions") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  for (const char* kernel : {"callAny", "callKnown", "hold"}) {
    compile::Request request = requestFor(kernel, true);
    request.placedGlobals.clear();
    const compile::Result result = compile::compile(request);
    CHECK(isCubin(result.image));
    CHECK_FALSE(contains(result.ir, "trap"));
    CHECK_FALSE(contains(result.ir, "mneme.callee"));
  }
}

TEST_CASE("a pointer that is not called may be anything") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  const compile::Result result = compile::compile(requestFor("callIfThere", true));
  const size_t look = result.ir.find("load volatile"), trap = result.ir.find("llvm.trap()");
  REQUIRE(look != std::string::npos);
  REQUIRE(trap != std::string::npos);
  CHECK_MESSAGE(look < trap, result.ir);
}
