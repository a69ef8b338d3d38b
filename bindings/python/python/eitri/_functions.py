"""The functions of the library."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from . import _eitri, _input
from ._description import Description
from ._errors import location
from ._input import Consumer, Data, DescriptionLike, Split, TargetLike
from ._results import (
    CheckReport, ConformReport, Emitted, Imported, LintReport, Located, Member, Report, Rewritten, RewrittenMembers,
    Statistics, Unproven, Warnings, difference, finding, rewritten, statistics, unimported,
)

__all__ = [
    "LintCode", "attach", "check", "conform", "consumers", "dump", "emit", "import_", "lint", "lint_codes", "locate", "members",
    "report", "rewrite", "rewrite_members", "schema", "stats", "targets",
]

# Code of a kernel begins at a multiple of this number of bytes, which is what AMD requires.
_ALIGNMENT = 256


def _emitted(
    consumer: Consumer, data: bytes, facts: str, split: list[tuple[str, bytes]], module: _eitri.WrittenModule,
) -> Emitted:
    keys = json.loads(facts)
    return Emitted(data, consumer, keys["omissions"], Warnings(module, keys["warnings"]), dict(split))


def emit(
    description: DescriptionLike,
    *,
    code: Mapping[str, Data] | None = None,
    consumer: str | Consumer | None = None,
    name: str = "out.o",
    partial: bool = False,
    compress: Literal["zlib", "zstd"] | None = None,
) -> Emitted:
    """Writes a description's debug information in a new relocatable object.

    code: Machine code of functions, by symbol. Without it, the object has debug sections alone, with undefined symbols. A
        function without a description is a warning, as is code of another size than its description.
    consumer: The debugger that reads the object.
    name: The object's file name, after which files of split units are named.
    partial: Omit what the consumer's format cannot express, and list it; otherwise it is an error.
    compress: Method by which debug sections are compressed.
    """
    laid = None
    if code is not None:
        if not isinstance(code, Mapping):
            raise TypeError(f"code is {type(code).__name__}; expected machine code by symbol")
        text = bytearray()
        functions = []
        for symbol, data in code.items():
            contents = _input.read(data, f"code[{symbol!r}]")
            text += bytes(-len(text) % _ALIGNMENT)
            functions.append((symbol, len(text), len(contents)))
            text += contents
        laid = (bytes(text), functions)
    reader = _input.consumer(consumer)
    writing = {"name": _input.text(name, "name"), "partial": partial, "replace": False, "compress": compress}
    return _emitted(reader, *_eitri.emit(_input.description(description), reader, laid, writing))


def attach(
    description: DescriptionLike,
    object: Data,
    *,
    consumer: str | Consumer | None = None,
    name: str = "out.o",
    partial: bool = False,
    replace: bool = False,
    compress: Literal["zlib", "zstd"] | None = None,
) -> Emitted:
    """Adds a description's debug information to an object, relocatable or linked, or to PTX for `cuda-gdb`.

    consumer: The debugger that reads the object.
    name: The output's file name, after which files of split units are named.
    partial: Omit what the consumer's format cannot express, and list it; otherwise it is an error.
    replace: Remove the object's debug sections first; otherwise they are an error.
    compress: Method by which debug sections are compressed.
    """
    contents = _input.read(object, "object")
    reader = _input.consumer(consumer)
    described = _input.description(description)
    writing = {"name": _input.text(name, "name"), "partial": partial, "replace": replace, "compress": compress}
    return _emitted(reader, *_eitri.attach(described, contents, reader, writing))


def check(
    description: DescriptionLike,
    object: Data,
    *,
    consumer: str | Consumer | None = None,
    split: Split = None,
    partial: bool = False,
    code: bool = False,
    allow_extra: bool = False,
) -> CheckReport:
    """Compares an object's debug information with a description.

    consumer: The debugger that reads the object: by default that of `emit`, if `object` is what it returned.
    split: Files of split units, by name.
    partial: Accept the omissions that `partial` makes.
    code: Also check the locations in the description, by its statements about code.
    allow_extra: Accept units, types, files and frames that the description does not have.
    """
    reader = _input.consumer_of(consumer, object)
    if isinstance(object, Emitted):
        split = {**object.split, **(split or {})}
    comparing = {"split": _input.split(split), "partial": partial, "code": code, "allow_extra": allow_extra}
    facts, text = _eitri.check(
        _input.description(description), _input.read(object, "object"), reader, comparing,
    )
    keys = json.loads(facts)
    findings = [difference(finding) for finding in keys.pop("findings")]
    unproven = [
        Unproven(place["what"], place["reason"], location(place["at"])) for place in keys.pop("unproven")
    ]
    return CheckReport(findings=findings, unproven=unproven, text=text, **keys)


def locate(description: DescriptionLike, *, keep: Literal["all", "one"] = "all") -> Located:
    """Derives locations from a description's statements about code.

    keep: Keep all locations at a pc, or the location that lasts longest.
    """
    if keep not in ("all", "one"):
        raise ValueError(f"keep is {keep!r}; expected 'all' or 'one'")
    text, unproven = _eitri.locate(_input.description(description), keep == "one")
    return Located(Description._from_document(json.loads(text)), unproven)


def import_(
    object: Data,
    *,
    only: Sequence[str] = (),
    target: TargetLike | None = None,
    split: Split = None,
    supplementary: Data | None = None,
    threads: int | None = None,
) -> Imported:
    """Imports an object's debug information, from any producer, as a description.

    only: Functions to import, by name or linkage name, with what they refer to.
    target: The target, where the object does not state it.
    split: Files of split units, by name.
    supplementary: The supplementary file.
    threads: Number of threads; all that the system has by default.
    """
    text, facts = _eitri.import_(
        _input.read(object, "object"), _names(only, "only"), _input.target(target),
        _input.reading(split, supplementary, threads),
    )
    return Imported(Description._from_document(json.loads(text)), [unimported(fact) for fact in json.loads(facts)])


def rewrite(
    object: Data,
    *,
    fix: bool = False,
    consumer: str | None = None,
    target: TargetLike | None = None,
    names: bool = False,
    gc: bool = False,
    dedupe: bool = False,
    supplementary: Data | None = None,
    threads: int | None = None,
) -> Rewritten:
    """Writes an object's debug information again, for the same or another debugger. Code and loaded bytes stay.

    fix: Write what `lint` proves wrong as it was meant, as far as the code proves it; remove it otherwise.
    consumer: The debugger; by default a debugger that reads what the producer wrote.
    target: The target, where the object does not state it.
    names: Add DWARF 5's name index.
    gc: Remove what belongs to code that is not in the linked object.
    dedupe: Describe equal types of all units once.
    supplementary: The supplementary file, whose facts move into the object.
    threads: Number of threads; all that the system has by default.
    """
    data, facts = _eitri.rewrite(
        _input.read(object, "object"), _input.name_of(object),
        _rewriting(consumer=consumer, target=target, fix=fix, names=names, gc=gc, dedupe=dedupe),
        _input.reading(None, supplementary, threads),
    )
    return rewritten(data, json.loads(facts))


def rewrite_members(
    container: Data,
    *,
    fix: bool = False,
    consumer: str | None = None,
    target: TargetLike | None = None,
    names: bool = False,
    gc: bool = False,
    dedupe: bool = False,
    threads: int | None = None,
) -> RewrittenMembers:
    """Rewrites the objects in an archive, an offload bundle or a host object, as `rewrite` does. The other members, and
    objects without debug information, keep their bytes.
    """
    data, members = _eitri.rewrite_members(
        _input.read(container, "container"), _input.name_of(container),
        _rewriting(consumer=consumer, target=target, fix=fix, names=names, gc=gc, dedupe=dedupe),
        _input.reading(None, None, threads),
    )
    objects: dict[str, Rewritten] = {}
    counts: Counter[str] = Counter()
    for name, contents, facts in members:
        # An archive can have several members of one name.
        key = name
        while key in objects:
            counts[name] += 1
            key = f"{name}#{counts[name] + 1}"
        objects[key] = rewritten(contents, json.loads(facts))
    return RewrittenMembers(data, objects)


def _rewriting(*, target: TargetLike | None, **options: Any) -> dict[str, Any]:
    """How objects are rewritten."""
    return {"target": _input.target(target), **options}


def lint(
    object: Data,
    *,
    only: Sequence[str] = (),
    split: Split = None,
    supplementary: Data | None = None,
    threads: int | None = None,
    first: bool = False,
) -> LintReport:
    """Checks an object's debug information, from any producer, by the code in the object; or a SPIR-V module's; or that of
    all objects and modules in an archive, an offload bundle or a host object: `file` of a finding is `lib.a(member)`.

    only: Functions whose findings are reported, by name or linkage name.
    split: Files of split units, by name.
    supplementary: The supplementary file.
    threads: Number of threads; all that the system has by default.
    first: Report only the first finding about each variable with a code, as the command's text does.
    """
    findings, unreadable, functions, entries = _eitri.lint(
        _input.read(object, "object"), _input.name_of(object), _names(only, "only"), first,
        _input.reading(split, supplementary, threads),
    )
    return LintReport([finding(keys) for keys in json.loads(findings)], unreadable, functions, entries)


def stats(
    object: Data,
    *,
    sound: bool = True,
    variables: bool = True,
    split: Split = None,
    supplementary: Data | None = None,
    threads: int | None = None,
) -> Statistics:
    """Measures in which part of the code variables have a location.

    sound: Measure the sound part, for which the locations are checked.
    variables: List the variables of each function.
    split: Files of split units, by name.
    supplementary: The supplementary file.
    threads: Number of threads; all that the system has by default.
    """
    numbers, unreadable = _eitri.stats(
        _input.read(object, "object"), sound, variables, _input.reading(split, supplementary, threads),
    )
    return statistics(json.loads(numbers), unreadable)


def report(
    object: Data,
    *,
    name: str | None = None,
    disassembly: str | None = None,
    sources: Mapping[str, str] | None = None,
    split: Split = None,
    supplementary: Data | None = None,
) -> Report:
    """Writes a page about an object: a timeline of each function's variables, with expressions and findings.

    name: Title of the page; the file's name by default.
    disassembly: Output from a disassembler for the object.
    sources: Text of source files, by path or by the end of a path.
    split: Files of split units, by name.
    supplementary: The supplementary file.
    """
    title = _input.name_of(object) if name is None else name
    page, unreadable = _eitri.report(
        _input.read(object, "object"), title, disassembly, list((sources or {}).items()),
        _input.reading(split, supplementary),
    )
    return Report(page, unreadable)


def dump(
    data: Data,
    *,
    target: TargetLike | None = None,
    dialect: Literal["llvm", "legacy", "dwarf5", "dwarf6"] | None = None,
    verbose: bool = False,
    split: Data | None = None,
    supplementary: Data | None = None,
) -> str:
    """Prints an object's debug sections, or a SPIR-V module's debug instructions; of a container, those of each member.

    target: The target whose register names are printed; the object's by default.
    dialect: Encoding for vendors' operations, which an object does not record: by default that of the debugger for which
        `emit` wrote `data`, and otherwise that of the object's expressions.
    verbose: Print section offsets, forms and encodings too.
    split: A file of split units, which is printed instead, with the addresses in the object.
    supplementary: The supplementary file.
    """
    consumer = _input.consumer_of(None, data).name
    encoding = dialect or (None if consumer is None else _eitri.dialect(consumer))
    return _eitri.dump(
        _input.read(data), _input.target(target), encoding, verbose, _input.optional(split, "split"),
        _input.optional(supplementary, "supplementary"),
    )


def members(data: Data) -> list[Member] | None:
    """The members of an archive, an offload bundle or a host object; `None` for other contents."""
    contents = _eitri.members(_input.read(data))
    return None if contents is None else [Member(*member) for member in contents]


def conform(vectors: Data | Mapping[str, object], *, only: str = "") -> ConformReport:
    """Runs conformance vectors with the library's evaluator.

    only: Run the vectors whose name contains this text.
    """
    text = _input.to_json(vectors).encode() if isinstance(vectors, Mapping) else _input.read(vectors, "vectors")
    lines, report, is_clean = _eitri.conform(text, only)
    return ConformReport([json.loads(line) for line in lines.splitlines()], is_clean, report)


class LintCode(NamedTuple):
    """A code of a finding, with its page."""

    name: str
    """Name: stable."""
    level: str
    """`error`, `warning` or `note`."""
    title: str
    """Title."""
    why: str
    """Why a debugger shows the wrong thing."""
    example: str
    """Example, with its producer."""
    instead: str
    """Correct information."""
    text: str
    """Text that decides it."""


def lint_codes() -> list[LintCode]:
    """The codes of findings."""
    return [LintCode(name, level, *page) for name, level, page in _eitri.lint_codes()]


def targets() -> list[str]:
    """The names of the built-in targets."""
    return _eitri.targets()


def consumers() -> list[str]:
    """The names of the consumers."""
    return _eitri.consumers()


def schema(
    name: Literal["description", "machine", "vectors", "finding", "rewritten", "statistics"],
) -> dict[str, Any]:
    """The JSON Schema of a format."""
    document: dict[str, Any] = json.loads(_eitri.schema(name))
    return document


def _names(names: Sequence[str], what: str) -> list[str]:
    if isinstance(names, str):
        raise TypeError(f"{what} is a text; expected a list of names")
    return list(names)
