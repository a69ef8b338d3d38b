"""SPIR-V modules."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import eitri
from conftest import DATA, ROOT, program
from eitri import spirv

MODULE = DATA / "saxpy.spv"


def words(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


def test_strip_takes_back_what_attach_adds(tmp_path: Path) -> None:
    bare = spirv.strip(MODULE)
    attached = spirv.attach(bare)
    assert len(attached.data) > len(bare)
    assert spirv.check(attached.data)
    assert "DebugFunction" in eitri.dump(attached.data) or "Function" in eitri.dump(attached.data)
    file = tmp_path / "out.spv"
    file.write_bytes(attached.data)
    subprocess.run([program("spirv-val"), file], check=True)
    text = subprocess.run([program("spirv-dis"), file], capture_output=True, text=True, check=True).stdout
    assert "OpenCL.DebugInfo.100" in text
    stripped = spirv.strip(attached.data)
    file.write_bytes(stripped)
    text = subprocess.run([program("spirv-dis"), file], capture_output=True, text=True, check=True).stdout
    assert "DebugFunction" not in text


def test_present_instructions_are_an_error() -> None:
    attached = spirv.attach(spirv.strip(MODULE)).data
    with pytest.raises(eitri.Error) as raised:
        spirv.attach(attached)
    assert raised.value.kind == "AlreadyPresent"
    assert spirv.check(spirv.attach(attached, replace=True).data)


def test_broken_rule_is_a_finding() -> None:
    attached = words(spirv.attach(spirv.strip(MODULE)).data)
    # The operand of the first instruction that names a source is an id beyond the bound.
    at = next(
        at for at in range(5, len(attached) - 6)
        if attached[at] & 0xFFFF == 12 and attached[at] >> 16 >= 6 and attached[at + 4] == 35
    )
    attached[at + 5] = attached[3] + 5
    report = spirv.check(b"".join(word.to_bytes(4, "little") for word in attached))
    assert not report and report.findings[0].rule == "id-range" and str(report.findings[0]) in str(report)


@pytest.mark.parametrize("data", [b"", b"123", b"\x03\x02\x23\x07", bytes(64)])
def test_no_module_is_an_error(data: bytes) -> None:
    for function in (spirv.attach, spirv.check, spirv.strip):
        with pytest.raises(eitri.Error):
            function(data)


def test_options_of_generation_need_no_description() -> None:
    d = eitri.Description("spirv-kernel64")
    with pytest.raises(TypeError, match="without a description"):
        spirv.attach(MODULE, d, path="a.cl")
    with pytest.raises(eitri.Error):
        spirv.attach(MODULE, d, reader="nobody")  # type: ignore[arg-type]


def test_description_with_ids_is_attached() -> None:
    page = (ROOT / "docs" / "description.md").read_text()
    example = page.split("# SPIR-V modules\n")[1].split("```json\n")[1].split("```")[0]
    description = eitri.Description.from_json(example)
    assert description.spirv is not None
    module = ROOT / "tests" / "spirv" / "kernels" / "saxpy.O2.spv"
    attached = spirv.attach(module, description, partial=True)
    assert spirv.check(attached.data)
    assert '"xi"' in eitri.dump(attached.data)
    # What the set for shaders cannot express is an error, unless it is omitted.
    with pytest.raises(eitri.Error, match="omitted: "):
        spirv.attach(module, description, reader="vulkan")
    assert spirv.attach(module, description, reader="vulkan", partial=True).omissions


def test_module_is_diagnosed() -> None:
    """As the command does: a module has code without debug instructions."""
    module = DATA / "saxpy.spv"
    assert [finding.code for finding in eitri.lint(module)] == ["no-debug-info"]
    assert not eitri.lint(eitri.spirv.attach(module))
