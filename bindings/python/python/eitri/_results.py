"""What functions return."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from . import _eitri
from ._description import Description
from ._errors import At, Error, EvaluationError, location
from ._input import Consumer

__all__ = [
    "CheckReport", "ConformReport", "Coverage", "Difference", "Emitted", "Evaluation", "Explanation", "Finding", "Fix",
    "FunctionCoverage", "Imported", "LintReport", "Located", "Member", "Report", "Rewritten", "RewrittenMembers", "Statistics",
    "Unimported", "UnitCoverage", "Unproven", "VariableCoverage", "Warning",
]


@dataclass(frozen=True, slots=True)
class Warning:
    """A valid description that can be a mistake."""

    kind: str
    """Kind, such as `shared-bits`."""
    message: str
    """Text with the location."""

    def __str__(self) -> str:
        return self.message


class Warnings(Sequence[Warning]):
    """The warnings of an output, which are found when they are first looked at: for long location lists, finding them takes
    longer than writing.
    """

    __slots__ = ("_module", "_about_code", "_found")

    def __init__(self, module: _eitri.WrittenModule, about_code: list[dict[str, str]]) -> None:
        self._module: _eitri.WrittenModule | None = module
        self._about_code = about_code
        self._found: list[Warning] = []

    def _all(self) -> list[Warning]:
        module = self._module
        if module is not None:
            self._found = [Warning(**warning) for warning in json.loads(module.warnings()) + self._about_code]
            self._module = None
        return self._found

    @overload
    def __getitem__(self, index: int) -> Warning: ...
    @overload
    def __getitem__(self, index: slice) -> list[Warning]: ...
    def __getitem__(self, index: int | slice) -> Warning | list[Warning]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        return self._all() == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[type[list[Warning]], tuple[list[Warning]]]:
        return list, (self._all(),)


@dataclass(frozen=True, slots=True)
class Emitted:
    """An output: an object, or PTX."""

    data: bytes = field(repr=False)
    """Contents."""
    consumer: Consumer
    """The consumer, as it was given: `check`, `evaluate` and `dump` take this object's by default."""
    omissions: Sequence[str]
    """Properties that the consumer's format cannot express: none, unless `partial` was given."""
    warnings: Sequence[Warning]
    """Valid statements that can be mistakes. They are found when they are first looked at."""
    split: Mapping[str, bytes] = field(repr=False)
    """Files of split units, by name."""

    def __bytes__(self) -> bytes:
        return self.data


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between a description and an object."""

    kind: str
    """Kind: `location`, `missing-entry`."""
    message: str
    """Text with the location and both properties."""
    expected: str
    """Property in the description."""
    found: str
    """Property in the object."""
    lane: int | None
    """Lane, if the difference depends on it."""
    trace: Sequence[str]
    """The evaluation, operation by operation."""
    at: At
    """Location in the program."""

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Unproven:
    """A location that could not be compared."""

    what: str | None
    """Attribute or entry with the location, unless it is a variable's."""
    reason: str
    """`raw`, `out-of-bounds`, `undescribed` or `depth`."""
    at: At
    """Location in the program."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A comparison of a description with an object. True if there is no difference."""

    findings: Sequence[Difference]
    """Differences."""
    is_clean: bool
    """Whether there is no difference."""
    unproven: Sequence[Unproven]
    """Locations that could not be compared."""
    omitted: int
    """Number of properties that the consumer cannot express."""
    locations: int
    """Number of compared locations."""
    entries: int
    """Number of compared entries."""
    rows: int
    """Number of compared line rows."""
    names: int
    """Number of names that were looked up in tables."""
    macros: int
    """Number of compared macro directives."""
    text: str = field(repr=False)
    """The report as text."""

    def __bool__(self) -> bool:
        return self.is_clean

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake in debug information, with its evidence."""

    code: str
    """Kind of mistake: `lint_codes()` explains each."""
    declared: tuple[str, int] | None
    """File and line where the variable is declared, or else the function."""
    evidence: Sequence[str]
    """Facts in the file that prove the finding."""
    expression: str | None
    """The operations."""
    fault: range | None
    """Characters of the expression that are at fault."""
    file: str
    """Name of the object."""
    fingerprint: str
    """Hexadecimal number that is the same in a build with other addresses."""
    function: str | None
    """Function name."""
    function_pcs: tuple[str, range] | None
    """In a cubin, a function and the same pcs from the start of its code, as NVIDIA's tools print them."""
    inlined: Sequence[str]
    """Inlined functions around the variable, the outermost first."""
    level: str
    """`error`, `warning` or `note`."""
    meant: str | None
    """Intended meaning at `pcs`, where it can be inferred. `rewrite` writes it at the part of them that the code does not
    contradict: `Fix.pcs` and `Fix.after` have both ranges.
    """
    offset: int
    """Offset of the mistake in the section, in bytes."""
    pcs: range | None
    """Pcs that the finding is about."""
    section: str
    """Section that contains the mistake."""
    shape: str | None
    """The operations without most of their operands, by which similar findings are grouped."""
    split: str | None
    """Name of the file of split units that has the unit."""
    unit: str | None
    """Name of the compilation unit."""
    variable: str | None
    """Name of the variable or parameter."""
    written: str
    """What the information says as written."""

    def __str__(self) -> str:
        subject = ": ".join(filter(None, [self.function, self.variable]))
        code, pcs = self.function_pcs or ("", self.pcs)
        bounds = f" {code and code + '+'}[{pcs.start:#x}, {pcs.stop:#x})" if pcs else ""
        meant = f"; meant: {self.meant}" if self.meant else ""
        return f"{self.level}[{self.code}]: {subject}{bounds}: written: {self.written}{meant}"


