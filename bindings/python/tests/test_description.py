"""Descriptions: made, written, compared, imported, derived."""

from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path

import pytest

import eitri
from conftest import DATA, ROOT, command, program
from eitri import location, value


def test_statements_are_those_of_the_format(scale: eitri.Description) -> None:
    # The objects are those that docs/description.md shows.
    assert scale.statements[:3] == [
        {"unit": {"name": "scale.cl"}},
        {"base_type": {"unit": "scale.cl", "name": "int", "encoding": "signed", "bits": 32}},
        {"function": {"in": "scale.cl", "name": "scale", "code": {"symbol": "scale", "bytes": 40}, "kernel": True}},
    ]
    assert scale.statements[4]["variable"]["live"] == [[0, 12, {"register": "s4"}], [12, 40, {"lane": ["v40", 7]}]]


def test_nodes_are_those_of_the_format() -> None:
    assert location.CFA == "cfa"
    assert location.stack_slot(16) == {"stack_slot": 16}
    assert value.add(value.register("s4"), 4) == {"add": [{"register": "s4"}, 4]}
    assert value.and_(value.LANE_INDEX, "0xffff") == {"and": ["lane_index", "0xffff"]}


def test_names_refer_to_units_types_and_functions(scale: eitri.Description) -> None:
    d = eitri.Description("x86_64")
    assert d.unit("a.c") == "a.c"
    assert d.unit("b.c", id="second") == "second"
    assert d.typedef("a.c", "t") == "t"


def test_ids_are_made_for_entities_without_a_name(scale: eitri.Description) -> None:
    pointer = scale.pointer("scale.cl", to="int")
    x = scale.variable("scale", "p", pointer, live=[[0, 8, location.over(["s4", "s5"])]])
    assert pointer != x
    # The library finds both by what the methods returned.
    scale.describe_variable(x, artificial=True)
    assert eitri.check(scale, eitri.emit(scale, code={"scale": bytes(40)}))


def test_emitted_object_is_read_by_llvm(scale: eitri.Description, tmp_path: Path) -> None:
    dwarfdump = program("llvm-dwarfdump-19")
    file = tmp_path / "scale.o"
    # LLVM 19 does not know the operations of the AMDGPU extension, so that it reads DWARF 5 alone.
    file.write_bytes(eitri.emit(scale, code={"scale": bytes(40)}, consumer="dwarf5", partial=True).data)
    text = subprocess.run([dwarfdump, "--verify", file], capture_output=True, text=True, check=True).stdout
    assert "No errors." in text
    text = subprocess.run([dwarfdump, "--name=n", file], capture_output=True, text=True, check=True).stdout
    assert 'DW_AT_name\t("n")' in text
    assert "[0x0000000000000000, 0x000000000000000c): DW_OP_regx SGPR4" in text
    # Lane 7 begins at bit 224, 0xe0, of v40, whose DWARF number is 1536 + 40 in a 32-lane wave.
    assert "[0x000000000000000c, 0x0000000000000028): DW_OP_regx 0x628, DW_OP_bit_piece 0x20 0xe0" in text


def test_functions_begin_at_multiples_of_256() -> None:
    d = eitri.Description("amdgpu-gfx1030-wave32")
    unit = d.unit("two.cl")
    for name, size in (("first", 260), ("second", 8)):
        d.function(unit, name, code={"symbol": name, "bytes": size}, kernel=True)
    object = eitri.emit(d, code={"first": bytes(260), "second": b"\x00\x00\x81\xbf" * 2})
    assert eitri.check(d, object)
    text = eitri.dump(object)
    # 0x10000 is the assumed address of the section; 260 bytes end in the second block of 256.
    assert "DW_AT_low_pc: 0x10000\n" in text and "DW_AT_low_pc: 0x10200\n" in text


