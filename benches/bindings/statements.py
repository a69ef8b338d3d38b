"""Measures a description in Python beside the same through the functions of C: `statements.rs`.

    cargo bench -p eitri-c --bench statements --no-run
    python benches/bindings/statements.py PROGRAM

The package and the program have to be built for release. Python adds the statements of a function at a time, as C does. The sides
run in turn, and the median counts. A line `ratio NAME VALUE` has Python's time divided by C's with JSON; `_methods` is the same
with a call of a method for each statement.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import os
import time
from collections.abc import Iterator

import eitri
from eitri import location, value

ROUNDS = 7
FUNCTIONS, VARIABLES = 1000, 20


def numbers(function: int, variable: int, range_: int) -> tuple[int, int, int]:
    """The offset, the addend and the flipped bits of a range: as in `statements.rs`."""
    mixed = function * 31 + variable * 7 + range_
    return -8 * (mixed % 64 + 1), mixed % 1000 + 1, mixed % 50_000


def memory(offset: int) -> dict[str, object]:
    return {"memory": ["default", {"plus": [{"register": "rbp"}, offset]}]}


def entry(function: int, variable: int, range_: int) -> list[object]:
    offset, add, flip = numbers(function, variable, range_)
    number = {"xor": [{"plus": [{"read": [memory(offset), 64]}, add]}, flip]}
    return [range_ * 0x20, range_ * 0x20 + 0x18, {"value": number}]


def function_statements(shape: str, function: int) -> Iterator[dict[str, object]]:
    """The statements of a function."""
    name = f"f{function}"
    yield {"function": {"in": "a.cl", "name": name, "code": {"symbol": name, "bytes": 2048}}}
    for variable in range(VARIABLES):
        keys: dict[str, object] = {
            "in": name, "name": f"v{variable}", "type": "long", "declared": ["a.cl", variable + 1],
        }
        if shape == "lists":
            keys["live"] = [entry(function, variable, range_) for range_ in range(8)]
        else:
            keys["always"] = memory(numbers(function, variable, 0)[0])
        yield {"variable": keys}


def batch(shape: str) -> bytes:
    """The object, from the statements of each function."""
    d = eitri.Description("x86_64")
    d.extend([
        {"unit": {"name": "a.cl"}},
        {"base_type": {"unit": "a.cl", "name": "long", "encoding": "signed", "bits": 64}},
    ])
    for function in range(FUNCTIONS):
        d.extend(function_statements(shape, function))
    return eitri.emit(d).data


def methods(shape: str) -> bytes:
    """The object, by a method for each statement, and a function for each node."""
    d = eitri.Description("x86_64")
    unit = d.unit("a.cl")
    long = d.base_type(unit, "long", "signed", 64)

    def at(offset: int) -> location.Location:
        return location.memory("default", value.plus(value.register("rbp"), offset))

    for function in range(FUNCTIONS):
        name = f"f{function}"
        scope = d.function(unit, name, code={"symbol": name, "bytes": 2048})
        for variable in range(VARIABLES):
            declared = ["a.cl", variable + 1]
            if shape == "entries":
                d.variable(scope, f"v{variable}", long, declared=declared, always=at(numbers(function, variable, 0)[0]))
                continue
            live = []
            for range_ in range(8):
                offset, add, flip = numbers(function, variable, range_)
                number = value.xor(value.plus(value.read(at(offset), 64), add), flip)
                live.append([range_ * 0x20, range_ * 0x20 + 0x18, location.value(number)])
            d.variable(scope, f"v{variable}", long, declared=declared, live=live)
    return eitri.emit(d).data


def main(program: str) -> None:
    """Runs the sides in turn."""
    for shape in ("lists", "entries"):
        times: dict[str, list[float]] = {"c": [], "batch": [], "methods": []}
        for _ in range(ROUNDS):
            environment = {**os.environ, "EITRI_BENCH_ONCE": f"json_{shape}"}
            said = subprocess.run([program], env=environment, capture_output=True, text=True, check=True).stdout
            found = re.fullmatch(r"(\d+) bytes, ([\d.]+) ms\n", said)
            assert found, said
            times["c"].append(float(found[2]) / 1000)
            for name, make in (("batch", batch), ("methods", methods)):
                start = time.perf_counter()
                data = make(shape)
                times[name].append(time.perf_counter() - start)
                # Methods give each variable an id, which is no part of the object.
                assert len(data) == int(found[1]), name
        medians = {name: statistics.median(some) for name, some in times.items()}
        print(f"{shape}: " + ", ".join(f"{name} {1000 * median:.1f} ms" for name, median in medians.items()))
        print(f"ratio python_{shape} {medians['batch'] / medians['c']:.2f}")
        print(f"ratio python_{shape}_methods {medians['methods'] / medians['c']:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
