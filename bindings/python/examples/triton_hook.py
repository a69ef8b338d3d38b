"""Right debug information for kernels that Triton compiles for AMD's processors.

    LLVM_EXTRACT_DI_LOCAL_VARIABLES=1 python triton_hook.py

`install` is the hook: from then on, each code object goes through `eitri.rewrite(fix=True)`. The rest of the file
compiles four kernels for gfx1100, which needs no GPU, and prints what a debugger could see before and after.
"""

from __future__ import annotations

import os
from typing import Any

# Triton keeps variables in debug information if this is set before it is imported.
os.environ.setdefault("LLVM_EXTRACT_DI_LOCAL_VARIABLES", "1")

import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import eitri
import triton_kernels


def fix_stage(*arguments: Any) -> tuple[str, str] | None:
    """Changes the last stage of a compilation. Without arguments, returns the key of the hook for Triton's cache."""
    if not arguments:
        return "eitri-fix", "eitri-fix"
    stages = arguments[1]
    if "hsaco" in stages:
        make = stages["hsaco"]
        stages["hsaco"] = lambda source, metadata: eitri.rewrite(make(source, metadata), fix=True).data
    return None


def install() -> None:
    """Installs the hook."""
    knobs.runtime.add_stages_inspection_hook = fix_stage


KERNELS: dict[str, tuple[dict[str, str], dict[str, int]]] = {
    "add": ({"x_ptr": "*fp32", "y_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32"}, {"B": 256}),
    "matmul": (
        {"a_ptr": "*fp32", "b_ptr": "*fp32", "c_ptr": "*fp32", "M": "i32", "N": "i32", "K": "i32", "alpha": "fp32"},
        {"BM": 32, "BN": 32, "BK": 32},
    ),
    "reduce_rows": ({"x_ptr": "*fp32", "o_ptr": "*fp32", "rows": "i32", "cols": "i32", "scale": "fp32"}, {"B": 256}),
    "scan_limit": ({"x_ptr": "*i32", "o_ptr": "*i32", "n": "i32", "limit": "i32", "step": "i32"}, {"B": 256}),
}


def compile_kernel(name: str) -> bytes:
    """Compiles a kernel for gfx1100, and returns the code object."""
    types, constants = KERNELS[name]
    signature = {**types, **dict.fromkeys(constants, "constexpr")}
    source = ASTSource(getattr(triton_kernels, name), signature, constants)
    kernel = triton.compile(source, target=GPUTarget("hip", "gfx1100", 32))
    hsaco: bytes = kernel.asm["hsaco"]
    return hsaco


def located(object: bytes, *, parameters: bool) -> tuple[int, int]:
    """The number of variables with a sound location, and the number of all."""
    variables = [variable for function in eitri.stats(object).functions for variable in function.variables]
    chosen = [variable for variable in variables if variable.is_parameter == parameters]
    return sum(variable.coverage.sound > 0 for variable in chosen), len(chosen)


def summary(object: bytes) -> str:
    """What a debugger could see."""
    findings = eitri.lint(object)
    coverage = eitri.stats(object).coverage
    parameters, others = located(object, parameters=True), located(object, parameters=False)
    return (
        f"{len(findings.errors)} errors, {findings.count('warning')} warnings, {findings.count('note')} notes; "
        f"parameters located {parameters[0]} of {parameters[1]}, other variables {others[0]} of {others[1]}; "
        f"sound {coverage.sound} of {coverage.scope} bytes"
    )


def main() -> None:
    """Compiles each kernel without the hook and with it."""
    before = {name: compile_kernel(name) for name in KERNELS}
    install()
    for name, object in before.items():
        print(f"{name}\n  before: {summary(object)}\n  after:  {summary(compile_kernel(name))}")


if __name__ == "__main__":
    main()
