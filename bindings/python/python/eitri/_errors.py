"""Exceptions, with the fields of the library's errors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

__all__ = ["At", "Error", "EvaluationError"]


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """Location of an error or a difference. Each part is present if it is known."""

    split_file: str | None = None
    """Name of the file of split units."""
    supplementary_file: str | None = None
    """Name of the supplementary file."""
    unit: str | None = None
    """Name of the compilation unit."""
    function: str | None = None
    """Function name."""
    variable: str | None = None
    """Name of the variable, parameter or constant."""
    procedure: str | None = None
    """Procedure that expressions call."""
    region: str | None = None
    """Divergent region."""
    column: str | None = None
    """Frame column: the name of a caller's register, or `CFA`."""
    pcs: range | None = None
    """Pcs, in bytes from the function's start."""
    block: range | None = None
    """Pcs of the control flow block, in bytes from the function's start."""
    place: str | None = None
    """Tracked storage in the code."""
    operation: int | None = None
    """Operation index in its expression, counted from 0."""
    section: str | None = None
    """Section of the object file."""
    offset: int | None = None
    """Offset in bytes from the start of the section, or of the expression if there is no section."""
    word: int | None = None
    """Word index in a SPIR-V module, counted from 0."""
    instruction: str | None = None
    """SPIR-V debug instruction, and the id that it defines."""
    operand: str | None = None
    """Operand of that instruction."""
    vector: str | None = None
    """Name of a conformance vector."""
    json_path: str | None = None
    """Keys and indices in a JSON text: `describe[17].variable.live[2]`."""
    json_line: int | None = None
    """Line in a JSON text, counted from 1."""
    json_column: int | None = None
    """Character in the line, counted from 1."""


class Error(Exception):
    """What cannot be described, written, read or evaluated. The message begins with the location."""

    kind: str
    """The kind's name, which is that of `eitri::error::ErrorKind` in Rust: `Malformed`, `UnknownRegister`."""
    at: At
    """The location."""

    def __init__(self, message: str, kind: str = "BadArgument", at: At | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.at = at or At()

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, At]]:
        return type(self), (str(self), self.kind, self.at)

    @property
    def unit(self) -> str | None:
        """Name of the compilation unit."""
        return self.at.unit

    @property
    def function(self) -> str | None:
        """Function name."""
        return self.at.function

    @property
    def variable(self) -> str | None:
        """Name of the variable, parameter or constant."""
        return self.at.variable

    @property
    def pcs(self) -> range | None:
        """Pcs, in bytes from the function's start."""
        return self.at.pcs

    @property
    def section(self) -> str | None:
        """Section of the object file."""
        return self.at.section

    @property
    def offset(self) -> int | None:
        """Offset in bytes from the start of the section, or of the expression if there is no section."""
        return self.at.offset

    @property
    def operation(self) -> int | None:
        """Operation index in its expression, counted from 0."""
        return self.at.operation


class EvaluationError(Error):
    """An evaluation that has no result. The kind is `ill-formed`, `evaluation error`, `unmapped` or `unsupported`."""

    rule: str
    """The broken rule, or what is missing."""
    entry: int | None
    """Offset in `.debug_info` of the entry whose expression contains the operation, if it was reached by a call."""
    register: int | None
    """DWARF number of the register that the rule is about."""
    is_limit: bool
    """Whether a limit of the evaluator was reached, which says nothing about the expression."""
    is_undefined: bool
    """Whether undefined storage was read: a debugger prints "optimized out"."""

    def __init__(
        self,
        message: str,
        kind: str = "evaluation error",
        at: At | None = None,
        rule: str = "",
        entry: int | None = None,
        register: int | None = None,
        is_limit: bool = False,
        is_undefined: bool = False,
    ) -> None:
        super().__init__(message, kind, at)
        self.rule = rule
        self.entry = entry
        self.register = register
        self.is_limit = is_limit
        self.is_undefined = is_undefined

    def __reduce__(self) -> tuple[type[Error], Any]:
        fields = (self.rule, self.entry, self.register, self.is_limit, self.is_undefined)
        return type(self), (str(self), self.kind, self.at, *fields)


def pcs(bounds: list[int] | None) -> range | None:
    """A pc range from its bounds."""
    return None if bounds is None else range(*bounds)


def location(fields: dict[str, Any]) -> At:
    """The location with these fields."""
    return At(**{**fields, "pcs": pcs(fields.get("pcs")), "block": pcs(fields.get("block"))})


def error(message: str, kind: str, fields: str) -> Error:
    """The exception for an error. The extension module calls this function."""
    return Error(message, kind, location(json.loads(fields)))


def fault(message: str, fields: str, function: str | None = None, variable: str | None = None) -> EvaluationError:
    """The exception for an evaluation's error. The extension module calls this function."""
    keys = json.loads(fields)
    operation, offset = keys.pop("operation"), keys.pop("offset")
    place = At(function=function, variable=variable, operation=operation, offset=offset)
    return EvaluationError(message, keys.pop("kind"), place, **keys)


for exception in (Error, EvaluationError):
    exception.__module__ = "eitri"
del exception