def finding(keys: dict[str, Any]) -> Finding:
    """The finding with the keys of the schema."""
    declared = keys["declared"]
    expression = keys["expression"]
    return Finding(
        keys["code"],
        (declared["file"], declared["line"]) if declared else None,
        keys["evidence"],
        expression["text"] if expression else None,
        _characters(expression) if expression else None,
        keys["file"],
        keys["fingerprint"],
        keys["function"],
        _function_pcs(keys["function_pcs"]),
        keys["inlined"],
        keys["level"],
        keys["meant"],
        keys["offset"],
        _pcs(keys["pcs"]),
        keys["section"],
        keys["shape"],
        keys["split"],
        keys["unit"],
        keys["variable"],
        keys["written"],
    )


def _pcs(bounds: list[str] | None) -> range | None:
    """Pcs from their bounds, if there are any."""
    return _pcs_of(bounds) if bounds else None


def _function_pcs(keys: dict[str, Any] | None) -> tuple[str, range] | None:
    """A function with pcs from its start, if there are any."""
    return (keys["function"], _pcs_of(keys["pcs"])) if keys else None


def _pcs_of(bounds: list[str]) -> range:
    """Pcs from their bounds."""
    return range(int(bounds[0], 16), int(bounds[1], 16))


def _characters(expression: dict[str, Any]) -> range:
    """The characters of an expression that are at fault. The schema counts bytes."""
    text: str = expression["text"]
    start, end = expression["fault"]
    if text.isascii():
        return range(start, end)
    encoded = text.encode()
    return range(len(encoded[:start].decode(errors="ignore")), len(encoded[:end].decode(errors="ignore")))


