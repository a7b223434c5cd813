"""Results directories like those of `mneme tune`, made from a seed."""

from __future__ import annotations

import json
import random
import statistics
from pathlib import Path
from typing import Any

from mneme.mneme_types import ExperimentConfiguration, ExperimentResult, dim3

KERNEL = "diffuse<float, 2>(float const*, float*, int, int)"
SYMBOL = "_Z7diffuseIfLi2EEvPKfPfii"
PIPELINES = (
    "default<O1>",
    "default<O2>",
    "default<O3>",
    "function<eager-inv>(sroa,early-cse,simplifycfg),cgscc(inline),function<eager-inv>(gvn,licm)",
)
BASELINE_NS = 51_000.0


def _config(params: dict[str, Any]) -> ExperimentConfiguration:
    x, y = (int(n) for n in params["block_shape"].split("x")[:2])
    bounds = params["set_launch_bounds"]
    return ExperimentConfiguration(
        grid=dim3(2048 // x, 2048 // y),
        block=dim3(x, y),
        specialize=params["specialize"],
        set_launch_bounds=bounds,
        max_threads=x * y if bounds else 0,
        min_blocks_per_sm=params["min_blocks_per_sm"] if bounds else 0,
        passes=params["passes"],
        codegen_opt=params["codegen_opt"],
    )


def _time(params: dict[str, Any]) -> float:
    x, y = (int(n) for n in params["block_shape"].split("x")[:2])
    time = 40_000.0 + 9_000 * abs(x * y - 256) / 256 + (6_000 if x < 32 else 0)
    time += {"default<O1>": 9_000, "default<O2>": 1_200}.get(params["passes"], 0)
    return time * (0.93 if params["specialize"] else 1.0) + 700 * (3 - params["codegen_opt"])


def _result(rng: random.Random, time: float, *, registers: int) -> ExperimentResult:
    times = [round(rng.gauss(time, time * 0.008)) for _ in range(14)]
    measured = sorted(times[2:])
    return ExperimentResult(
        preprocess_ir_time=0.011,
        opt_time=0.052,
        codegen_time=0.031,
        obj_size=4096 + 64 * registers,
        exec_time=times,
        verified=True,
        executed=True,
        start_time="2026-11-21T17:00:00+00:00",
        reg_usage=registers,
        local_mem_usage=16 if registers > 60 else 0,
        spill_bytes=40 if registers > 60 else 0,
        shared_mem_usage=1024,
        const_mem_usage=544,
        device="cuda:0",
        timer="cupti",
        median_ns=round(statistics.median(measured)),
        time_ci_ns=[measured[2], measured[9]],
        iterations_used=12,
        image_hash=f"{rng.getrandbits(64):016x}",
    )


def _line(
    number: int, status: str, params: dict[str, Any], result: ExperimentResult
) -> dict[str, Any]:
    metric = statistics.fmean(result.exec_time[2:]) if status == "verified" else None
    return {
        "trial": number,
        "status": status,
        "config_hash": _config(params).hash(),
        "params": params,
        "config": _config(params).to_dict(),
        "result": {**result.to_dict(), "metric": metric},
        "metric": metric,
        "baseline_metric": BASELINE_NS,
        "speedup": BASELINE_NS / metric if metric else None,
    }


def trial(rng: random.Random, number: int) -> dict[str, Any]:
    params: dict[str, Any] = {
        "block_shape": rng.choice(["16x16x1", "32x8x1", "64x4x1", "32x16x1", "128x1x1"]),
        "passes": rng.choice(PIPELINES),
        "codegen_opt": rng.randint(1, 3),
        "specialize": rng.random() < 0.6,
        "set_launch_bounds": rng.random() < 0.5,
        "min_blocks_per_sm": rng.randint(1, 4),
    }
    kind = rng.random()
    failures = {
        0.03: ("compile_error", "LLVM ERROR: Cannot select: <bad & worse>"),
        0.06: ("runtime_error", "Worker crashed (exit code: -11) running on device 0"),
        0.08: ("failed_verification", "region 'out' differs at 17: expected 1.0, got 0.0"),
    }
    for limit, (status, error) in failures.items():
        if kind < limit:
            return _line(number, status, params, ExperimentResult(failed=True, error=error))
    result = _result(rng, _time(params), registers=rng.choice([32, 40, 48, 64]))
    return _line(number, "verified", params, result)


def ir(name: str, *, blocks: int, is_tuned: bool) -> str:
    lines = [f"; ModuleID = '{name}'", 'target triple = "nvptx64-nvidia-cuda"', ""]
    lines.append(
        f"define ptx_kernel void @{name}(ptr noundef %in, ptr noundef %out, i32 %width) {{"
    )
    for block in range(blocks):
        lines.append(f"block{block}:")
        if is_tuned and block % 5 == 2:
            lines.append(f"  %v{block} = load <4 x float>, ptr %in, align 16, !tbaa !{block}")
        else:
            lines.append(f"  %v{block} = load float, ptr %in, align 4, !tbaa !{block}")
        lines.append(f"  %s{block} = fmul contract float %v{block}, 2.000000e-01")
        lines.append(f"  br label %block{block + 1}")
    lines += [f"block{blocks}:", "  ret void", "}"]
    return "\n".join(lines) + "\n"


def ptx(*, blocks: int, is_tuned: bool) -> str:
    lines = [
        ".version 8.3",
        ".target sm_90",
        ".address_size 64",
        f".visible .entry {SYMBOL}(",
        ")",
        "{",
    ]
    for block in range(blocks):
        wide = "ld.global.nc.v4.f32" if is_tuned and block % 5 == 2 else "ld.global.f32"
        lines += [
            f"$L_{block}:",
            f"\t{wide} \t%f{block}, [%rd{block}];",
            f"\tmul.rn.f32 \t%f{block}, %f{block}, 0f3E4CCCCD;",
        ]
    return "\n".join([*lines, "\tret;", "}"]) + "\n"


def write_results(
    directory: Path,
    *,
    trials: int = 60,
    seed: int = 1,
    kernel: str = KERNEL,
    has_gain: bool = True,
    is_finished: bool = True,
    blocks: int = 40,
    none_verified: bool = False,
) -> Path:
    """Write the results of one launch; without a gain the final round finds none."""
    rng = random.Random(seed)
    directory.mkdir(parents=True)
    base = _result(rng, BASELINE_NS, registers=40)
    recorded = ExperimentConfiguration(grid=dim3(128, 128), block=dim3(16, 16), max_threads=0)
    lines = [trial(rng, number) for number in range(trials)]
    if none_verified:
        wrong = ExperimentResult(executed=True, mismatches=[{"region": "out", "element": 3}])
        lines = [_line(one["trial"], "failed_verification", one["params"], wrong) for one in lines]
    verified = [one for one in lines if one["status"] == "verified"]

    def write(name: str, data: Any) -> None:
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data, indent=2))

    record = {"record_database": "/data/rec/17.json", "record_id": "42", "kernel_name": SYMBOL}
    write(
        "config.json",
        {
            "record_database": "/data/rec/17.json",
            "sampler": "tpe",
            "trials": trials,
            "seed": seed,
            "metric": "mean",
        },
    )
    write("search_space.json", {"type": "builtin", "dimensions": {}})
    write(
        "baseline.json",
        {"config": recorded.to_dict(), "result": {**base.to_dict(), "metric": BASELINE_NS}},
    )
    write("trials.jsonl", "".join(json.dumps(one, sort_keys=True) + "\n" for one in lines))
    write("artifacts/baseline.ll", ir("diffuse", blocks=blocks, is_tuned=False))
    write("artifacts/baseline.s", ptx(blocks=blocks, is_tuned=False))
    if not is_finished:
        return directory
    write("artifacts/best.ll", ir("diffuse", blocks=blocks, is_tuned=True))
    write("artifacts/best.s", ptx(blocks=blocks, is_tuned=True))
    best = min(verified, key=lambda one: one["metric"], default=None)
    summary = {"status": "complete", "num_trials_completed": trials, "num_verified": len(verified)}
    write("summary.json", summary)
    if best is None or not has_gain:
        best = {
            "trial": -1,
            "params": {},
            "config": recorded.to_dict(),
            "result": base.to_dict(),
            "metric": BASELINE_NS,
        }
    ratio = round(0.99 * BASELINE_NS / best["metric"], 4)
    interval = {
        "ratio": ratio,
        "low": ratio - 0.008,
        "high": ratio + 0.009,
        "significant": ratio > 1.01,
        "rounds": 12,
    }
    same = next(
        (one for one in verified if one["config"]["block"] == {"x": 16, "y": 16, "z": 1}), best
    )
    write(
        "best.json",
        {
            "status": "complete",
            "trial": best["trial"],
            "speedup": ratio,
            "baseline_metric": BASELINE_NS,
            "best_metric": best["metric"],
            "metric": "mean",
            "params": best["params"],
            "config": best["config"],
            "result": best["result"],
            "record": record,
            "gain": interval,
            "same_launch": {
                "trial": same["trial"],
                "config": same["config"],
                "result": same["result"],
                "metric": same["metric"],
                "gain": {**interval, "ratio": 1.05},
            },
            "launch_rule": "cover",
            "facts": {"kernel_name": SYMBOL, "demangled_name": kernel},
            "weight": 1.0,
        },
    )
    return directory
