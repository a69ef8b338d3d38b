"""What tests have in common."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import eitri
from eitri import location

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "examples" / "data"
GOLDENS = ROOT / "goldens"


def needed(what: str, is_there: object) -> None:
    """Skips a test without something that it needs; with CI=true it fails."""
    if is_there:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing; with CI=true it is needed")
    skipped = os.environ.get("EITRI_SKIPPED")
    if skipped:
        with open(skipped, "a") as file:
            file.write(f"{os.environ.get('PYTEST_CURRENT_TEST', 'a Python test')}: {what} is missing\n")
    pytest.skip(f"{what} is missing")


def program(name: str) -> str:
    """The path of a program."""
    path = shutil.which(name)
    needed(name, path)
    return path or ""


def command() -> Path:
    """The command `eitri`, which the tests of the workspace build."""
    path = Path(os.environ.get("EITRI", ROOT / "target" / "debug" / "eitri"))
    needed("the command eitri", path.exists())
    return path


@pytest.fixture(scope="session")
def diverge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kernel for gfx1030 that clang optimised: its locations of values in registers are memory at addresses there."""
    file = tmp_path_factory.mktemp("compiled") / "k04_diverge.o"
    flags = "-x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx1030 -nogpulib -O2 -g -Xclang -finclude-default-header"
    run: list[str | Path] = [program("clang-19"), *flags.split(), "-c", DATA / "k04_diverge.cl", "-o", file]
    subprocess.run(run, check=True)
    return file


@pytest.fixture
def scale() -> eitri.Description:
    """The kernel of README: a variable in each lane, and a scalar that is spilled into a lane."""
    d = eitri.Description("amdgpu-gfx1030-wave32")
    unit = d.unit("scale.cl")
    int32 = d.base_type(unit, "int", "signed", 32)
    kernel = d.function(unit, "scale", code={"symbol": "scale", "bytes": 0x28}, kernel=True)
    d.variable(kernel, "x", int32, live=[[0x04, 0x28, location.per_lane("v3")]])
    spilled = [[0x00, 0x0C, location.register("s4")], [0x0C, 0x28, location.lane("v40", 7)]]
    d.variable(kernel, "n", int32, live=spilled)
    return d
