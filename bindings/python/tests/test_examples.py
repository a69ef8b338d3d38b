"""The examples, run as a reader would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path


import eitri
from conftest import needed, program

PACKAGE = Path(__file__).resolve().parents[1]
EXAMPLES = PACKAGE / "examples"


def module(name: str) -> None:
    """Needs a module of somebody else."""
    found = subprocess.run([sys.executable, "-c", f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"])
    needed(name, found.returncode == 0)


def run(*arguments: str | Path, **environment: str) -> str:
    """Runs an example, and returns what it prints."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=EXAMPLES, env={**os.environ, **environment}, capture_output=True, text=True,
        check=True,
    ).stdout


def test_compiler_writes_the_instructions_that_it_describes(tmp_path: Path) -> None:
    out = tmp_path / "tiny.o"
    assert run("rdna3_compiler.py", out).startswith("0 findings")
    objdump: list[str | Path] = [program("llvm-objdump-19"), "-d", "--mcpu=gfx1100", "--no-leading-addr", "--no-show-raw-insn", out]
    text = subprocess.run(objdump, capture_output=True, text=True, check=True).stdout
    found = [line.split("//")[0].strip() for line in text.splitlines() if line.startswith("\t")]
    assert found[:15] == [
        "s_load_b32 s2, s[0:1], null", "s_waitcnt lgkmcnt(0)", "v_mov_b32_e32 v42, v0", "v_mul_u32_u24_e32 v43, 3, v42",
        "v_cmp_gt_i32_e32 vcc_lo, s2, v43", "s_and_saveexec_b32 s6, vcc_lo", "v_add_nc_u32_e32 v43, s2, v43",
        "s_or_b32 exec_lo, exec_lo, s6", "v_mov_b32_e32 v0, v43", "s_getpc_b64 s[8:9]", "s_add_u32 s8, s8, 0xd4",
        "s_addc_u32 s9, s9, 0", "s_swappc_b64 s[30:31], s[8:9]", "v_mov_b32_e32 v45, v0", "s_endpgm",
    ]
    assert found[-3:] == ["v_add_nc_u32_e32 v2, v0, v0", "v_mov_b32_e32 v0, v2", "s_setpc_b64 s[30:31]"]
    assert eitri.lint(out).errors == []
    # Each lane has three times its number, as the source says.
    state = {"registers": {"v43": "".join((3 * lane).to_bytes(4, "little").hex() for lane in range(32))}, "lanes": 32}
    lanes = eitri.evaluate_lanes(out, "x", machine=state, pc="scale+0x18", target="amdgpu-gfx1100-wave32")
    assert [item.bytes for item in lanes if isinstance(item, eitri.Evaluation)] == [
        (3 * lane).to_bytes(4, "little") for lane in range(32)
    ]


def test_compiler_has_sixty_lines() -> None:
    text = (EXAMPLES / "rdna3_compiler.py").read_text()
    body = text[text.index("class Function") : text.index("    def describe(")]
    lines = [line for line in body.splitlines() if line.strip() and not line.strip().startswith(('"""', "#"))]
    assert len(lines) <= 60


def test_ptx_keeps_its_variables_in_a_cubin(tmp_path: Path) -> None:
    program("ptxas")
    text = run("ptx_variables.py", tmp_path / "out.ptx")
    assert "100.0 % located, 100.0 % readable" in text and "0 errors in the cubin" in text
    subprocess.run([program("nvdisasm"), "-g", tmp_path / "out.cubin"], capture_output=True, check=True)


def test_hook_fixes_what_triton_writes(tmp_path: Path) -> None:
    module("triton")
    text = run("triton_hook.py", TRITON_CACHE_DIR=str(tmp_path), TRITON_ALWAYS_COMPILE="1")
    parts = re.findall(
        r"^(\w+)\n  before: (\d+) errors.*?parameters located (\d+) of (\d+).*?sound (\d+) of (\d+).*\n"
        r"  after:  (\d+) errors.*?parameters located (\d+) of (\d+).*?sound (\d+) of (\d+)",
        text, re.M,
    )
    assert [part[0] for part in parts] == ["add", "matmul", "reduce_rows", "scan_limit"]
    for name, *numbers in parts:
        errors, located, parameters, _, scope, errors_after, located_after, after, _, scope_after = map(int, numbers)
        assert errors > 0 and errors_after == 0, name
        # Triton locates no parameter; each of them is in the arguments of the kernel.
        assert located == 0 and located_after == parameters == after, name
        assert scope == scope_after


def test_notebook_shows_report_and_steps(tmp_path: Path) -> None:
    module("nbconvert")
    module("ipykernel")
    notebook = EXAMPLES / "kernel.ipynb"
    assert all(not cell.get("outputs") for cell in json.loads(notebook.read_text())["cells"]), "outputs are not kept"
    run("-m", "nbconvert", "--to", "notebook", "--execute", notebook, "--output-dir", tmp_path, "--output", "out.ipynb")
    cells = json.loads((tmp_path / "out.ipynb").read_text())["cells"]
    shown = [output["data"] for cell in cells for output in cell.get("outputs", []) if "data" in output]
    assert any("is_clean=True" in "".join(data.get("text/plain", "")) for data in shown)
    assert any("<iframe" in "".join(data.get("text/html", "")) for data in shown)
    assert any("".join(data.get("image/svg+xml", "")).startswith("<svg") for data in shown)
    # The last cell has x in each lane.
    last = "".join(shown[-1]["text/plain"])
    assert [int(number) for number in re.findall(r"\d+", last)] == [3 * lane for lane in range(32)]
