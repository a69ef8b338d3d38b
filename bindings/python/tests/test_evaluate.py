"""Evaluations, on machines in dictionaries, files and objects."""

from __future__ import annotations

import signal

import pytest

import eitri
from conftest import DATA, GOLDENS
from eitri.types import Machine

TARGET = "amdgpu-gfx1030-wave32"
PER_LANE = "regx v3; push_lane; lit4; mul; offset"


class Wave:
    """v3 has the number 100 + lane in each lane; scalar memory has its address in each byte."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.state = {"lane": 5, "lanes": 32}

    def read_register(self, register: str, frame: int) -> bytes | None:
        self.asked.append((register, frame))
        if register != "v3":
            return None
        return b"".join((100 + lane).to_bytes(4, "little") for lane in range(32))

    def read_memory(self, space: str, address: int, size: int, lane: int | None) -> bytes | None:
        self.asked.append((space, address, size, lane))
        return bytes((address + index) & 0xFF for index in range(size))


def test_object_is_a_machine() -> None:
    wave = Wave()
    assert isinstance(wave, eitri.MachineReader)
    found = eitri.evaluate(PER_LANE, machine=wave, target=TARGET, read=32)
    # Lane 5 begins at byte 20, which is bit 160. 100 + 5 is 0x69.
    assert found.text == "location reg:v3+160, bytes 69 00 00 00"
    assert found.bytes == bytes([0x69, 0, 0, 0])
    assert wave.asked == [("v3", 0)]


def test_object_without_memory_is_a_machine_for_expressions_that_read_none() -> None:
    class Registers:
        state = {"lane": 5, "lanes": 32}
        read_register = Wave.read_register
        asked: list[tuple[object, ...]] = []

    found = eitri.evaluate(PER_LANE, machine=Registers(), target=TARGET, read=32)
    assert found.bytes == bytes([0x69, 0, 0, 0])
    with pytest.raises(AttributeError, match="read_memory"):
        eitri.evaluate("lit16; deref", machine=Registers(), target=TARGET, kind="value")
    with pytest.raises(TypeError, match="machine is object; expected a dictionary"):
        eitri.evaluate(PER_LANE, machine=object(), target=TARGET)  # type: ignore[arg-type]


def test_wrong_pcs_say_what_was_given(scale: eitri.Description) -> None:
    written = eitri.emit(scale, code={"scale": bytes(40)})
    machine: Machine = {"registers": {"s4": "01000000"}}
    cases: list[tuple[int | str | None, type[Exception], str]] = [
        (None, eitri.Error, "no variable outside functions has the name `n`, and no pc was given; expected the pc for a variable of a function"),
        (4, eitri.Error, "pc 0x4 is in no function, and no variable outside functions has the name `n`; expected an address in a function, or a function with the bytes from its start"),
        ("4", ValueError, "pc is '4'; expected the number 4 for an address, or a function and bytes, 'scale+0x8'"),
        ("scale+", ValueError, "pc is 'scale+'; expected a function and a number of bytes, such as 'scale+0x8'"),
        ("scael+4", eitri.Error, "no function has the name `scael`; did you mean `scale`?"),
    ]
    for pc, kind, expected in cases:
        with pytest.raises(kind) as raised:
            eitri.evaluate(written, "n", pc=pc, machine=machine)
        assert str(raised.value).startswith(expected), (pc, str(raised.value))
    assert eitri.evaluate(written, "n", pc="scale", machine=machine).bytes == bytes([1, 0, 0, 0])


def test_dictionary_is_a_machine() -> None:
    machine: Machine = {"lane": 1, "lanes": 32, "registers": {"v3": "01 02 03 04 05 06 07 08"}}
    found = eitri.evaluate(PER_LANE, machine=machine, target=TARGET, read=32)
    assert found.bytes == b"\x05\x06\x07\x08"
    # The argument takes precedence.
    assert eitri.evaluate(PER_LANE, machine=machine, target=TARGET, lane=0, read=32).bytes == b"\x01\x02\x03\x04"


def test_memory_is_read_in_its_space() -> None:
    wave = Wave()
    found = eitri.evaluate("lit16; deref", machine=wave, target=TARGET, kind="value")
    # Eight bytes from address 16 on, the least significant first.
    assert found.value == int.from_bytes(bytes(range(16, 24)), "little")
    space, address, size, lane = wave.asked[0]
    assert (address, size, lane) == (16, 8, None) and space == "global"


def test_bytes_are_an_expression() -> None:
    # DW_OP_lit1; DW_OP_lit2; DW_OP_plus.
    assert eitri.evaluate(b"\x31\x32\x22", target="x86_64", kind="value").value == 3
    assert eitri.evaluate(memoryview(b"\x31"), target="x86_64", kind="value").value == 1


def test_initial_stack_is_given() -> None:
    assert eitri.evaluate("plus", target="x86_64", kind="value", initial=[40, 2]).value == 42


def test_faults_have_their_fields() -> None:
    with pytest.raises(eitri.EvaluationError) as raised:
        eitri.evaluate("lit4; plus", target="x86_64", kind="value")
    fault = raised.value
    # The second operation lacks an operand, on every machine; it begins after one byte.
    assert (fault.kind, fault.operation, fault.offset) == ("ill-formed", 1, 1)
    assert fault.rule in str(fault) and not fault.is_limit
    with pytest.raises(eitri.EvaluationError) as raised:
        eitri.evaluate("breg7 0; deref", target="x86_64", kind="value", machine={})
    assert raised.value.kind == "evaluation error"


def test_all_lanes_are_evaluated() -> None:
    found = eitri.evaluate_lanes(PER_LANE, machine=Wave(), target=TARGET, read=32)
    assert len(found) == 32
    for lane, item in enumerate(found):
        assert isinstance(item, eitri.Evaluation)
        assert item.bytes == (100 + lane).to_bytes(4, "little")


def test_lanes_without_a_result_have_their_error() -> None:
    found = eitri.evaluate_lanes(PER_LANE, machine={"lanes": 32}, target=TARGET, read=32)
    assert len(found) == 32 and all(isinstance(item, eitri.EvaluationError) for item in found)


def test_variable_is_evaluated_in_its_object(scale: eitri.Description) -> None:
    object = eitri.emit(scale, code={"scale": bytes(40)})
    assert eitri.evaluate(object, "x", pc="scale+0x8", lane=5, machine=Wave()).bytes == bytes([0x69, 0, 0, 0])
    # Before its spill, `n` is in s4; after it, in lane 7 of v40, which begins at bit 224.
    machine = {"registers": {"s4": "2a 00 00 00"}}
    assert eitri.evaluate(object, "n", pc="scale", machine=machine).bytes == b"\x2a\0\0\0"
    spilled = {"registers": {"v40": "00" * 28 + "2b000000"}}
    assert eitri.evaluate(object, "n", pc="scale+0x10", machine=spilled).text == "location reg:v40+224, bytes 2b 00 00 00"
    # The name of an operator can end with a plus.
    for name in ("operator+", "A::operator++"):
        with pytest.raises(eitri.Error) as raised:
            eitri.evaluate(object, "n", pc=name)
        assert name in str(raised.value)
    with pytest.raises(eitri.Error) as raised:
        eitri.evaluate(object, "no_such", pc="scale")
    assert raised.value.kind == "UnknownName"


def test_caller_is_unwound() -> None:
    """A frame's caller: the return address and the stack pointer are at the frame address (System V ABI)."""
    d = eitri.Description("x86_64")
    unit = d.unit("a.c")
    int64 = d.base_type(unit, "long", "signed", 64)
    for name in ("outer", "inner"):
        d.function(unit, name, code={"symbol": name, "bytes": 16})
    cfa = [{"address_of": {"memory": [0, {"add": [{"register": "rsp"}, 8]}]}}]
    assert cfa
    d.variable("outer", "v", int64, live=[[0, 16, {"register": "rbx"}]])
    object = eitri.emit(d, code={"outer": bytes(16), "inner": bytes(16)})
    machine = {"registers": {"rbx": "07 00 00 00 00 00 00 00"}}
    assert eitri.evaluate(object, "v", pc="outer+4", machine=machine).bytes == b"\x07" + bytes(7)
    with pytest.raises(eitri.Error):
        eitri.evaluate(object, "v", pc="inner", frame=1, machine=machine)


