"""SPIR-V modules: debug instructions added, checked and removed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from . import _eitri, _input
from ._input import Data, DescriptionLike

__all__ = ["Attached", "Invalid", "ValidationReport", "attach", "check", "strip"]

Reader = Literal["opencl", "vulkan", "translator", "translator200", "validating", "exact"]
"""The program that reads a module. `validating` and `exact` are for shaders."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A module with debug instructions."""

    data: bytes = field(repr=False)
    """The module."""
    omissions: Sequence[str]
    """Properties that the instruction set cannot express, and facts that the module lacks."""

    def __bytes__(self) -> bytes:
        return self.data


@dataclass(frozen=True, slots=True)
class Invalid:
    """A debug instruction that breaks a rule."""

    rule: str
    """Name of the rule."""
    message: str
    """Text with the instruction."""

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """A module's debug instructions, checked by the rules of their specification. True if none is broken."""

    findings: Sequence[Invalid]
    """Broken rules."""
    text: str = field(repr=False)
    """The report as text."""

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        return self.text


def attach(
    module: Data,
    description: DescriptionLike | None = None,
    *,
    reader: Reader | None = None,
    partial: bool = False,
    replace: bool = False,
    path: str | None = None,
    source: str | None = None,
    language: int | None = None,
) -> Attached:
    """Adds debug instructions to a module: those of a description, or else those that follow from the module.

    description: A description with the key `spirv`, which has ids and positions in the module.
    reader: The reader; by default `vulkan` for a shader, otherwise `opencl`.
    partial: With a description: omit what the instruction set cannot express, and list it; otherwise it is an error.
    replace: Without a description: remove the module's debug instructions first.
    path, source, language: Without a description: path and text of the source file, and its language number in SPIR-V,
        instead of what the module has.
    """
    contents = _input.read(module, "module")
    if description is None:
        return Attached(*_eitri.spirv_generate(contents, reader, (path, source, language), replace))
    if replace or any(given is not None for given in (path, source, language)):
        raise TypeError("`replace`, `path`, `source` and `language` are for modules without a description")
    return Attached(*_eitri.spirv_attach(contents, _input.description(description), reader, partial))


def check(module: Data) -> ValidationReport:
    """Checks a module's debug instructions by the rules in their specification."""
    findings, text = _eitri.spirv_check(_input.read(module, "module"))
    return ValidationReport([Invalid(**finding) for finding in json.loads(findings)], text)


def strip(module: Data, *, unused: bool = False) -> bytes:
    """Removes debug instructions and lines from a module, whichever producer wrote them.

    unused: Remove also types, constants and extensions that nothing uses after that.
    """
    return _eitri.spirv_strip(_input.read(module, "module"), unused)