@dataclass(frozen=True, slots=True)
class LintReport(Sequence[Finding]):
    """Findings about an object, in its order."""

    findings: list[Finding]
    """The findings."""
    unreadable: Sequence[Error]
    """Errors of parts that cannot be read. Each is also a finding."""
    functions: int
    """Number of functions with code."""
    entries: int
    """Number of location entries for variables."""

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def count(self, value: Any) -> int:
        """The number of findings with a code or at a level; or that equal a finding."""
        if isinstance(value, str):
            return sum(value in (finding.code, finding.level) for finding in self.findings)
        return self.findings.count(value)

    def counts(self) -> dict[str, int]:
        """The number of findings with each code."""
        counts: dict[str, int] = {}
        for finding in self.findings:
            counts[finding.code] = counts.get(finding.code, 0) + 1
        return counts

    @property
    def errors(self) -> list[Finding]:
        """Findings at the level `error`."""
        return [finding for finding in self.findings if finding.level == "error"]

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))


@dataclass(frozen=True, slots=True)
class Coverage:
    """The part of the code in which variables have a location, in bytes."""

    scope: int
    """Bytes of code in which the variables are in scope."""
    located: int
    """Bytes in which the variables have a location, which may be empty."""
    unavailable: int
    """Bytes in which the location is empty, or no register of a cubin's map has its PTX registers."""
    entry_values: int
    """Bytes in which the location is a value on entry to the function."""
    sound: int
    """Bytes in which the variables have a location that is not empty, without an error that `lint` finds."""

    @property
    def percent(self) -> float | None:
        """The sound part in percent; `None` without a variable in scope."""
        return 100 * self.sound / self.scope if self.scope else None


@dataclass(frozen=True, slots=True)
class VariableCoverage:
    """A variable of a function."""

    name: str | None
    """Variable name."""
    is_parameter: bool
    """Whether it is a parameter."""
    coverage: Coverage
    """The part of its scope in which it has a location."""


@dataclass(frozen=True, slots=True)
class FunctionCoverage:
    """A function."""

    name: str | None
    """Function name."""
    linkage_name: str
    """Linkage name, or else the name."""
    unit: str | None
    """Name of the compilation unit."""
    coverage: Coverage
    """Sum over the variables."""
    variables: Sequence[VariableCoverage]
    """The variables."""


@dataclass(frozen=True, slots=True)
class UnitCoverage:
    """A compilation unit."""

    name: str | None
    """Unit name."""
    coverage: Coverage
    """Sum over the variables."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """How much of an object a debugger can see."""

    coverage: Coverage
    """Sum over all variables."""
    parameters: Coverage
    """Sum over the parameters."""
    locals: Coverage
    """Sum over all other variables."""
    functions: Sequence[FunctionCoverage]
    """The functions."""
    units: Sequence[UnitCoverage]
    """The compilation units."""
    code: int
    """Bytes of code."""
    sections: Mapping[str, int]
    """Sizes of the debug sections in bytes, by name."""
    numbers: Mapping[str, int]
    """What `llvm-dwarfdump --statistics` prints, under the same names."""
    unreadable: Sequence[Error]
    """Errors of parts that cannot be read."""


def statistics(keys: dict[str, Any], unreadable: list[Error]) -> Statistics:
    """The statistics from the keys of the command's JSON."""
    code = keys.pop("#bytes of code")
    totals = [_total(keys, name) for name in ("variables", "params", "local_vars")]
    functions = [
        FunctionCoverage(
            function["name"], function["linkage_name"], function["unit"], Coverage(**function["coverage"]),
            [
                VariableCoverage(variable["name"], variable["parameter"], Coverage(**variable["coverage"]))
                for variable in function["variables"]
            ],
        )
        for function in keys["functions"]
    ]
    units = [UnitCoverage(unit["name"], Coverage(**unit["coverage"])) for unit in keys["units"]]
    numbers = {name: value for name, value in keys.items() if type(value) is int}
    prefix = "#bytes in "
    sections = {name.removeprefix(prefix): size for name, size in numbers.items() if name.startswith(prefix)}
    return Statistics(*totals, functions, units, code, sections, numbers, unreadable)