def test_seeded_fault_is_found(scale: eitri.Description) -> None:
    object = eitri.emit(scale, code={"scale": bytes(40)})
    other = eitri.Description.from_json(scale.to_json())
    other.statements[-1]["variable"]["live"][1][2] = location.lane("v40", 8)
    report = eitri.check(other, object)
    assert not report and not report.is_clean
    finding = report.findings[0]
    assert {(item.kind, item.at.function, item.at.variable) for item in report.findings} == {("location", "scale", "n")}
    assert finding.at.pcs is not None and 0x0C in finding.at.pcs
    assert str(finding) in str(report)


@pytest.mark.parametrize("name", ["llvm", "rocgdb", "rocgdb-legacy", "dwarf5"])
def test_output_agrees_for_consumers(scale: eitri.Description, name: str) -> None:
    assert name in eitri.consumers()
    object = eitri.emit(scale, code={"scale": bytes(40)}, consumer=name, partial=True)
    assert eitri.check(scale, object, consumer=name, partial=True)


def test_split_units_are_files(scale: eitri.Description) -> None:
    consumer = eitri.Consumer("dwarf5", split=True)
    object = eitri.emit(scale, code={"scale": bytes(40)}, consumer=consumer, name="scale.o", partial=True)
    assert list(object.split) == ["scale.dwo"]
    assert object.split["scale.dwo"].startswith(b"\x7fELF")
    assert eitri.check(scale, object, consumer=consumer, partial=True)
    # Without the file, nothing can be compared.
    assert not eitri.check(scale, object.data, consumer=consumer, split={"scale.dwo": object.data}, partial=True)


def test_output_equals_that_of_the_command(scale: eitri.Description, tmp_path: Path) -> None:
    description = tmp_path / "scale.json"
    description.write_text(scale.to_json())
    code = ROOT / "examples" / "data" / "scale_code.o"
    out = tmp_path / "out.o"
    run: list[str | Path] = [command(), "emit", ROOT / "examples" / "scale.json", "--object", code, "-o", out]
    subprocess.run(run, check=True)
    attached = eitri.attach(ROOT / "examples" / "scale.json", code)
    assert attached.data == out.read_bytes()


def test_ptx_is_attached_to() -> None:
    d = eitri.Description("nvptx-sm_90")
    d.unit("k.cu")
    with pytest.raises(eitri.Error, match="there is no PTX text"):
        eitri.emit(d)
    with pytest.raises(eitri.Error, match="expected PTX text"):
        eitri.attach(d, b"\x7fELF")


def test_description_survives_json(scale: eitri.Description) -> None:
    again = eitri.Description.from_json(scale.to_json())
    assert again == scale and again.to_dict() == scale.to_dict()
    assert eitri.Description.from_json(scale.to_json().encode()) == scale
    assert repr(scale) == "<eitri.Description for amdgpu-gfx1030-wave32: 5 statements>"


def test_dictionary_is_a_description(scale: eitri.Description) -> None:
    document = json.loads(scale.to_json())
    assert eitri.emit(document, code={"scale": bytes(40)}).data == eitri.emit(scale, code={"scale": bytes(40)}).data


def test_bytes_are_digits_in_json() -> None:
    d = eitri.Description("x86_64")
    unit = d.unit("a.c")
    int32 = d.base_type(unit, "int", "signed", 32)
    d.add("variable", {"in": unit, "name": "x", "type": int32, "const_value": b"\x01\x02\x03\x04"})
    assert '"const_value":"01020304"' in d.to_json()
    # The lowest byte is first.
    assert f"DW_AT_const_value: {0x04030201}" in eitri.dump(eitri.emit(d))


def test_import_gives_what_was_described(scale: eitri.Description) -> None:
    object = eitri.emit(scale, code={"scale": bytes(40)})
    # A relocatable object does not state the size of a wave. Its functions' lane counts do, as for `lint`.
    imported = eitri.import_(object)
    assert imported.unimported == []
    assert imported.description.target == "amdgpu-gfx1030-wave32"
    assert eitri.rewrite(object).is_complete
    assert eitri.check(imported.description, object)
    names = [item["variable"]["name"] for item in imported.description.statements if "variable" in item]
    assert names == ["x", "n"]


