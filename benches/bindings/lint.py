"""Measures `eitri.lint` beside the command `eitri lint --format json`, on one object.

    python benches/bindings/lint.py FILE [COMMAND]

Both sides have to be built alike: `maturin develop --release` and `cargo build --release -p eitri-cli`. The sides run in
turn, each nine times, and the median counts. A line `ratio NAME VALUE` has Python's time divided by the command's: a whole
process, with Python's start; the call alone; and how much of the call is spent on making objects from the findings.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import eitri
from eitri import _eitri, _input, _results

ROUNDS = 9


def seconds(work: Callable[[], object]) -> float:
    """The time that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(file: str, command: str = "target/release/eitri") -> None:
    """Runs the sides in turn."""
    process = [sys.executable, "-c", f"import eitri; eitri.lint({file!r})"]
    reading = _input.reading(None, None)
    findings = _eitri.lint(_input.read(file), file, [], False, reading)[0]
    sides: dict[str, Callable[[], object]] = {
        "command": lambda: subprocess.run([command, "lint", "--format", "json", file], stdout=subprocess.DEVNULL),
        "process": lambda: subprocess.run(process, check=True),
        "call": lambda: eitri.lint(file),
        "objects": lambda: [_results.finding(keys) for keys in json.loads(findings)],
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, work in sides.items():
            times[name].append(seconds(work))
    medians = {name: statistics.median(some) for name, some in times.items()}
    print(f"{file}: {len(json.loads(findings))} findings")
    for name, median in medians.items():
        print(f"  {name:8} {median * 1000:9.1f} ms, least {min(times[name]) * 1000:9.1f} ms")
    for name in ("process", "call", "objects"):
        print(f"ratio python_lint_{name} {medians[name] / medians['command']:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
