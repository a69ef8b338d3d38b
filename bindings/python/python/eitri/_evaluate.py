"""Evaluations on a stopped machine."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from . import _eitri, _input, types
from ._errors import EvaluationError, fault
from ._input import Data, Split, TargetLike
from ._results import Emitted, Evaluation, Explanation

Bytes: TypeAlias = "bytes | bytearray | memoryview"
"""What a machine returns."""

__all__ = ["MachineLike", "MachineReader", "RegisterReader", "evaluate", "evaluate_lanes", "explain"]


@runtime_checkable
class RegisterReader(Protocol):
    """A stopped program, whose registers are read when an evaluation needs them.

    An exception of a method ends the evaluation, and is raised by the function that evaluates. An object with the
    attribute `state` has the rest of the machine there: a dictionary with keys of a machine, such as `pc` and `lane`.
    """

    def read_register(self, register: str, frame: int, /) -> Bytes | None:
        """The bytes of a register, the least significant first; `None` if they are unknown.

        register: Name, or DWARF number as text if it has no name.
        frame: 0 for the innermost frame.
        """


@runtime_checkable
class MachineReader(RegisterReader, Protocol):
    """A stopped program, whose memory is read too. Without this method, an expression that reads memory is an error."""

    def read_memory(self, space: str, address: int, size: int, lane: int | None, /) -> Bytes | None:
        """`size` bytes of memory in address order; `None` if some are unknown.

        space: Name of the address space, or its number as text if it has no name.
        lane: The lane, in a space where each lane has its own memory.
        """


MachineLike: TypeAlias = "RegisterReader | types.Machine | types.MachineMachines | Mapping[str, Any] | os.PathLike[str]"
"""A stopped program: an object that reads it, a dictionary, or the name of a JSON file."""

# A file with a machine has one of these keys, which a machine alone does not have.
_OF_FILES = frozenset({"machine", "stops", "target", "targets", "vectors"})


def _question(
    subject: str | Data,
    variable: str | None,
    machine: MachineLike | None,
    *,
    pc: int | str | None,
    lane: int | None,
    frame: int | None,
    target: TargetLike | None,
    consumer: str | None,
    dialect: str | None,
    read: int | None,
    kind: str,
    initial: Sequence[int | str],
    split: Split,
    supplementary: Data | None,
) -> dict[str, Any]:
    """The question for the extension module."""
    if consumer is None and dialect is None:
        consumer = _input.consumer_of(None, subject).name
    elif consumer is not None:
        consumer = _input.text(consumer, "consumer")
    question: dict[str, Any] = {
        "text": None, "bytecode": None, "object": None, "variable": variable, "function": None, "pc": None,
        "machine": None, "is_file": False, "reader": None,
        "split": _input.split(split), "supplementary": _input.optional(supplementary, "supplementary"),
        "target": _input.target(target), "consumer": consumer, "dialect": dialect,
        "frame": _number("frame", frame, 32), "lane": _number("lane", lane), "read": _number("read", read), "kind": kind, "initial": [str(element) for element in initial],
    }
    if variable is not None:
        question["object"] = _input.read(subject, "object")
    elif isinstance(subject, str):
        question["text"] = subject
    elif isinstance(subject, Emitted):
        raise TypeError("an object has no expression of its own; expected the argument `variable`")
    else:
        question["bytecode"] = _input.read(subject, "expression")
    if isinstance(pc, str):
        question["function"], question["pc"] = _function(pc)
        if variable is None:
            raise ValueError(f"pc is {pc!r}, and there is no object; expected an address, or the argument `variable`")
    else:
        question["pc"] = _number("pc", pc)
    if isinstance(machine, (str, os.PathLike)):
        question["machine"] = _input.read(machine).decode()
        question["is_file"] = True
    elif isinstance(machine, Mapping):
        question["machine"] = _input.to_json(machine)
        question["is_file"] = not _OF_FILES.isdisjoint(machine)
    elif machine is not None:
        if not isinstance(machine, RegisterReader):
            kind = type(machine).__name__
            raise TypeError(f"machine is {kind}; expected a dictionary, or an object with read_register and read_memory")
        question["reader"] = machine
        state = getattr(machine, "state", None)
        question["machine"] = None if state is None else _input.to_json(state)
    return question


def _function(pc: str) -> tuple[str, int | None]:
    """The function and the bytes that a pc in a text names."""
    function, plus, offset = pc.rpartition("+")
    try:
        number = int(offset, 0)
    except ValueError:
        # The name of a C++ operator can end with a plus.
        is_operator = not offset and function.rstrip("+").endswith("operator")
        if plus and not is_operator and (not offset.strip() or offset[:1].isdigit()):
            raise ValueError(f"pc is {pc!r}; expected a function and a number of bytes, such as 'scale+0x8'") from None
        return pc, 0
    if not plus:
        raise ValueError(f"pc is {pc!r}; expected the number {number} for an address, or a function and bytes, 'scale+0x8'")
    return function, _number("pc", number)


def _number(name: str, value: int | None, bits: int = 64) -> int | None:
    """An argument that is a number of some bits."""
    if value is not None and not hasattr(value, "__index__"):
        raise TypeError(f"{name} is {type(value).__name__}; expected a whole number")
    if value is not None and not 0 <= operator.index(value) < 1 << bits:
        raise OverflowError(f"{name} is {value}; expected 0 to 2**{bits} - 1")
    return None if value is None else operator.index(value)


def _evaluation(answer: tuple[str, str, str | None], question: dict[str, Any]) -> Evaluation | EvaluationError:
    """The result, or the fault."""
    text, keys, problem = answer
    if problem is not None:
        return fault(text, problem, question["function"], question["variable"])
    return Evaluation(text, json.loads(keys))


def evaluate(
    subject: str | Data,
    /,
    variable: str | None = None,
    *,
    machine: MachineLike | None = None,
    pc: int | str | None = None,
    lane: int | None = None,
    frame: int | None = None,
    target: TargetLike | None = None,
    consumer: str | None = None,
    dialect: Literal["llvm", "legacy", "dwarf5", "dwarf6"] | None = None,
    read: int | None = None,
    kind: Literal["location", "value", "any"] = "location",
    initial: Sequence[int | str] = (),
    split: Split = None,
    supplementary: Data | None = None,
) -> Evaluation:
    """Evaluates an expression, or the location of an object's variable, on a stopped machine.

    subject: The expression as text or as bytes; or, with `variable`, the object.
    variable: Name of a variable that is in scope at the pc.
    machine: The stopped program: a dictionary as in conformance vectors, or an object that reads it.
    pc: The frame's program location, instead of the machine's: an address, or a function and bytes, `scale+0x8`.
    lane: The current lane, instead of the machine's.
    frame: The frame, instead of the machine's: 0 is the innermost. With `variable`, callers are unwound.
    target: The target; by default that of the machine, or else of the object.
    consumer: Name of the debugger whose encoding the expression has; or `dialect`, the encoding. By default that of the
        debugger for which `emit` wrote the object, and otherwise `llvm`.
    read: Number of bits to read at the location; for a variable, by default its type's size.
    kind: Kind of the result of an expression.
    initial: Elements of the initial stack, the bottom first: numbers, or locations as in conformance vectors.
    split: Files of split units, by name.
    supplementary: The supplementary file.

    Raises `EvaluationError` if there is no result, or if it cannot be read.
    """
    question = _question(
        subject, variable, machine, pc=pc, lane=lane, frame=frame, target=target, consumer=consumer,
        dialect=dialect, read=read, kind=kind, initial=initial, split=split, supplementary=supplementary,
    )
    found = _evaluation(_eitri.answers(question, False)[0], question)
    if isinstance(found, EvaluationError):
        raise found
    return found


def evaluate_lanes(
    subject: str | Data,
    /,
    variable: str | None = None,
    *,
    machine: MachineLike | None = None,
    pc: int | str | None = None,
    frame: int | None = None,
    target: TargetLike | None = None,
    consumer: str | None = None,
    dialect: Literal["llvm", "legacy", "dwarf5", "dwarf6"] | None = None,
    read: int | None = None,
    kind: Literal["location", "value", "any"] = "location",
    initial: Sequence[int | str] = (),
    split: Split = None,
    supplementary: Data | None = None,
) -> list[Evaluation | EvaluationError]:
    """Evaluates in all lanes of a wave. The arguments are those of `evaluate`. A lane without a result has its error."""
    question = _question(
        subject, variable, machine, pc=pc, lane=None, frame=frame, target=target, consumer=consumer,
        dialect=dialect, read=read, kind=kind, initial=initial, split=split, supplementary=supplementary,
    )
    return [_evaluation(answer, question) for answer in _eitri.answers(question, True)]


def explain(
    subject: str | Data,
    /,
    variable: str | None = None,
    *,
    machine: MachineLike | None = None,
    pc: int | str | None = None,
    lane: int | None = None,
    frame: int | None = None,
    target: TargetLike | None = None,
    consumer: str | None = None,
    dialect: Literal["llvm", "legacy", "dwarf5", "dwarf6"] | None = None,
    read: int | None = None,
    kind: Literal["location", "value", "any"] = "location",
    initial: Sequence[int | str] = (),
    split: Split = None,
    supplementary: Data | None = None,
) -> Explanation:
    """Evaluates step by step. The arguments are those of `evaluate`. A notebook shows the picture."""
    question = _question(
        subject, variable, machine, pc=pc, lane=lane, frame=frame, target=target, consumer=consumer,
        dialect=dialect, read=read, kind=kind, initial=initial, split=split, supplementary=supplementary,
    )
    (text, keys, problem), steps, svg = _eitri.steps(question)
    failed = None if problem is None else fault(text, problem, question["function"], question["variable"])
    return Explanation(steps, text, json.loads(keys), failed, svg)