def _total(keys: dict[str, Any], group: str) -> Coverage:
    """The sum over a group of variables."""
    scope = f"sum_all_{group}(#bytes in parent scope"
    located, entry_values = (keys[f"{scope} covered by {what})"] for what in ("DW_AT_location", "DW_OP_entry_value"))
    unavailable, sound = (keys.pop(f"{scope} {what})") for what in ("covered by unavailable DW_AT_location", "with sound location"))
    return Coverage(keys[f"{scope})"], located, unavailable, entry_values, sound)


@dataclass(frozen=True, slots=True)
class Report:
    """A page about an object. A notebook shows it."""

    html: str = field(repr=False)
    """The page, an HTML file without references to other files."""
    unreadable: Sequence[Error] = ()
    """Errors of parts that cannot be read."""

    def __str__(self) -> str:
        return self.html

    def _repr_html_(self) -> str:
        from html import escape

        # The page has a style of its own, so that it needs a frame.
        return f'<iframe srcdoc="{escape(self.html)}" style="width: 100%; height: 40em; border: 0"></iframe>'


@dataclass(frozen=True, slots=True)
class Unimported:
    """A fact that a description lacks."""

    section: str
    """Section of the fact."""
    offset: int
    """Offset in the section, in bytes."""
    reason: str
    """Why it is not imported."""
    unit: str | None
    """Name of the compilation unit."""
    function: str | None
    """Name of the function."""
    pcs: range | None
    """Addresses; in a relocatable object, those that the reader assigns."""
    function_pcs: tuple[str, range] | None
    """In a cubin, a function and the same pcs from the start of its code, as NVIDIA's tools print them."""
    message: str
    """Text with all of these."""

    def __str__(self) -> str:
        return self.message


def unimported(keys: dict[str, Any]) -> Unimported:
    """The fact with the keys of the schema."""
    return Unimported(**{**keys, "pcs": _pcs(keys["pcs"]), "function_pcs": _function_pcs(keys["function_pcs"])})


@dataclass(frozen=True, slots=True)
class Imported:
    """An object's debug information as a description."""

    description: Description
    """The description."""
    unimported: Sequence[Unimported]
    """Facts that the description lacks."""


@dataclass(frozen=True, slots=True)
class Located:
    """A description with derived locations."""

    description: Description
    """The description."""
    unproven: Sequence[str]
    """Assigned values that some path of a lane does not define, as text."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of a location that `lint` proves wrong."""

    code: str
    """Kind of mistake."""
    message: str
    """The change as text."""
    unit: str | None
    """Name of the compilation unit."""
    function: str | None
    """Function name."""
    variable: str | None
    """Name of the variable or parameter."""
    pcs: range | None
    """Pcs of the location before."""
    before: str | None
    """The location before."""
    after: Sequence[tuple[range | None, str]]
    """The locations after, each with its pcs."""
    evidence: Sequence[str]
    """Facts in the file that prove the change."""

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True, repr=False)
class Rewritten:
    """An object with its debug information written again."""

    data: bytes = field(repr=False)
    """The object."""
    consumer: Consumer
    """The consumer: a debugger that reads what the producer wrote, unless it was given."""
    dwarf: int
    """DWARF version."""
    is_complete: bool
    """Whether the object has all facts of the original, apart from the changes."""
    fixes: Sequence[Fix]
    """Locations that were wrong."""
    unfixed: Sequence[str]
    """Errors that lint finds after the object is fixed."""
    removed: Sequence[Unimported]
    """Facts of code that is not in the object."""
    emptied: Mapping[str, int]
    """Copies of debug sections in a linked cubin that are empty now, with their sizes in bytes before, by name."""
    unimported: Sequence[Unimported]
    """Facts of the original that the object no longer has."""
    omissions: Sequence[str]
    """Properties that the consumer cannot express."""
    sections: Mapping[str, tuple[int, int]]
    """Sizes of the debug sections in bytes before and after, by name."""
    merged_types: int
    """Number of types that were merged with an equal type."""
    different_types: Sequence[str]
    """Types with one name that differ."""

    def __bytes__(self) -> bytes:
        return self.data

    def __repr__(self) -> str:
        lists = ("fixes", "unfixed", "removed", "unimported", "omissions")
        counts = "".join(f", {name}: {len(getattr(self, name))}" for name in lists)
        complete = "complete" if self.is_complete else "incomplete"
        return f"<eitri.Rewritten for {self.consumer.name}: {len(self.data)} bytes, DWARF {self.dwarf}, {complete}{counts}>"


