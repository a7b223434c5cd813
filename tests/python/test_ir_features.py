"""Features of code: counted in texts made for it, and compared with what LLVM counts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mneme.ir.embeddings import Embedder
from mneme.ir.features import FEATURES, OPCODES, code_features
from mneme.ir.flow import flow_of
from mneme.ir.module_text import read_module, split_list
from mneme.ir.types import bytes_of, type_at_start

ROOT = Path(__file__).resolve().parents[2]
KERNELS = sorted((ROOT / "tests" / "unit" / "compile_cpu" / "kernels").rglob("*.ll"))

REDUCE = """\
target triple = "nvptx64-nvidia-cuda"

%struct.Pair = type { i32, float, %"struct.In ner" }
%"struct.In ner" = type { [4 x double] }

@tile = internal addrspace(3) global [256 x float] undef, align 4
@weights = addrspace(4) constant [8 x float] zeroinitializer, align 4
@unused = addrspace(3) global [999 x float] undef, align 4

define float @help(float %a) {
  %1 = call float @llvm.fma.f32(float %a, float 2.000000e+00, float 1.000000e+00)
  ret float %1
}

define void @stranger() {
  ret void
}

define ptx_kernel void @reduce(ptr noundef %out, ptr byval(%struct.Pair) align 8 %pair, i32 %n, double %scale) #0 {
entry:
  %spare = alloca [16 x i32], align 4
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %slot = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i32 %tid
    #dbg_value(i32 %tid, !12, !DIExpression(), !13)
  br label %"a head", !dbg !1

"a head":                                         ; preds = %tail, %entry
  %i = phi i32 [ 0, %entry ], [ %next, %tail ]
  %from = getelementptr inbounds float, ptr %out, i32 %i
  %x = load float, ptr %from, align 4, !tbaa !2
  %w = load <4 x float>, ptr addrspace(4) @weights, align 16
  %y = call float @help(float %x)
  store float %y, ptr %slot, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %inner

inner:                                            ; preds = %inner, %"a head"
  %j = phi i32 [ 0, %"a head" ], [ %more, %inner ]
  %more = add nuw nsw i32 %j, 1
  %ends = icmp eq i32 %more, %n
  br i1 %ends, label %tail, label %inner

tail:                                             ; preds = %inner
  %next = add i32 %i, 1
  switch i32 %next, label %"a head" [
    i32 7, label %end
    i32 9, label %end
  ]

end:                                              ; preds = %tail, %tail
  call void @llvm.lifetime.start.p0(ptr %spare)
  %place = getelementptr i8, ptr %pair, i64 4
  %f = load volatile float, ptr %place, align 4
  %product = fmul contract <2 x double> zeroinitializer, splat (double 1.0)
  %old = atomicrmw fadd ptr %out, float %f seq_cst, align 4
  %given = call ptr @unknown(ptr %out)
  store i64 0, ptr %given, align 8
  store i8 0, ptr %spare, align 1
  call void asm sideeffect "bar.sync 0;", "~{memory}"()
  %called = call i32 %given(i32 1)
  ret void
}

declare float @llvm.fma.f32(float, float, float)
"""


def test_a_kernel_is_counted_with_what_it_reaches() -> None:
    found = code_features(REDUCE, "reduce")
    assert list(found) == list(FEATURES)
    assert {name: found[name] for name in EXPECTED} == EXPECTED


EXPECTED = {
    "functions": 2,
    "variables": 2,
    "shared_bytes": 1024,
    "local_bytes": 64,
    "arguments": 4,
    "arguments_pointer": 1,
    "arguments_struct": 1,
    "arguments_integer": 1,
    "arguments_double": 1,
    "argument_bytes": 8 + (4 + 4 + 32) + 4 + 8,
    "loads_global": 1,
    "loads_constant": 2,
    "loads_generic": 0,
    "load_bytes": 4 + 16 + 4,
    "stores_shared": 1,
    "stores_local": 1,
    "stores_generic": 1,
    "store_bytes": 4 + 8 + 1,
    "atomics_global": 1,
    "barriers": 1,
    "barriers_in_loops": 1,
    "index_reads": 1,
    "math_calls": 1,
    "fused_ops": 1,
    "float_ops": 1,
    "double_ops": 1,
    "vector_ops": 1,
    "int32_ops": 2,
    "own_calls": 1,
    "other_calls": 1,
    "indirect_calls": 1,
    "asm_calls": 1,
    "blocks": 6,
    "edges": 6,
    "branches": 2,
    "loops": 2,
    "innermost_loops": 1,
    "loop_depth": 2,
    "irreducible_edges": 0,
    "instructions_depth_1": 8 + 2,
    "instructions_depth_2": 4,
    "instructions_in_loops": 14,
    "loads_in_loops": 2,
    "stores_in_loops": 1,
    "op_switch": 1,
    "op_phi": 2,
    "phi_operands": 4,
    "op_call": 7,
    "cyclomatic": 6 - 6 + 4,
}


def test_without_a_kernel_all_is_counted() -> None:
    assert code_features(REDUCE)["functions"] == 3
    assert code_features(REDUCE)["shared_bytes"] == 4 * (256 + 999)


def test_linked_modules_are_counted_as_one() -> None:
    parts = (
        "define void @a() {\n  call void @b()\n  ret void\n}\n",
        "define void @b() {\n  ret void\n}\n",
    )
    found = code_features([parts[0], parts[1] + parts[0]], "a")
    assert (found["functions"], found["instructions"], found["own_calls"]) == (2, 3, 1)


def test_arguments_in_local_variables_lead_to_global_memory() -> None:
    text = """\
