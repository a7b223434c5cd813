# ruff: noqa: ANN001, ANN201, I001 - as users write
"""The steps of a replay by hand: link, transform, compile, load, launch, compare.

usage: modules.py RECORD.json RESULTS_DIR
"""

import json
import sys
from pathlib import Path

from mneme import llvm
from mneme.device import DeviceModule, get_device_arch, get_device_count, set_device
from mneme.llvm.initfini import initialize
from mneme.llvm.module import ModuleRef, parse_assembly, parse_bitcode
from mneme.page_manager import PageManagerRef
from mneme.profile import gpu_profile_start, gpu_profile_stop, init_profiler
from mneme.proteus import jit
from mneme.recorded_execution import RecordedExecution
from mneme.transforms.transform import remove_auto_initialize


def instructions(module, word):
    return sum(word in line for line in str(module).splitlines())


def main():
    initialize()
    record = RecordedExecution.from_json(sys.argv[1])
    (kernel,) = record.values()
    name = kernel.kernel_name
    set_device(0)
    init_profiler()
    arch = get_device_arch()

    modules = [parse_bitcode(Path(one).read_bytes()) for one in record.llvm_files]
    module = jit.link_llvm_modules(modules, name, True, True)
    assert isinstance(module, ModuleRef)
    sizes = {"linked": len(str(module))}
    jit.pruneIR(module)
    jit.internalize(module, name)
    remove_auto_initialize(module)
    with kernel.prologue as before, PageManagerRef(0, record.va_addr, record.va_size) as pages:
        jit.specialize_args(
            module, 0, name, before.args, before.num_args, kernel.available_specializations
        )
        jit.specialize_dims(module, 0, name, kernel.grid_dim, kernel.block_dim)
        jit.set_launch_bounds(module, 0, name, kernel.block_dim.x, 1)
        bounds = "maxntid" in str(module)
        jit.optimize(module, arch, 3, 3)
        sizes["optimized"] = len(str(module))
        module = parse_assembly(str(module))
        image = jit.codegen_object(module, arch, 3)
        function = DeviceModule.from_MemBuffer(image).get_function(name)
        pages.load(before)
        unchanged = pages.holds(kernel.epilogue)
        gpu_profile_start()
        time = function.launch(kernel.grid_dim, kernel.block_dim, before.args, kernel.shared_mem)
        gpu_profile_stop()
        verified = pages.holds(kernel.epilogue)
        times = function.profile(kernel.grid_dim, kernel.block_dim, before.args, iterations=3)
    print(
        json.dumps(
            {
                "arch": arch,
                "devices": get_device_count(),
                "sizes": sizes,
                "bounds": bounds,
                "before": unchanged,
                "verified": verified,
                "times": [time, *times],
                "usage": [function.local_mem, function.const_mem, function.reg_usage],
                "method": jit.get_proteus_codegen_method(),
                "llvm": list(llvm.llvm_version_info),
            }
        )
    )


if __name__ == "__main__":
    main()
