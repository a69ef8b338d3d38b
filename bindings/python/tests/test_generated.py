"""The generated files, the types and the stubs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path


import eitri
from conftest import ROOT, needed

PACKAGE = Path(__file__).resolve().parents[1]


def test_generated_files_are_up_to_date() -> None:
    subprocess.run([sys.executable, PACKAGE / "generate.py", "--check"], check=True)


def test_schemas_are_those_of_the_library() -> None:
    for name in ("description", "machine", "vectors", "finding", "rewritten", "statistics"):
        committed = json.loads((ROOT / "docs" / f"{name}.schema.json").read_text())
        assert eitri.schema(name) == committed


def test_methods_of_the_builder_are_those_of_the_statement() -> None:
    """An example can be far from the name of its method: in a list of examples, and before a paragraph about several."""
    page = (ROOT / "docs" / "description-languages.md").read_text()
    methods = {
        "function": "Builder::function", "function_instance": "Builder::function_instance", "union": "Builder::union",
        "subrange_type": "Builder::subrange_type", "describe_type": "Builder::describe_type", "code": "ControlFlow",
    }
    for statement, method in methods.items():
        section = page.split(f"\n## `{statement}`\n")[1].split("\n## ")[0]
        assert set(re.findall(r"^Rust: `(.*)`\.$", section, re.MULTILINE)) == {method}, statement


def test_each_statement_has_a_method() -> None:
    statements = eitri.schema("description")["properties"]["describe"]["items"]["properties"]
    for statement in statements:
        assert callable(getattr(eitri.Description, statement + "_" * (statement in {"class", "import"})))


def test_statements_are_equal_in_each_language() -> None:
    """The page has each example in JSON, Python, C and C++: the calls in Python are run, the texts of C and C++ compared."""
    page = (ROOT / "docs" / "description-languages.md").read_text()
    blocks = re.findall(r"^```(json|python|cpp|c)\n(.*?)^```\n", page, re.MULTILINE | re.DOTALL)
    groups = [blocks[start : start + 4] for start in range(0, len(blocks), 4)]
    statements = set(eitri.schema("description")["properties"]["describe"]["items"]["properties"])
    assert {next(iter(json.loads(group[0][1]))) for group in groups} == statements
    # The builder's method for each; rustdoc finds the methods that `description.md` names.
    assert len(re.findall(r"^Rust: `\w+(?:::\w+)?`\.$", page, re.MULTILINE)) == len(groups)
    for (first, text), (second, call), (third, c), (fourth, cpp) in groups:
        assert (first, second, third, fourth) == ("json", "python", "c", "cpp")
        expected = json.loads(text)
        d = eitri.Description("amdgpu-gfx1030-wave32")
        exec(call, {"d": d, "location": eitri.location, "value": eitri.value})
        [made] = json.loads(d.to_json())["describe"]
        [(statement, keys)] = made.items()
        if "id" not in expected[statement] and str(keys.get("id", "")).startswith("#"):
            # The package names what can be referred to by an id alone.
            del keys["id"]
        assert made == expected, call
        literals = re.findall(r'^    (".*");?$', c, re.MULTILINE)
        assert json.loads("".join(json.loads(literal) for literal in literals)) == expected, c
        # A raw string ends with its mark and nowhere else.
        raw = re.fullmatch(r'd\.add\(R"(\w*)\((.*)\)\1"\)\.value\(\);\n', cpp, re.DOTALL)
        assert raw and json.loads(raw[2]) == expected and f'){raw[1]}"' not in raw[2], cpp


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