define ptx_kernel void @f(ptr %out) {
  %out.addr = alloca ptr, align 8
  store ptr %out, ptr %out.addr, align 8
  %1 = load ptr, ptr %out.addr, align 8
  store float 0.0, ptr %1, align 4
  ret void
}
"""
    found = code_features(text, "f")
    assert (found["stores_global"], found["stores_local"], found["loads_local"]) == (1, 1, 1)


def test_code_that_is_entered_twice_is_irreducible() -> None:
    text = """\
define void @f(i1 %c) {
  br i1 %c, label %a, label %b

a:
  br label %b

b:
  br i1 %c, label %a, label %end

end:
  ret void

never:
  br label %never
}
"""
    found = code_features(text, "f")
    assert (found["irreducible_edges"], found["loops"], found["blocks"]) == (1, 0, 4)


def test_damaged_text_is_counted_as_far_as_it_goes() -> None:
    assert code_features("")["functions"] == 0
    assert code_features("define void @f( {\n  ret void")["functions"] == 1
    assert code_features("\x00\x01 no IR\n}\n}")["instructions"] == 0


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("i32 0, ptr %a", ["i32 0", "ptr %a"]),
        ("{ i32, float } %x, [2 x { i8, i8 }] %y", ["{ i32, float } %x", "[2 x { i8, i8 }] %y"]),
        ('ptr @"a,b(", i32 1', ['ptr @"a,b("', "i32 1"]),
        ("", []),
    ],
)
def test_lists_are_split_at_their_own_commas(text: str, parts: list[str]) -> None:
    assert split_list(text) == parts


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("float", 4),
        ("<4 x double>", 32),
        ("[3 x [2 x i16]]", 12),
        ("{ i1, ptr, <{ i8, half }> }", 1 + 8 + 3),
        ("i65", 9),
        ("%opaque", 0),
        ("void", 0),
    ],
)
def test_types_have_sizes(kind: str, size: int) -> None:
    assert bytes_of(kind) == size


def test_a_type_that_holds_itself_has_an_end() -> None:
    assert bytes_of("%a", {"%a": "{ i32, %a }"}) == 4


def test_flags_are_no_types() -> None:
    assert type_at_start("nuw nsw <2 x i32> %a, %b") == "<2 x i32>"
    assert type_at_start("fast double %a, %b") == "double"


def opt(path: Path | str, passes: str, *options: str, text: str | None = None) -> tuple[str, str]:
    done = subprocess.run(
        [str(OPT), f"-passes={passes}", *options, str(path)],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout, done.stderr


OPT = next(filter(None, map(shutil.which, ("opt-22", "/usr/lib/llvm-22/bin/opt", "opt"))), None)


@pytest.mark.skipif(OPT is None, reason="there is no opt")
@pytest.mark.parametrize("passes", ["verify", "default<O1>", "default<O3>"])
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_llvm_counts_the_same(path: Path, passes: str) -> None:
    text, _ = opt(path, passes, "-S")
    _, told = opt("-", "print<func-properties>", "-disable-output", text=text)
    _, loops = opt("-", "print<loops>", "-disable-output", text=text)
    module, expected = read_module(text), {}
    for part in told.split("for function '")[1:]:
        name = part.partition("'")[0]
        facts = {
            key: int(value) for key, value in re.findall(r"^(\w+): (\d+)$", part, re.MULTILINE)
        }
        expected[name] = (
            facts["BasicBlockCount"],
            facts["TotalInstructionCount"],
            facts["LoadInstCount"],
            facts["StoreInstCount"],
            facts["MaxLoopDepth"],
        )
    counted = {}
    for name, function in module.functions.items():
        opcodes = [one.opcode for block in function.blocks for one in block.instructions]
        counts = (len(function.blocks), len(opcodes), opcodes.count("load"), opcodes.count("store"))
        counted[name] = (*counts, flow_of(function).depth)
        assert set(opcodes) <= set(OPCODES)
    # Functions without a name have none in what LLVM prints.
    named = {name for name in expected if name}
    assert len(named) > 0
    assert {name: counted[name] for name in named} == {name: expected[name] for name in named}
    found = sum(len(flow_of(one).loops) for one in module.functions.values())
    assert found == loops.count("Loop at depth")


EMBEDS = next(
    filter(None, map(shutil.which, ("llvm-ir2vec", "/usr/lib/llvm-22/bin/llvm-ir2vec"))), None
)


@pytest.mark.skipif(EMBEDS is None, reason="there is no llvm-ir2vec")
def test_embeddings_are_sums_over_functions(tmp_path: Path) -> None:
    vocabulary = tmp_path / "vocabulary.json"
    vocabulary.write_text(
        '{"Opcodes": {"Ret": [1, 2]}, "Types": {"VoidTy": [4, 8]}, "Arguments": {"Function": [0, 0]}}'
    )
    text = "define void @a() {\n  ret void\n}\ndefine void @b() {\n  ret void\n}\n"
    embedder = Embedder(vocabulary, str(EMBEDS))
    one, both = embedder.embed(text, {"a"}), embedder.embed(text, {"a", "b"})
    assert len(one) == 2
    assert one[0] > 0
    assert both == pytest.approx([2 * value for value in one])
    assert embedder.embed(text, set()) == []


def test_a_maximum_is_not_a_fused_operation() -> None:
    body = "".join(
        f"  %{number} = call float @{name}(float %a, float %a)\n"
        for number, name in enumerate(("llvm.nvvm.fmax.f", "fmaxf", "fmaf", "llvm.fma.f32"), 1)
    )
    found = code_features(f"define void @k(float %a) {{\n{body}  ret void\n}}\n", "k")
    assert found["fused_ops"] == 2
