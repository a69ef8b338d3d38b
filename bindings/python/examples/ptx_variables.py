"""PTX with variables, for NVIDIA's debugger.

    python ptx_variables.py OUT.ptx

The text is `examples/data/cuda_kernel.ptx`, which an optimizing compiler could write. Positions are numbers of
instructions: a variable is in a register from the position after the instruction that writes it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import eitri
from eitri import location, value

PTX = Path(__file__).resolve().parents[3] / "examples" / "data" / "cuda_kernel.ptx"
SIZE = 22


def describe() -> eitri.Description:
    """The kernel's variables: parameters, a register of the thread, and a value that is spilled to local memory."""
    d = eitri.Description("nvptx-sm_80")
    unit = d.unit("cuda_kernel.cu", language="C_plus_plus", directory=".", producer="by hand; eitri")
    real = d.base_type(unit, "float", "float", 32)
    unsigned = d.base_type(unit, "unsigned int", "unsigned", 32)
    pointer = d.pointer(unit, to=real)

    d.variable(unit, "count", unsigned, external=True, always=location.memory("global", value.address("count", 0)))
    kernel = d.function(unit, "scale", code={"symbol": "scale", "bytes": SIZE}, kernel=True, declared=[unit, 9])
    for number, (name, type) in enumerate([("data", pointer), ("by", real), ("n", unsigned)]):
        home = location.memory("param", value.address(f"scale_param_{number}", 0))
        d.parameter(kernel, name, type, live=[[0, SIZE, home]])
    d.variable(kernel, "i", unsigned, live=[[4, 15, location.per_lane("%r2")]])
    # In a register and in its slot while the register is read, then in the slot alone.
    slot = location.memory("local", value.address("depot", 4))
    register = location.per_lane("%f2")
    d.variable(kernel, "was", real, live=[[10, 11, register], [11, 12, [register, slot]], [12, 18, slot]])
    d.rows(kernel, [[0, unit, 9], [3, unit, 11], [6, unit, 13], [13, unit, 15], [20, unit, 17], [21, unit, 19]])
    return d


def main(out: str) -> None:
    """Adds the description to the text, checks it, and assembles it where ptxas is there."""
    d = describe()
    text = eitri.attach(d, PTX)
    for warning in text.warnings:
        print(warning)
    report = eitri.check(d, text)
    print(report)
    if not report:
        sys.exit(1)
    Path(out).write_bytes(text.data)
    if shutil.which("ptxas"):
        cubin = Path(out).with_suffix(".cubin")
        subprocess.run(["ptxas", "-arch=sm_80", "-g", out, "-o", cubin], check=True)
        print(eitri.check(d, cubin))
        print(f"{len(eitri.lint(cubin).errors)} errors in the cubin")


if __name__ == "__main__":
    main(sys.argv[1])
