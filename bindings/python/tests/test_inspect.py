"""Objects of any producer: findings, coverage, pages, text, rewritten."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import eitri
from conftest import DATA, GOLDENS, command, program

SAXPY = DATA / "saxpy.o"


def findings_of_command(file: Path) -> list[dict[str, object]]:
    run = subprocess.run([command(), "lint", "--format", "json", file], capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.parametrize("name", ["k04_diverge.o", "k06_calls.o", "squares.o", "uspill.o", "compiled"])
def test_findings_are_those_of_the_command(name: str, diverge: Path) -> None:
    file = diverge if name == "compiled" else DATA / name
    expected = findings_of_command(file)
    report = eitri.lint(file)
    assert [(item.code, item.variable, item.offset, item.fingerprint) for item in report] == [
        (item["code"], item["variable"], item["offset"], item["fingerprint"]) for item in expected
    ]
    for item, keys in zip(report, expected, strict=True):
        assert (item.level, item.function, item.unit, item.written, item.meant) == (
            keys["level"], keys["function"], keys["unit"], keys["written"], keys["meant"],
        )


def test_finding_has_a_field_for_each_key_of_the_schema() -> None:
    keys = set(eitri.schema("finding")["properties"])
    # The version is that of the JSON; the characters at fault are a key of the expression.
    assert set(eitri.Finding.__slots__) == keys - {"version"} | {"fault"}


def test_finding_has_its_evidence(diverge: Path) -> None:
    # LLVM's location of a value in a register is memory at the address in the register: see README.
    report = eitri.lint(diverge)
    finding = next(item for item in report if item.code == "register-as-memory")
    assert finding.level == "error" and finding.variable is not None
    assert finding.expression is not None and finding.fault is not None
    assert "bregx" in finding.expression[finding.fault.start : finding.fault.stop]
    assert any("sets v" in fact for fact in finding.evidence)
    assert finding in report.errors and report.count("register-as-memory") == report.counts()["register-as-memory"]
    assert finding.declared is not None and finding.declared[0].endswith("k04_diverge.cl")


def test_first_findings_are_a_part_of_all(diverge: Path) -> None:
    every, first = eitri.lint(diverge), eitri.lint(diverge, first=True)
    topics = {(item.code, item.unit, item.function, item.variable) for item in every}
    assert len(first) <= len(every)
    assert {(item.code, item.unit, item.function, item.variable) for item in first} == topics


def test_function_without_findings_is_named(diverge: Path) -> None:
    with pytest.raises(eitri.Error) as raised:
        eitri.lint(diverge, only=["no such function"])
    assert raised.value.kind == "UnknownName"
    with pytest.raises(TypeError, match="expected a list of names"):
        eitri.lint(diverge, only="diverge")


def test_statistics_are_those_of_llvm() -> None:
    dwarfdump = program("llvm-dwarfdump-19")
    run = subprocess.run([dwarfdump, "--statistics", DATA / "squares.o"], capture_output=True, text=True, check=True)
    theirs = json.loads(run.stdout)
    ours = eitri.stats(DATA / "squares.o").numbers
    assert {name: number for name, number in ours.items() if theirs.get(name) != number} == {}
    assert "#source variables" in ours


def test_statistics_have_functions_and_variables() -> None:
    found = eitri.stats(DATA / "squares.o")
    # `total` has no location at 0x18 and 0x19, counted by hand in the disassembly.
    assert (found.coverage.located, found.coverage.scope) == (149, 151)
    assert sum(function.coverage.scope for function in found.functions) == found.coverage.scope
    names = [variable.name for function in found.functions for variable in function.variables]
    assert "total" in names
    assert found.coverage.percent == pytest.approx(100 * found.coverage.sound / 151)
    assert eitri.stats(DATA / "squares.o", variables=False).functions[0].variables == []


def test_page_is_that_of_the_command(diverge: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    subprocess.run([command(), "report", diverge, "-o", out], check=True)
    page = eitri.report(diverge)
    assert page.html == out.read_text() and page.unreadable == []
    assert "<title>the diverging kernel</title>" in eitri.report(diverge.read_bytes(), name="the diverging kernel").html
    assert page._repr_html_().startswith("<iframe")


def test_dump_is_that_of_the_command() -> None:
    run = subprocess.run([command(), "dump", DATA / "squares.o"], capture_output=True, text=True, check=True)
    assert eitri.dump(DATA / "squares.o") == run.stdout


def test_fix_removes_the_errors(diverge: Path) -> None:
    before = eitri.lint(diverge)
    fixed = eitri.rewrite(diverge, fix=True)
    start = f"<eitri.Rewritten for llvm: {len(fixed.data)} bytes, DWARF 5, "
    assert repr(fixed).startswith(start) and f", fixes: {len(fixed.fixes)}, unfixed: 0," in repr(fixed), repr(fixed)
    assert len(repr(fixed)) < 200
    after = eitri.lint(fixed.data)
    assert before.count("register-as-memory") > 0 and after.count("register-as-memory") == 0
    assert after.errors == []
    fix = next(item for item in fixed.fixes if item.code == "register-as-memory")
    assert fix.before is not None and "xderef" in fix.before
    assert all("xderef" not in text for _, text in fix.after)
    assert fix.pcs is not None and fix.evidence
    assert fixed.sections[".debug_info"][1] > 0


def test_fix_keeps_the_code(tmp_path: Path, diverge: Path) -> None:
    objcopy = program("llvm-objcopy-19")
    texts = []
    for name, data in (("before", diverge.read_bytes()), ("after", eitri.rewrite(diverge, fix=True).data)):
        file = tmp_path / name
        file.write_bytes(data)
        out = tmp_path / f"{name}.text"
        subprocess.run([objcopy, "-O", "binary", "--only-section=.text", file, out], check=True)
        texts.append(out.read_bytes())
    assert texts[0] and texts[0] == texts[1]


def test_rewrite_is_that_of_the_command(tmp_path: Path, diverge: Path) -> None:
    out = tmp_path / "out.o"
    run: list[str | Path] = [command(), "rewrite", diverge, "--fix", "--for", "rocgdb", "-o", out]
    subprocess.run(run, capture_output=True, check=True)
    assert eitri.rewrite(diverge, fix=True, consumer="rocgdb").data == out.read_bytes()


def test_members_of_an_archive(tmp_path: Path) -> None:
    archive = tmp_path / "two.a"
    subprocess.run([program("ar"), "rc", archive, DATA / "squares.o", SAXPY], check=True)
    found = eitri.members(archive)
    assert found is not None and [member.name for member in found] == ["squares.o", "saxpy.o"]
    assert found[1].data == SAXPY.read_bytes()
    assert eitri.members(SAXPY) is None


def test_threads_give_the_same_findings() -> None:
    assert eitri.lint(DATA / "k06_calls.o", threads=1) == eitri.lint(DATA / "k06_calls.o", threads=4)


def test_codes_have_pages() -> None:
    codes = {code.name: code for code in eitri.lint_codes()}
    assert codes["register-as-memory"].level == "error" and codes["register-as-memory"].why
    assert set(codes) == set(eitri.schema("finding")["properties"]["code"]["enum"])


def test_vectors_pass() -> None:
    report = eitri.conform(GOLDENS / "conformance" / "05-stack-operations.json")
    assert report and report.outcomes and {item["outcome"] for item in report.outcomes} == {"passed"}
    vector = {
        "name": "wrong", "doc": "lit1", "spec": "DWARF 5, 2.5.1.1", "dialect": "dwarf5", "expr": "31", "result": "value",
        "expect": {"value": "0x2"},
    }
    failed = eitri.conform({"format": "eitri-vectors-1", "target": {"name": "x86_64"}, "vectors": [vector]})
    assert not failed and "wrong" in str(failed)


def archive(tmp_path: Path, diverge: Path) -> Path:
    """An archive with an object in which lint finds errors, an object without debug information, and a text."""
    bare = tmp_path / "bare.o"
    subprocess.run([program("llvm-objcopy-19"), "--strip-debug", diverge, bare], check=True)
    note = tmp_path / "note.txt"
    note.write_text("no object")
    out = tmp_path / "lib.a"
    subprocess.run([program("llvm-ar-19"), "rc", out, diverge, bare, note], check=True)
    return out


def test_archive_is_diagnosed_as_by_the_command(tmp_path: Path, diverge: Path) -> None:
    lib = archive(tmp_path, diverge)
    report = eitri.lint(lib)
    expected = findings_of_command(lib)
    assert [(item.file, item.code, item.offset) for item in report] == [
        (item["file"], item["code"], item["offset"]) for item in expected
    ]
    assert {item.file for item in report} == {f"{lib}({diverge.name})", f"{lib}(bare.o)"}
    # What is no object is said, as the command says it.
    assert [error.section for error in report.unreadable] == [f"{lib}(note.txt)"]
    with pytest.raises(eitri.Error, match="sacle"):
        eitri.lint(lib, only=["sacle"])


def test_archive_is_printed_by_members(tmp_path: Path, diverge: Path) -> None:
    lib = tmp_path / "lib.a"
    subprocess.run([program("llvm-ar-19"), "rc", lib, diverge, DATA / "squares.o"], check=True)
    text = eitri.dump(lib)
    assert text == f"({diverge.name}):\n{eitri.dump(diverge)}(squares.o):\n{eitri.dump(DATA / 'squares.o')}"


def test_archive_is_rewritten_in_place(tmp_path: Path, diverge: Path) -> None:
    lib = archive(tmp_path, diverge)
    fixed = eitri.rewrite_members(lib, fix=True)
    name = f"{lib}({diverge.name})"
    assert list(fixed.objects) == [name]
    assert fixed.objects[name].fixes == eitri.rewrite(diverge, fix=True).fixes
    members = {member.name: member.data for member in eitri.members(fixed) or []}
    assert members == {
        diverge.name: eitri.rewrite(diverge, fix=True).data,
        "bare.o": (tmp_path / "bare.o").read_bytes(),
        "note.txt": b"no object",
    }


def test_members_of_one_name_are_all_in_the_result(tmp_path: Path, diverge: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.o").write_bytes(diverge.read_bytes())
    lib = tmp_path / "lib.a"
    subprocess.run([program("llvm-ar-19"), "qc", lib, "one/x.o", "two/x.o"], check=True, cwd=tmp_path)
    assert len(eitri.members(lib) or []) == 2
    fixed = eitri.rewrite_members(lib, fix=True)
    assert list(fixed.objects) == [f"{lib}(x.o)", f"{lib}(x.o)#2"]
    first, second = fixed.objects.values()
    assert first.data == second.data and first.fixes == second.fixes


def test_archive_where_an_object_is_expected_is_named(tmp_path: Path, diverge: Path) -> None:
    lib = archive(tmp_path, diverge)
    for function in (eitri.stats, eitri.report, eitri.import_, eitri.rewrite):
        with pytest.raises(eitri.Error, match="a container of objects; expected one of them"):
            function(lib)
