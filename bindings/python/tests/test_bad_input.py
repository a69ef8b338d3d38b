"""Bad input: an exception, never a crash."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import random
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import eitri
from conftest import DATA
from eitri import location

SQUARES = (DATA / "squares.o").read_bytes()
TARGET = "amdgpu-gfx1030-wave32"
ON_OBJECTS: list[Callable[[Any], object]] = [
    eitri.lint, eitri.stats, eitri.report, eitri.dump, eitri.import_, eitri.rewrite, eitri.members,
]


def test_error_has_its_fields() -> None:
    d = eitri.Description(TARGET)
    unit = d.unit("a.cl")
    int32 = d.base_type(unit, "int", "signed", 32)
    f = d.function(unit, "f", code={"symbol": "f", "bytes": 16}, kernel=True)
    d.variable(f, "n", int32, live=[[0, 8, location.lane("v1", 70)]])
    with pytest.raises(eitri.Error) as raised:
        eitri.emit(d)
    error = raised.value
    assert error.kind == "LaneOutOfWave"
    assert (error.unit, error.function, error.variable, error.pcs) == ("a.cl", "f", "n", range(0, 8))
    assert error.at.json_path is not None and error.at.json_path.startswith("describe[3].variable")
    assert "lane 70 is out of range for a 32-lane wave" in str(error)


def test_error_in_bytes_has_section_and_offset() -> None:
    # The first entry gets an abbreviation code that the table lacks; `.debug_info` is at 0x17d of the file, and the
    # entry 12 bytes further on.
    data = bytearray(SQUARES)
    data[0x17D + 0xC] = 99
    with pytest.raises(eitri.Error) as raised:
        eitri.rewrite(data)
    assert (raised.value.kind, raised.value.section, raised.value.offset) == ("Malformed", ".debug_info", 12)
    report = eitri.lint(data)
    assert [error.section for error in report.unreadable] == [".debug_info"]
    assert isinstance(report.unreadable[0], eitri.Error)


def test_errors_can_be_copied_between_processes(diverge: Path) -> None:
    at = eitri.At(unit="a.cl", pcs=range(0, 4))
    for error in (eitri.Error("m", "Malformed", at), eitri.EvaluationError("m", "unmapped", at, rule="r", entry=7)):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and again.__dict__ == error.__dict__ and str(again) == "m"
    report = eitri.lint(diverge)
    assert len(report) > 0
    assert pickle.loads(pickle.dumps(report)) == report


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b'{"eitri": 2}', b"\xff\xfe", b'{"eitri":1,"target":7,"describe":[]}'])
def test_wrong_json_is_an_error(text: bytes) -> None:
    with pytest.raises(eitri.Error):
        eitri.emit(text)


def test_deep_json_is_an_error() -> None:
    deep = b"[" * 100_000
    with pytest.raises(eitri.Error):
        eitri.emit(b'{"eitri":1,"target":"x86_64","describe":' + deep)
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    d = eitri.Description("x86_64")
    with pytest.raises(RecursionError):
        d.add("unit", {"name": value})
    with pytest.raises(RecursionError):
        eitri.emit({"eitri": 1, "target": "x86_64", "describe": [value]})
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        d.add("unit", {"name": endless})
    assert len(d) == 0


def test_surrogates_are_an_error() -> None:
    d = eitri.Description("x86_64")
    with pytest.raises(UnicodeEncodeError):
        d.unit("\ud800")


@pytest.mark.parametrize("function", ON_OBJECTS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("wrong", [None, 5, 1.5, [], {}, object()], ids=repr)
def test_wrong_types_are_errors(function: Callable[[Any], object], wrong: object) -> None:
    with pytest.raises(TypeError, match="expected bytes, a buffer, or a file name"):
        function(wrong)


@pytest.mark.parametrize("function", ON_OBJECTS[:-1], ids=lambda function: function.__name__)
@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"junk" * 100, bytes(1 << 20)], ids=["empty", "magic", "junk", "zeros"])
def test_no_object_is_an_error(function: Callable[[Any], object], data: bytes) -> None:
    with pytest.raises(eitri.Error) as raised:
        function(data)
    assert raised.value.kind in {"Malformed", "Truncated", "Unsupported"}


def test_damaged_objects_do_not_crash() -> None:
    source = random.Random(1)
    for _ in range(40):
        data = bytearray(SQUARES)
        for _ in range(source.randrange(1, 8)):
            data[source.randrange(len(data))] = source.randrange(256)
        for function in ON_OBJECTS:
            try:
                function(bytes(data[: source.randrange(len(data) // 2, len(data) + 1)]))
            except eitri.Error:
                pass


def test_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        eitri.lint(tmp_path / "none.o")
    assert raised.value.filename is not None and str(raised.value.filename).endswith("none.o")
    with pytest.raises(IsADirectoryError):
        eitri.lint(str(tmp_path))


@pytest.mark.parametrize(
    "data", [SQUARES, bytearray(SQUARES), memoryview(SQUARES), memoryview(bytearray(SQUARES)), DATA / "squares.o"],
    ids=["bytes", "bytearray", "memoryview", "memoryview of a bytearray", "path"],
)
def test_contents_are_given_in_each_form(data: Any) -> None:
    assert eitri.stats(data).coverage.scope == 151
    assert eitri.stats(str(DATA / "squares.o")).coverage.scope == 151
    # Every second byte of doubled contents.
    doubled = memoryview(bytes(byte for byte in SQUARES for _ in range(2)))[::2]
    assert eitri.stats(doubled).coverage.scope == 151


@pytest.mark.parametrize("argument", [{"target": "no such"}, {"target": {"name": "x"}}, {"target": 5}])
def test_unknown_targets_are_errors(argument: Any) -> None:
    with pytest.raises(eitri.Error):
        eitri.dump(SQUARES, **argument)


def test_unknown_names_are_errors(scale: eitri.Description) -> None:
    for consumer in ("gdb12", ""):
        with pytest.raises(eitri.Error) as raised:
            eitri.emit(scale, consumer=consumer)
        assert raised.value.kind == "UnknownName"
    with pytest.raises(TypeError, match="consumer is int"):
        eitri.emit(scale, consumer=5)  # type: ignore[arg-type]
    with pytest.raises(eitri.Error, match="compression is `lz4`"):
        eitri.emit(scale, compress="lz4")  # type: ignore[arg-type]
    with pytest.raises(eitri.Error, match="expected llvm, legacy"):
        eitri.dump(SQUARES, dialect="dwarf7")  # type: ignore[arg-type]
    with pytest.raises(eitri.Error, match="expected location, value or any"):
        eitri.evaluate("lit1", target="x86_64", kind="number")  # type: ignore[arg-type]
    with pytest.raises(eitri.Error, match="schema is `x`"):
        eitri.schema("x")  # type: ignore[arg-type]


def test_numbers_out_of_range_are_errors() -> None:
    for argument in ({"pc": -1}, {"pc": 1 << 64}, {"lane": -1}, {"frame": 1 << 32}, {"read": -1}):
        with pytest.raises(OverflowError):
            eitri.evaluate("lit1", target="x86_64", **argument)  # type: ignore[arg-type]
    with pytest.raises(eitri.Error):
        eitri.evaluate("lit1", target="x86_64", read=1 << 63, machine={}, kind="location")
    for threads in (0, -1, 1 << 70):
        with pytest.raises(ValueError, match="expected at least 1"):
            eitri.lint(SQUARES, threads=threads)
    d = eitri.Description("x86_64")
    d.function(d.unit("a.c"), "f", code={"symbol": "f", "bytes": 1 << 70})
    with pytest.raises(eitri.Error):
        eitri.emit(d)


class Reader:
    """A machine whose methods are functions."""

    def __init__(self, register: Callable[[], Any], memory: Callable[[], Any] = bytes) -> None:
        self.register, self.memory = register, memory

    def read_register(self, register: str, frame: int) -> Any:
        return self.register()

    def read_memory(self, space: str, address: int, size: int, lane: int | None) -> Any:
        return self.memory()


def read_v3(machine: Any) -> eitri.Evaluation:
    return eitri.evaluate("regx v3; push_lane; lit4; mul; offset", machine=machine, target=TARGET, lane=0, read=32)


def test_exceptions_of_callbacks_are_raised() -> None:
    class Mine(Exception):
        pass

    def fail() -> Any:
        raise Mine("no wave")

    with pytest.raises(Mine, match="no wave"):
        read_v3(Reader(fail))
    with pytest.raises(Mine):
        eitri.explain("regx v3; push_lane; lit4; mul; offset", machine=Reader(fail), target=TARGET, lane=0, read=32)
    with pytest.raises(Mine):
        eitri.evaluate("lit16; deref", machine=Reader(bytes, fail), target=TARGET, kind="value")
    with pytest.raises(KeyboardInterrupt):
        def interrupt() -> Any:
            raise KeyboardInterrupt
        read_v3(Reader(interrupt))


def test_wrong_answers_of_callbacks_are_errors() -> None:
    with pytest.raises(TypeError, match="expected bytes, or None"):
        read_v3(Reader(lambda: "text"))
    with pytest.raises(ValueError, match="129 bytes for v3, which has 1024 bits"):
        read_v3(Reader(lambda: bytes(129)))
    with pytest.raises(ValueError, match="expected 8, or None"):
        eitri.evaluate("lit16; deref", machine=Reader(bytes, lambda: b"1"), target=TARGET, kind="value")
    # Fewer bytes than the register has: the rest is unknown.
    assert read_v3(Reader(lambda: b"\x01\x02\x03\x04")).bytes == b"\x01\x02\x03\x04"
    with pytest.raises(eitri.EvaluationError):
        read_v3(Reader(lambda: b"\x01"))
    with pytest.raises(eitri.EvaluationError):
        read_v3(Reader(lambda: None))


def test_machine_without_methods_is_an_error() -> None:
    with pytest.raises(TypeError, match="expected a dictionary, or an object with read_register and read_memory"):
        read_v3(object())


def test_callbacks_can_evaluate() -> None:
    def inner() -> bytes:
        other = {"lane": 0, "lanes": 32, "registers": {"v3": "07 00 00 00"}}
        found = read_v3(other)
        assert found.bytes is not None
        return found.bytes

    assert read_v3(Reader(inner)).bytes == b"\x07\0\0\0"


def test_endless_reentry_is_an_error() -> None:
    def again() -> Any:
        return read_v3(Reader(again)).bytes

    with pytest.raises(RecursionError):
        read_v3(Reader(again))
    # The count of nested evaluations is right again.
    assert read_v3(Reader(lambda: bytes(4))).bytes == bytes(4)


def test_threads_work_at_a_time() -> None:
    expected = eitri.lint(DATA / "k06_calls.o")
    results: list[object] = []

    def work() -> None:
        for _ in range(3):
            results.append(eitri.lint(DATA / "k06_calls.o"))
            results.append(read_v3(Reader(lambda: bytes(4))))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 48
    assert all(item == expected for item in results if isinstance(item, eitri.LintReport))


def test_lock_is_released_while_the_library_works() -> None:
    """Another thread runs while a call works: the clock of a waiting thread goes on."""
    d = eitri.Description("x86_64")
    unit = d.unit("a.c")
    int32 = d.base_type(unit, "int", "signed", 32)
    for index in range(4000):
        f = d.function(unit, f"f{index}", code={"symbol": f"f{index}", "bytes": 64})
        d.variable(f, "n", int32, live=[[0, 32, location.register("rax")], [32, 64, location.register("rbx")]])
    text = d.to_json().encode()
    # Without switches by time, another thread runs only if the lock is released.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        ticks: list[float] = []
        stop = threading.Event()

        def tick() -> None:
            while not stop.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        start = time.monotonic()
        eitri.emit(text)
        end = time.monotonic()
        stop.set()
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sum(start < tick < end for tick in ticks) >= 3


def _lint_in_child(queue: Any) -> None:
    queue.put(len(eitri.lint(DATA / "k06_calls.o")))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_process_has_no_threads_and_works() -> None:
    expected = len(eitri.lint(DATA / "k06_calls.o"))
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_lint_in_child, args=(queue,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert queue.get() == expected


def test_huge_description_is_written() -> None:
    d = eitri.Description(TARGET)
    unit = d.unit("a.cl")
    int32 = d.base_type(unit, "int", "signed", 32)
    f = d.function(unit, "f", code={"symbol": "f", "bytes": 1 << 20}, kernel=True)
    live = [[pc, pc + 4, location.per_lane(f"v{pc // 4 % 64}")] for pc in range(0, 200_000, 4)]
    d.variable(f, "x", int32, live=live)
    assert len(eitri.emit(d).data) > 50_000 * 4


def test_findings_of_wrong_arguments_name_them() -> None:
    with pytest.raises(TypeError, match=r"split\['a.dwo'\] is int"):
        eitri.lint(SQUARES, split={"a.dwo": 5})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="code is list; expected machine code by symbol"):
        eitri.emit({"eitri": 1, "target": "x86_64", "describe": []}, code=[bytes(40)])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="code"):
        eitri.emit({"eitri": 1, "target": "x86_64", "describe": []}, code={"f": 5})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="complex in a description"):
        eitri.emit({"eitri": 1, "target": "x86_64", "describe": [1j]})
    with pytest.raises(ValueError):
        eitri.emit({"eitri": 1, "target": "x86_64", "describe": [float("nan")]})
    with pytest.raises(TypeError, match="a key is int; expected a text"):
        eitri.emit({"eitri": 1, "target": "x86_64", "describe": [{1: {}}]})
    assert json.loads(eitri.Description("x86_64").to_json())["describe"] == []


def test_errors_name_the_statement_and_not_a_line_of_a_text_that_nobody_has(scale: eitri.Description) -> None:
    scale.variable("scale", "wrong", "int", live=[[0, 4]])
    with pytest.raises(eitri.Error) as raised:
        eitri.emit(scale)
    index = len(scale) - 1
    expected = f"`describe[{index}].variable.live[0]` of `wrong`: invalid length 2, expected a list of two pcs and a location"
    assert str(raised.value) == expected
    assert (raised.value.at.json_line, raised.value.at.json_column) == (None, None)
    assert raised.value.at.json_path == f"describe[{index}].variable.live[0]"
    # A dictionary is the same; a text of the caller has lines.
    with pytest.raises(eitri.Error, match="^`describe"):
        eitri.emit(scale.to_dict())
    with pytest.raises(eitri.Error, match="^line 1, column"):
        eitri.emit(scale.to_json().encode())


def test_errors_about_locations_name_what_was_expected(scale: eitri.Description) -> None:
    place = location.register("s4")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"live": place}, "expected a list of pc ranges with locations, or `always`, a location at all pcs"),
        ({"live": [place]}, "expected a list of two pcs and a location"),
        ({"live": [[0, 4, place]], "always": place}, "has live ranges and a location for all pcs; expected `live` or `always`"),
    ]
    for keys, expected in cases:
        d = eitri.Description.from_json(scale.to_json())
        d.add("variable", {"in": "scale", "name": "x", "type": "int", **keys})
        with pytest.raises(eitri.Error, match=re.escape(expected)) as raised:
            eitri.emit(d)
        assert raised.value.at.json_path is not None and raised.value.at.json_path.startswith(f"describe[{len(d) - 1}].variable")
    d = eitri.Description.from_json(scale.to_json())
    d.add("variable", {"in": "scale.cl", "name": "x", "type": "int", "live": [[0, 4, place]]})
    with pytest.raises(eitri.Error, match="outside all functions has live ranges; expected `always`"):
        eitri.emit(d)