@dataclass(frozen=True, slots=True)
class RewrittenMembers:
    """A container with the debug information of its objects written again."""

    data: bytes = field(repr=False)
    """The container."""
    objects: Mapping[str, Rewritten]
    """The objects that were written again, by name: `lib.a(member)`; `lib.a(member)#2` is the second of this name."""

    def __bytes__(self) -> bytes:
        return self.data


def rewritten(data: bytes, keys: dict[str, Any]) -> Rewritten:
    """The result from the keys of the command's JSON."""
    fixes = [
        Fix(**{
            **fix,
            "pcs": _pcs(fix["pcs"]),
            "after": [(_pcs(part["pcs"]), part["location"]) for part in fix["after"]],
        })
        for fix in keys["fixed"]
    ]
    return Rewritten(
        data,
        consumer=Consumer(keys["preset"]),
        dwarf=keys["dwarf"],
        is_complete=keys["is_complete"],
        fixes=fixes,
        unfixed=[error["message"] for error in keys["unfixed"]],
        removed=[unimported(fact) for fact in keys["removed"]],
        emptied={section["name"]: section["bytes"] for section in keys["emptied"]},
        unimported=[unimported(fact) for fact in keys["unimported"]],
        omissions=keys["omitted"],
        sections={size["name"]: (size["before"], size["after"]) for size in keys["sections"]},
        merged_types=keys["merged_types"],
        different_types=[different["message"] for different in keys["different_types"]],
    )


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A location or a value."""

    text: str
    """The result in the notation of conformance vectors: `location reg:v3+160, bytes 05 45 85 c5`."""
    answer: Mapping[str, Any]
    """The same with the keys of `expect` in conformance vectors."""

    @property
    def location(self) -> str | None:
        """The location."""
        return self.answer.get("location")

    @property
    def bytes(self) -> bytes | None:
        """The bytes that were read at the location; `None` also if some bits are undefined."""
        text = self.answer.get("bytes")
        try:
            return None if text is None else bytes.fromhex(text)
        except ValueError:
            return None

    @property
    def value(self) -> int | None:
        """The number, if the result is a number."""
        value = self.answer.get("value")
        return None if value is None else int(str(value), 0)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Explanation:
    """An evaluation with its steps. A notebook shows the picture."""

    steps: str = field(repr=False)
    """The steps as a table."""
    text: str
    """The result in the notation of conformance vectors."""
    answer: Mapping[str, Any]
    """The same with the keys of `expect` in conformance vectors."""
    fault: EvaluationError | None
    """Why there is no result."""
    svg: str = field(repr=False)
    """The picture: a panel for each step, with the stack and the storages."""

    def __str__(self) -> str:
        return f"{self.steps}{self.text}"

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True, slots=True)
class ConformReport:
    """Results of conformance vectors. True if all passed."""

    outcomes: Sequence[Mapping[str, Any]]
    """For each vector its name, the outcome, and what was found."""
    is_clean: bool
    """Whether all passed."""
    text: str = field(repr=False)
    """The report as text."""

    def __bool__(self) -> bool:
        return self.is_clean

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a container."""

    name: str
    """Name."""
    data: bytes | None = field(repr=False)
    """Contents; `None` if they are compressed in a way that cannot be read, or are in another file."""


def difference(keys: dict[str, Any]) -> Difference:
    """The difference from the library's facts."""
    return Difference(**{**keys, "at": location(keys["at"])})
