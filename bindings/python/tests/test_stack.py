"""Calls on threads with little stack: macOS gives them 512 KiB."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

import pytest

import eitri

TARGET = "amdgpu-gfx1100-wave32"


def on_thread(stack: int, work: Callable[[], object]) -> object:
    """Works on a thread with a stack in KiB. A thread that needs more ends the process, which fails all tests."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            results.append(error)

    before = threading.stack_size(stack * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return results[0]


def nested(depth: int) -> bytes:
    """A description with a location of a depth."""
    location: object = {"register": "s4"}
    for _ in range(depth):
        location = {"offset": [location, 0]}
    statements = [
        {"unit": {"name": "a"}},
        {"base_type": {"unit": "a", "name": "int", "encoding": "signed", "bits": 32}},
        {"function": {"in": "a", "name": "f", "code": {"symbol": "f", "bytes": 40}}},
        {"variable": {"in": "f", "name": "x", "type": "int", "live": [[0, 4, location]]}},
    ]
    return json.dumps({"eitri": 1, "target": TARGET, "describe": statements}).encode()


@pytest.mark.parametrize("depth", [1, 100])
def test_deep_description_is_written_on_a_small_stack(depth: int) -> None:
    text = nested(depth)
    written = on_thread(256, lambda: eitri.emit(text))
    assert isinstance(written, eitri.Emitted), written
    assert on_thread(256, lambda: bool(eitri.check(text, written))) is True
    assert isinstance(on_thread(256, lambda: eitri.report(written)), eitri.Report)


@pytest.mark.parametrize("stack", [256, 512, 8192])
def test_nested_evaluations_end_in_an_exception(stack: int) -> None:
    class Endless:
        depth = 0

        def read_register(self, register: str, frame: int) -> bytes | None:
            self.depth += 1
            return self.evaluate().bytes

        def evaluate(self) -> eitri.Evaluation:
            return eitri.evaluate("regx s4", target=TARGET, machine=self, read=32)

        def read_memory(self, space: str, address: int, size: int, lane: int | None) -> bytes | None:
            return bytes(size)

    machine = Endless()
    failed = on_thread(stack, machine.evaluate)
    assert isinstance(failed, RecursionError), failed
    assert machine.depth >= 1
