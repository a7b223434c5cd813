"""What PTX and machine code tell of a kernel."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mneme.errors import ArtifactCorrupt, NotFound
from mneme.machine_code import code_facts
from mneme.machine_code.disassembly import find_nvdisasm, opcodes_in, opcodes_of
from mneme.machine_code.ptx_features import PTX_FEATURES, accesses_of, ptx_features
from mneme.machine_code.ptx_text import read_ptx
from native_parts import needs_native

IMAGES = Path(__file__).resolve().parents[1] / "unit" / "embed" / "images"
PTXAS = Path(os.environ.get("CUDA_HOME", "/none"), "bin", "ptxas")

HEAD = ".version 8.3\n.target sm_90a, debug\n.address_size 64\n"
PTX = (
    HEAD
    + r"""
.file 1 "a; { b.cu"
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.extern .shared .align 16 .b8 dynamic[];
.shared .align 8 .f64 tile[16][4];
.shared .b32 unused[100];
.func (.param .b32 r) helper(.param .b32 a)
{ .reg .f64 %fd<3>; div.rn.f64 %fd1, %fd1, %fd2; call other, (); ret; }
.func other() { /* ld.global.b32 */ sqrt.approx.f32 %f1, %f1; ret; }
.func never() { mul.f64 %fd1, %fd1, %fd2; ret; }
.visible .entry k(.param .u64 p, .param .align 8 .b8 s[24])
.maxntid 64, 4 .minnctapersm 0x2 .maxnreg 40 .pragma "nounroll; {";
{
  .reg .pred %p<3>;
  .local .align 8 .b8 stack[48];
  .shared .align 4 .v2 .b32 pair, more[3];
  .loc 1 3 5, function_name $L__info, inlined_at 1 4 4
  ld.param.u64 %rd1, [p];
  mov.u64 %rd2, tile;
  mov.u64 %rd3, dynamic;
$OUTER: // a { brace
  .loc 1 4 5
  mov.u32 %r9, 0;
INNER: @!%p1 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
  { .reg .b32 t; fma.rn.f32 %f1, %f1, %f2, %f3; mad.lo.s32 t, t, t, t; }
  add.u16x2 %r1, %r1, %r2; or.pred %p1, %p1, %p2; cvt.rn.f32.s32 %f1, %r1;
  bar.sync 0; bar.warp.sync -1; barrier.cluster.arrive; membar.gl; fence.proxy.async;
  setp.lt.s32 %p1, %r1, 5; selp.b32 %r1, %r2, %r3, %p1;
  @%p1 bra INNER;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2}, {%r1, %r2}, {%r1}, {%f1, %f2};
  shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1; vote.sync.any.pred %p1, %p2, -1;
  st.shared.b64 [%rd2], %rd1;
  st.local.b32 [stack], %r1;
  @%p2 bra.uni $OUTER;
  bra DONE;
  { // callseq 0, 0
  .param .b32 param0; st.param.b32 [param0], %r1;
  call.uni (retval0), helper, (param0);
  ld.param.b32 %r1, [retval0];
  }
  call (retval0), vprintf, (param0, param1);
  prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
  call (retval0), %rd7, (param0), prototype_0;
  targets: .branchtargets DONE, LATER;
  brx.idx %r1, targets;