def test_import_takes_a_function_by_name() -> None:
    description = eitri.import_(DATA / "squares.o", only=["squares"]).description
    functions = [item["function"]["name"] for item in description.statements if "function" in item]
    assert "squares" in functions


def test_locations_follow_from_code() -> None:
    d = eitri.Description("amdgpu-gfx1030-wave32")
    unit = d.unit("a.cl")
    int32 = d.base_type(unit, "int", "signed", 32)
    f = d.function(unit, "f", code={"symbol": "f", "bytes": 12}, kernel=True)
    with pytest.raises(eitri.Error, match="no statement `code`"):
        eitri.locate(d)
    n = d.parameter(f, "n", int32)
    assert n.startswith("#")


def test_target_is_asked_for_where_nothing_states_it() -> None:
    d = eitri.Description("amdgpu-gfx1030-wave32")
    d.unit("a.cl")
    # DWARF 5 has no lane counts.
    object = eitri.emit(d, consumer="dwarf5")
    with pytest.raises(eitri.Error, match="expected the option `target`"):
        eitri.import_(object)
    with pytest.raises(eitri.Error, match="expected the option `target`"):
        eitri.rewrite(object)
    assert eitri.import_(object, target="amdgpu-gfx1030-wave32").description.target == "amdgpu-gfx1030-wave32"


def test_iterator_in_a_description_is_refused(scale: eitri.Description) -> None:
    """What can be read once would be empty in the second output."""
    for live in (([a, a + 4, location.register("s4")] for a in (0, 4)), iter([[0, 4, location.register("s4")]])):
        keys = {"in": "scale", "name": "g", "type": "int", "live": live}
        with pytest.raises(TypeError, match="expected a list"):
            scale.add("variable", keys)
        with pytest.raises(TypeError, match="expected a list"):
            eitri.emit({**scale.to_dict(), "describe": [*scale.statements, {"variable": keys}]})
    with pytest.raises(TypeError, match="set in a description"):
        scale.add("variable", {"in": "scale", "name": "g", "type": "int", "live": {(0, 4)}})


def test_statements_are_values_of_their_call_and_can_be_changed() -> None:
    d = eitri.Description("x86_64")
    files = ["a.h"]
    d.unit("a.c")
    d.add("file", {"unit": "a.c", "name": "b.h", "id": "b"})
    d.add("unit", {"name": "c", "names": files})
    files.append("b.h")
    assert d.statements[2] == {"unit": {"name": "c", "names": ["a.h"]}}
    # The list is the description's.
    d.statements.pop()
    d.unit("d.c")
    assert [next(iter(statement)) for statement in d.statements] == ["unit", "file", "unit"]
    assert d == eitri.Description.from_json(d.to_json()) and len(d) == 3
    # A description that was read gets further statements, and its ids stay its own.
    again = eitri.Description.from_json(d.to_json())
    again.add("variable", {"in": "a.c", "id": "#7", "name": "x", "type": "int"})
    assert again.variable("a.c", "y", "int") == "#8"
    assert again.variable("a.c", "z", "int", id="#20") == "#20"
    assert again.variable("a.c", "w", "int") == "#21"


def test_texts_and_numbers_are_those_of_json() -> None:
    values = ["", "a\"b\\c\n\t\x01", "é😀\x7f", 0, -1, 2**63 - 1, -2**63, 2**64 - 1, 2**100, 1.5, 1e300, -0.0, True, False, None, [], {}, [[]], {"a": {}}]
    d = eitri.Description("x86_64")
    for value in [*values, tuple(values), {"key": values, "other": 5}]:
        d.add("unit", {"name": value} if value is not None else {"name": [None]})
    written = [statement["unit"]["name"] for statement in json.loads(d.to_json())["describe"]]
    assert written == [*values[:14], [None], *values[15:], values, {"key": values, "other": 5}]
    assert type(written[12]) is bool


