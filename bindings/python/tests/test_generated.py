"""The generated files, the types and the stubs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


import eitri
from conftest import ROOT, needed

PACKAGE = Path(__file__).resolve().parents[1]


def test_generated_files_are_up_to_date() -> None:
    subprocess.run([sys.executable, PACKAGE / "generate.py", "--check"], check=True)


def test_schemas_are_those_of_the_library() -> None:
    for name in ("description", "machine", "finding"):
        committed = json.loads((ROOT / "docs" / f"{name}.schema.json").read_text())
        assert eitri.schema(name) == committed


def test_each_statement_has_a_method() -> None:
    statements = eitri.schema("description")["properties"]["describe"]["items"]["properties"]
    for statement in statements:
        assert callable(getattr(eitri.Description, statement + "_" * (statement in {"class", "import"})))


def run_mypy(program: str, *arguments: str) -> None:
    found = subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True)
    needed("mypy", found.returncode == 0)
    environment = {**os.environ, "MYPYPATH": str(PACKAGE / "tests")}
    run = subprocess.run([sys.executable, "-m", program, *arguments], cwd=PACKAGE, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_examples_and_tests_are_typed() -> None:
    run_mypy("mypy", "--strict", "examples", "tests", "generate.py")


def test_stubs_agree_with_the_modules() -> None:
    run_mypy("mypy.stubtest", "eitri._eitri")


def test_everything_is_documented() -> None:
    for name in eitri.__all__:
        if name not in {"Data", "DescriptionLike", "MachineLike", "TargetLike"}:
            assert getattr(eitri, name).__doc__, name