LATER: tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}]; mbarrier.init.shared.b64 [%r1], 1;
DONE: ret;
}
"""
)


def told(text: str, kernel: str = "k") -> dict[str, int]:
    return {name: one for name, one in ptx_features(read_ptx(text), kernel).items() if one}


def test_ptx_tells_its_instructions_by_kind() -> None:
    found = told(PTX)
    assert found == {
        "functions": 3,
        "instructions": 39,
        "instructions_in_loops": 21,
        "loops": 2,
        "branches": 3,
        "jumps": 1,
        "float_ops": 2,
        "double_ops": 1,
        "fused_ops": 1,
        "special_ops": 1,
        "divisions": 1,
        "tensor_ops": 1,
        "int32_ops": 1,
        "int16_ops": 1,
        "predicate_ops": 1,
        "comparisons": 2,
        "conversions": 1,
        "moves": 3,
        "parameter_accesses": 3,
        "loads_in_loops": 1,
        "stores_in_loops": 1,
        "textures": 1,
        "barriers": 1,
        "barriers_in_loops": 1,
        "warp_barriers": 1,
        "cluster_barriers": 1,
        "mbarriers": 1,
        "fences": 2,
        "shuffles": 1,
        "votes": 1,
        "own_calls": 2,
        "other_calls": 1,
        "indirect_calls": 1,
        "other_instructions": 3,
        "shared_bytes": 512 + 8 + 24,
        "local_bytes": 48,
    }
    assert accesses_of(read_ptx(PTX), "k") == {
        "ld.global.16": 1,
        "st.local.4": 1,
        "st.shared.8": 1,
    }


def test_results_tell_how_wide_arithmetic_is() -> None:
    def kinds(body: str) -> dict[str, int]:
        found = told(f"{HEAD}.entry k() {{ {body} }}")
        return {name: count for name, count in found.items() if name.startswith("int")}

    wide = ("mul.wide.s32 %rd1, %r1, 4;", "mad.wide.u32 %rd1, %r1, 4, %rd2;")
    assert kinds(" ".join(wide)) == {"int64_ops": 2}
    assert kinds("mul.wide.u16 %r1, %rs1, %rs2; mul.lo.s32 %r1, %r1, 4;") == {"int32_ops": 2}
    counting = ("popc.b64 %r1, %rd1;", "clz.b64 %r1, %rd1;", "bfind.shiftamt.u64 %r1, %rd1;")
    assert kinds(" ".join(counting)) == {"int32_ops": 3}
    assert kinds("brev.b64 %rd1, %rd2; mul.hi.u64 %rd1, %rd1, %rd2;") == {"int64_ops": 2}


def test_asynchronous_copies_tell_their_size() -> None:
    copies = (
        "cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16;",
        "cp.async.ca.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x10, %r2;",
        "@%p1 cp.async.ca.shared.global [%r1], [%rd1], 4;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];",
        "cp.async.commit_group; cp.async.wait_group 0;",
    )
    module = read_ptx(f"{HEAD}.entry k() {{ {' '.join(copies)} }}")
    assert accesses_of(module, "k") == {
        "cp.async.shared.0": 1,
        "cp.async.shared.16": 2,
        "cp.async.shared.4": 1,
    }


def test_every_instruction_is_of_one_kind() -> None:
    details = ("special_ops", "divisions", "fused_ops", "functions", "instructions", "loops")
    for name in ("reads.ptx", "waits.ptx", "launches.ptx", "uses.ptx"):
        module = read_ptx((IMAGES / name).read_text())
        for kernel in (one.name for one in module.functions.values() if one.is_kernel):
            found = ptx_features(module, kernel)
            kinds = sum(
                count
                for kind, count in found.items()
                if kind not in details and not kind.endswith(("_bytes", "_in_loops"))
            )
            assert kinds + sum(accesses_of(module, kernel).values()) == found["instructions"]
            assert found["instructions"] > 0


def test_ptx_tells_its_version_and_what_is_declared() -> None:
    ptx = code_facts_of_ptx(PTX)
    assert (ptx.version, ptx.target) == ("8.3", "sm_90a")
    assert (ptx.max_threads, ptx.exact_threads, ptx.min_blocks) == (256, 0, 2)
    assert (ptx.max_registers, ptx.cluster_blocks, ptx.max_cluster_blocks) == (40, 0, 0)
    bounds = ".reqntid 32 .reqnctapercluster 2, 2 .maxclusterrank 8"
    ptx = code_facts_of_ptx(f"{HEAD}.entry k() {bounds} {{ ret; }}")
    assert (ptx.max_threads, ptx.exact_threads) == (0, 32)
    assert (ptx.cluster_blocks, ptx.max_cluster_blocks) == (4, 8)


def code_facts_of_ptx(text: str):  # noqa: ANN201 - told below
    from mneme.machine_code.facts import _ptx_facts  # noqa: PLC0415 - without native code

    return _ptx_facts("k", text)


def test_loops_are_labels_that_a_branch_goes_back_to() -> None:
    def loops(body: str) -> tuple[int, int]:
        found = ptx_features(read_ptx(f"{HEAD}.entry k() {{ {body} }}"), "k")
        return found["loops"], found["instructions_in_loops"]

    assert loops("L: @%p bra L; ret;") == (1, 1)
    assert loops("@%p bra L; add.u32 %r1, %r1, 1; L: ret;") == (0, 0)
    assert loops("L: @%p bra L; @%q bra L; ret;") == (1, 2)
    # The same label in two blocks, as inline assembly has it.
    block = "{ L: @%p bra L; } add.u32 %r1, %r1, 1;"
    assert loops(block + block) == (2, 2)
    assert loops("L: ret; t: .branchtargets L, M; brx.idx %r1, t; M: ret;") == (1, 2)


def test_text_that_is_cut_off_or_wrong_is_no_fault() -> None:
    names = set(PTX_FEATURES)
    for size in range(0, len(PTX), 3):
        assert set(ptx_features(read_ptx(PTX[:size]), "k")) == names
        assert set(ptx_features(read_ptx(PTX[:size] + PTX[size + 1 :]), "k")) == names
    nines = "9" * 5000
    for text in (
        f"{HEAD}.shared .b8 a[{nines}];.entry k() .maxntid {nines} {{ ld.v9.b{nines} a; }}",
        HEAD + ".entry k() {" * 50,
        HEAD + "}" * 50 + '"' + "/*",
        "\0",
        "\N{SUPERSCRIPT TWO}.entry k() { .shared .b8 a[\N{SUPERSCRIPT TWO}]; }",
    ):
        assert set(ptx_features(read_ptx(text), "k")) == names
    with pytest.raises(ArtifactCorrupt, match="of kernel 'k' is damaged: it ends within a func"):
        code_facts_of_ptx(PTX[:-5])
    with pytest.raises(NotFound, match="the PTX has no kernel 'k'"):
        code_facts_of_ptx(PTX[: PTX.index("visible .entry")])


@needs_native
@pytest.mark.parametrize("name", ["uses.cubin", "uses_12.cubin"])
def test_machine_code_tells_what_it_uses(name: str) -> None:
    uses = code_facts("uses", (IMAGES / name).read_bytes()).resources
    assert uses is not None
    assert (uses.target, uses.registers, uses.register_limit) == ("sm_80", 14, 128)
    assert (uses.shared_bytes, uses.local_bytes, uses.barriers) == (4096, 400, 4)
    assert (uses.constant_bytes, uses.own_constant_bytes) == ({0: 364, 3: 64}, 64)
    assert (uses.max_threads, uses.exact_threads, uses.code_bytes) == (256, 0, 1024)
    with pytest.raises(NotFound, match="the machine code has no kernel 'other'"):
        code_facts("other", (IMAGES / name).read_bytes())
    whole = (IMAGES / name).read_bytes()
    assert code_facts("uses", whole[:-100]).resources is None
    # The attribute of `.maxntid`, with 12 bytes, becomes that of `.reqntid`.
    most, exact = (bytes((4, kind, 12, 0, 128, 0, 0, 0, 2)) for kind in (5, 16))
    assert whole.count(most) == 1
    uses = code_facts("uses", whole.replace(most, exact)).resources
    assert uses is not None
    assert (uses.max_threads, uses.exact_threads) == (256, 256)


@needs_native
@pytest.mark.skipif(not PTXAS.is_file(), reason="CUDA_HOME names no toolkit with ptxas")
@pytest.mark.parametrize("arch", ["sm_75", "sm_86", "sm_90", "sm_100", "sm_120"])
def test_machine_code_tells_what_ptxas_told(tmp_path: Path, arch: str) -> None:
    text = (IMAGES / "uses.ptx").read_text().replace("sm_80", "sm_75")
    source, cubin = tmp_path / "k.ptx", tmp_path / "k.cubin"
    source.write_text(text)
    command = [PTXAS, f"-arch={arch}", "-v", source, "-o", cubin]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    (said,) = (one for one in done.stderr.splitlines() if "4096 bytes smem" in one)
    uses = code_facts("uses", cubin.read_bytes()).resources
    assert uses is not None
    assert f"Used {uses.registers} registers, used {uses.barriers} barriers" in said
    assert f"{uses.local_bytes} bytes cumulative stack size, {uses.shared_bytes} bytes sm" in said
    assert uses.target == arch


LISTING = """\t.target\tsm_80
//--------------------- .text.uses               --------------------------
\t.section\t.text.uses,"ax",@progbits
uses:
.text.uses:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/              @!P0 BRA `(.L_x_3) ;
        /*0020*/             @!UP0 UIADD3 UR5, UP0, UR6, 0x14, URZ ;
.L_x_3:
        /*0030*/                   FFMA.FTZ R10, R11, -1.5707962512969970703, R0 ;
        /*0040*/                   FFMA R10, R11, R2, R0 ;
        /*0050*/                   NOP ;
//--------------------- .text.plain              --------------------------
.text.plain:
        /*0000*/                   EXIT ;
"""


def test_opcodes_are_counted_in_listings() -> None:
    assert opcodes_in(LISTING, "uses") == {"FFMA": 2, "BRA": 1, "MOV": 1, "UIADD3": 1}
    assert opcodes_in(LISTING, "plain") == {"EXIT": 1}
    assert opcodes_in(LISTING, "other") is None
    assert opcodes_in("", "uses") is None


def test_opcodes_are_told_where_a_program_lists_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = (IMAGES / "uses.cubin").read_bytes()
    program = tmp_path / "nvdisasm"
    monkeypatch.setenv("MNEME_NVDISASM", str(program))
    assert find_nvdisasm() is None
    assert opcodes_of(image, "uses") is None
    (tmp_path / "listing").write_text(LISTING)
    program.write_text(f"#!/bin/sh\n[ -f $2 ] && cat {tmp_path}/listing\n")
    program.chmod(0o755)
    assert opcodes_of(image, "plain") == {"EXIT": 1}
    assert opcodes_of(b"PTX", "plain") is None
    program.write_text("#!/bin/sh\nexit 1\n")
    assert opcodes_of(image, "plain") is None