def test_ranges_are_pc_ranges() -> None:
    d = eitri.Description("amdgpu-gfx1100-wave32")
    unit = d.unit("a.cl")
    int32 = d.base_type(unit, "int", "signed", 32)
    k = d.function(unit, "k", code={"symbol": "k", "bytes": 40}, kernel=True)
    places = [location.register("s4"), location.lane("v40", 7)]
    d.block(k, pcs=[range(0, 8), range(8, 12)])
    d.variable(k, "x", int32, live=[[range(0, 12), places[0]], (range(12, 40), places[1])])
    d.variable(k, "y", int32, live=[[range(0, 12), places]])
    d.frame(k, rules=[[range(0, 40), "cfa", location.memory("private_wave", 0)]])
    pairs = [statement for statement in d.statements if next(iter(statement)) in ("block", "variable", "frame")]
    assert pairs[0]["block"]["pcs"] == [[0, 8], [8, 12]]
    assert pairs[1]["variable"]["live"] == [[0, 12, places[0]], [12, 40, places[1]]]
    assert pairs[2]["variable"]["live"] == [[0, 12, places]]
    assert pairs[3]["frame"]["rules"][0][:3] == [0, 40, "cfa"]
    assert eitri.check(d, eitri.emit(d, code={"k": bytes(40)}))
    for live in ([[range(0, 12, 2), places[0]]], [[range(12, 0, -1), places[0]]]):
        with pytest.raises(ValueError, match=r"range\(.*\) has the step -?\d; expected 1"):
            d.variable(k, "z", int32, live=live)


def test_code_that_is_not_described_is_a_warning(scale: eitri.Description) -> None:
    emitted = eitri.emit(scale, code={"scale": bytes(40), "scael": bytes(4)})
    assert [(warning.kind, warning.message) for warning in emitted.warnings] == [(
        "undescribed-code", "warning (undescribed-code): code has the function `scael`, which the description lacks",
    )]
    # 44 bytes at the symbol, and 40 in the description.
    [warning] = eitri.emit(scale, code={"scale": bytes(44)}).warnings
    assert warning.kind == "symbol-size"
    assert "code has 0x28 bytes, but the symbol `scale` in the object has 0x2c bytes" in warning.message


def test_whole_numbers_of_other_types_are_numbers() -> None:
    class Index:
        def __init__(self, number: int) -> None:
            self.number = number

        def __index__(self) -> int:
            return self.number

    d = eitri.Description("x86_64")
    d.add("base_type", {"unit": d.unit("a.c"), "name": "int", "encoding": "signed", "bits": Index(32)})
    assert '"bits":32' in d.to_json()
    eitri.emit(d)


def test_ids_are_unique() -> None:
    d = eitri.Description("x86_64")
    unit = d.unit("a.c")
    int32 = d.base_type(unit, "int", "signed", 32)
    f = d.function(unit, "f", code={"symbol": "f", "bytes": 8})
    first = d.variable(f, "a", int32)
    second = d.variable(f, "b", int32)
    del d.statements[-2]
    third = d.variable(f, "c", int32)
    # What was read has ids of the same form.
    again = eitri.Description.from_json(d.to_json())
    fourth = again.variable(f, "d", int32)
    assert len({first, second, third, fourth}) == 4
    eitri.emit(again)


def test_batches_are_the_statements_of_methods(scale: eitri.Description) -> None:
    batch = eitri.Description("amdgpu-gfx1030-wave32")
    statements = scale.to_dict()["describe"]
    batch.extend(statements[:3])
    # An iterator is read once; what changes afterwards does not change a statement.
    added = [dict(statement) for statement in statements[3:]]
    batch.extend(iter(added))
    added[0].clear()
    assert batch == scale and len(batch) == len(statements)
    batch.extend([{"variable": {"in": "scale", "name": "y", "type": "int", "id": "#7"}}])
    assert batch.variable("scale", "z", "int") == "#8"
    batch.extend([{"label": {"in": "scale", "name": "l", "at": 4, "id": "#20"}}])
    assert batch.variable("scale", "w", "int") == "#21"
    # The list can be changed once it was used, and takes batches too.
    batch.statements.pop()
    batch.extend([{"variable": {"in": "scale", "name": "last", "type": "int"}}])
    assert batch.statements[-1] == {"variable": {"in": "scale", "name": "last", "type": "int"}}
    assert eitri.check(batch, eitri.emit(batch))
    with pytest.raises(TypeError, match="a statement is str; expected a dictionary with one key"):
        batch.extend(["variable"])  # type: ignore[list-item]


