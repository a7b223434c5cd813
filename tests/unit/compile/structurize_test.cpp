// `structurizecfg` in pipelines: what it relies on runs before it.
#include <doctest/doctest.h>

#include "kernels.h"
#include "loaded_image.h"

using namespace mneme;
using namespace mneme::test;

namespace {

// Which of several values is stored depends on %n.
const char* const kSwitch = R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @sum(ptr %x, i32 %n) {
entry:
  switch i32 %n, label %other [ i32 3, label %three
                                i32 5, label %five ]
three:
  store i32 333, ptr %x
  br label %done
five:
  store i32 555, ptr %x
  br label %done
other:
  store i32 777, ptr %x
  br label %done
done:
  ret void
})";

// A loop that is entered at %first and at %second; %again leads to either.
const char* const kIrreducible = R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @sum(ptr %x, i32 %n) {
entry:
  %odd = trunc i32 %n to i1
  br i1 %odd, label %first, label %second
first:
  %kept = phi i32 [ 111, %entry ], [ 222, %second ], [ 444, %again ]
  %i = phi i32 [ %n, %entry ], [ %k, %second ], [ %j, %again ]
  %j = add i32 %i, 1
  %far = icmp sgt i32 %j, 99
  br i1 %far, label %done, label %again
again:
  %bit = and i32 %j, 3
  %on = icmp eq i32 %bit, 2
  br i1 %on, label %first, label %second
second:
  %l = phi i32 [ %j, %again ], [ %n, %entry ]
  %k = add i32 %l, 7
  %end = icmp sgt i32 %k, 99
  br i1 %end, label %done, label %first
done:
  %result = phi i32 [ %kept, %first ], [ 666, %second ]
  store i32 %result, ptr %x
  ret void
})";

compile::Request requestOf(const std::string& code, const std::string& passes) {
  compile::Request request;
  request.modules = {bytesOf(code)};
  request.kernel = "sum";
  request.target = "cpu";
  request.passes = passes;
  request.wantIr = true;
  return request;
}

/// What kSwitch and kIrreducible store.
int switched(int n) { return n == 3 ? 333 : n == 5 ? 555 : 777; }

int goneRound(int n) {
  int kept = 111;
  int i = n;
  int k = n;
  if (n % 2 == 0)
    goto second;
first:
  if (++i > 99)
    return kept;
  if (i % 4 == 2) {
    kept = 444;
    goto first;
  }
  k = i;
second:
  k += 7;
  if (k > 99)
    return 666;
  kept = 222;
  i = k;
  goto first;
}

void checkResults(const std::string& code, const std::string& passes, int (*expected)(int)) {
  CAPTURE(passes);
  const LoadedImage image(compile::compile(requestOf(code, passes)).image);
  for (int n = 0; n < 120; ++n) {
    CAPTURE(n);
    int result = 0;
    void* pointer = &result;
    void* arguments[] = {&pointer, &n};
    image.launch(1, 1, arguments);
    CHECK(result == expected(n));
  }
}

std::string errorOf(const std::string& passes) {
  return failureOf([&] { compile::compile(requestOf(kSwitch, passes)); }).message;
}

} // namespace

TEST_CASE("structurizecfg gets branches instead of a switch") {
  std::vector<std::string> pipelines = {
      "structurizecfg",
      "function(structurizecfg)",
      "default<O0>,function<eager-inv>(dce,structurizecfg)",
      "cgscc(function(structurizecfg))",
      "cgscc(structurizecfg)",
      "module(structurizecfg),globaldce",
      "globaldce,structurizecfg",
  };
  if (llvmMajor() > 19)
    pipelines.push_back("function(dce,structurizecfg<skip-uniform-regions>)");
  for (const std::string& passes : pipelines) {
    checkResults(kSwitch, passes, switched);
    CHECK_FALSE(contains(compile::compile(requestOf(kSwitch, passes)).ir, "switch i32"));
  }
  CHECK(contains(compile::compile(requestOf(kSwitch, "flatten-cfg")).ir, "switch i32"));
}

TEST_CASE("loops with two entries keep their values under structurizecfg") {
  checkResults(kIrreducible, "", goneRound);
  for (const char* passes :
       {"structurizecfg", "function(structurizecfg)", "cgscc(structurizecfg),default<O1>"})
    checkResults(kIrreducible, passes, goneRound);
}

TEST_CASE("what is wrong with a pipeline is said of the passes that it names") {
  const std::string error = errorOf("loop(structurizecfg)");
  CHECK(contains(error, "unknown loop pass 'structurizecfg'"));
  CHECK_FALSE(contains(error, "lower-switch"));
}
