#include <doctest/doctest.h>

#include "toolkit.h"

using namespace mneme;
using namespace mneme::test;

namespace {

const char* const kWithLines = R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @store(ptr %p) !dbg !4 {
  store i32 1, ptr %p, align 4, !dbg !7
  ret void, !dbg !8
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, isOptimized: true, emissionKind: KIND)
!1 = !DIFile(filename: "store.cu", directory: "/source")
!2 = !{i32 2, !"Dwarf Version", i32 2}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "store", scope: !1, file: !1, line: 3, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 4, column: 5, scope: !4)
!8 = !DILocation(line: 5, column: 1, scope: !4)
)";

} // namespace

TEST_CASE("optimised code keeps source lines, however much debug information the IR has") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  for (const char* kind : {"FullDebug", "LineTablesOnly", "DebugDirectivesOnly"}) {
    CAPTURE(kind);
    std::string ir = kWithLines;
    ir.replace(ir.find("KIND"), 4, kind);
    compile::Request request;
    request.modules = {bytesOf(ir)};
    request.kernel = "store";
    request.target = "sm_90";
    request.wantAssembly = true;
    const compile::Result result = compile::compile(request);
    CHECK(isCubin(result.image));
    CHECK(contains(result.assembly, ".loc\t1 4 5"));
    CHECK(contains(result.assembly, "store.cu"));
    CHECK_FALSE(contains(result.assembly, ", debug"));
    CHECK(contains(textOf(result.image), "store.cu"));
  }
}