def test_warnings_are_found_when_they_are_looked_at(scale: eitri.Description) -> None:
    other = scale.base_type("scale.cl", "float", "float", 32)
    scale.variable("scale", "same", other, live=[[0x04, 0x28, location.per_lane("v3")]])
    emitted = eitri.emit(scale, code={"scale": bytes(44)})
    again = pickle.loads(pickle.dumps(eitri.emit(scale, code={"scale": bytes(44)})))
    kinds = [warning.kind for warning in emitted.warnings]
    # Warnings about the description come before those about the code.
    assert kinds == ["shared-bits", "symbol-size"], emitted.warnings
    assert emitted.warnings[0].kind == kinds[0] and len(emitted.warnings[1:]) == 1
    assert again == emitted and again.warnings == list(emitted.warnings) and repr(emitted.warnings) in repr(emitted)
    assert eitri.attach(scale, emitted, replace=True).warnings == emitted.warnings


def test_text_that_is_no_description_is_refused() -> None:
    """`from_json` refuses what `emit` refuses for the same text."""
    wrong = [
        '{"eitri":99,"target":"x86_64","describe":[]}',
        '{"eitri":1,"target":"x86_64","describe":[],"other":3}',
        '{"eitri":1,"target":"x86_64","describe":[{"unit":{"name":"a","name":"b"}}]}',
        '{"eitri":1,"describe":[]}',
        '{"eitri":1,"target":"x86_64"}',
        '{"eitri":1,"target":"x86_64","describe":[NaN]}',
        "[]",
        "{",
        '{"eitri":1,"target":"x86_64","describe":' + "[" * 100_000,
    ]
    for text in wrong:
        with pytest.raises(eitri.Error):
            eitri.emit(text.encode())
        with pytest.raises(eitri.Error) as raised:
            eitri.Description.from_json(text)
        assert raised.value.kind == "Malformed"


def test_code_without_the_described_function_is_refused(scale: eitri.Description) -> None:
    """`emit` with code, as `attach` to it: 40 bytes are described."""
    for code in (b"", bytes(4), bytes(39)):
        with pytest.raises(eitri.Error) as raised:
            eitri.emit(scale, code={"scale": code})
        assert raised.value.function == "scale"
    eitri.emit(scale, code={"scale": bytes(40)})


def test_output_knows_its_consumer(scale: eitri.Description) -> None:
    lanes = {"registers": {"v3": bytes(20) + b"\x2a" + bytes(107)}}
    consumers: list[str | eitri.Consumer] = ["rocgdb", "rocgdb-legacy", eitri.Consumer("llvm", dwarf64=True)]
    for consumer in consumers:
        written = eitri.emit(scale, code={"scale": bytes(40)}, consumer=consumer, partial=True)
        assert eitri.check(scale, written, consumer=written.consumer, partial=True)
        assert eitri.check(scale, written, partial=True), str(eitri.check(scale, written, partial=True))
        assert eitri.evaluate(written, "x", pc="scale+8", lane=5, machine=lanes).bytes == b"\x2a\0\0\0"
        assert "v3" in eitri.dump(written)


def test_functions_take_what_functions_return(scale: eitri.Description) -> None:
    written = eitri.emit(scale, code={"scale": bytes(40)})
    again = eitri.rewrite(written)
    for output in (written, again):
        assert not eitri.lint(output)
        assert eitri.stats(output).functions
        assert eitri.report(output).html.startswith("<!")
        assert eitri.import_(output).unimported == []
        assert eitri.members(output) is None
        assert eitri.check(scale, output)


def test_description_is_printed_whatever_its_target_is() -> None:
    assert repr(eitri.Description(None)) == "<eitri.Description for None: 0 statements>"  # type: ignore[arg-type]