def test_steps_are_a_picture() -> None:
    explained = eitri.explain(PER_LANE, machine=Wave(), target=TARGET, read=32)
    assert explained.fault is None
    assert explained._repr_svg_().startswith("<svg") and "push_lane" in explained.svg
    assert "push_lane" in explained.steps and explained.text in str(explained)
    fault = eitri.explain("lit4; plus", target="x86_64", kind="value").fault
    assert fault is not None and fault.operation == 1


def test_file_names_the_target() -> None:
    file = {"target": {"name": TARGET}, "machine": {"lane": 0, "lanes": 32, "registers": {"v3": "01 02 03 04"}}}
    assert eitri.evaluate(PER_LANE, machine=file, read=32).bytes == b"\x01\x02\x03\x04"
    text = eitri.evaluate(PER_LANE, machine=GOLDENS / "explain" / "wave.json").text
    assert text.startswith("location reg:v3+")
    with pytest.raises(eitri.Error, match="the target is unknown"):
        eitri.evaluate(PER_LANE, machine={"lane": 0})


def test_squares_has_its_variable() -> None:
    assert eitri.evaluate(DATA / "squares.o", "from", pc="squares", machine={"registers": {"rdi": "05" + "00" * 7}})


def test_fault_in_a_list_has_its_operation(scale: eitri.Description) -> None:
    written = eitri.emit(scale, code={"scale": bytes(40)})
    with pytest.raises(eitri.EvaluationError) as raised:
        eitri.evaluate(written, "x", pc="scale+8", machine={"registers": {}}, lane=40)
    fault = raised.value
    assert (fault.function, fault.variable) == ("scale", "x")
    assert fault.operation is not None and fault.offset is not None
    assert f"operation {fault.operation}, offset {fault.offset:#x}" in fault.rule


def test_interrupt_ends_an_evaluation_at_the_next_method() -> None:
    class Interrupted:
        state = {"lane": 0, "lanes": 32}
        calls = 0

        def read_register(self, register: str, frame: int) -> bytes | None:
            self.calls += 1
            # What Ctrl-C does.
            signal.raise_signal(signal.SIGINT)
            return bytes(128)

        def read_memory(self, space: str, address: int, size: int, lane: int | None) -> bytes | None:
            return bytes(size)

    machine = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        eitri.evaluate("regx v1", machine=machine, target="amdgpu-gfx1100-wave32", read=32)
    assert machine.calls == 1
