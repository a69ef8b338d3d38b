"""The extension module: the library's functions on bytes and JSON text."""

from collections.abc import Callable
from typing import Any, TypeAlias, final

from ._errors import Error
from ._input import Consumer

__all__ = [
    "WrittenModule",
    "answers",
    "attach",
    "check",
    "conform",
    "consumers",
    "dialect",
    "dump",
    "emit",
    "import_",
    "lint",
    "lint_codes",
    "locate",
    "members",
    "report",
    "rewrite",
    "rewrite_members",
    "schema",
    "spirv_attach",
    "spirv_check",
    "spirv_generate",
    "spirv_strip",
    "stats",
    "steps",
    "targets",
    "to_json",
    "version",
]

_Files: TypeAlias = list[tuple[str, bytes]]
_Answer: TypeAlias = tuple[str, str, str | None]

@final
class WrittenModule:
    def warnings(self) -> str: ...

def emit(
    description: tuple[bytes, bool],
    reader: Consumer,
    code: tuple[bytes, list[tuple[str, int, int]]] | None,
    writing: dict[str, Any],
) -> tuple[bytes, str, _Files, WrittenModule]: ...
def attach(
    description: tuple[bytes, bool], object: bytes, reader: Consumer, writing: dict[str, Any]
) -> tuple[bytes, str, _Files, WrittenModule]: ...
def check(
    description: tuple[bytes, bool], object: bytes, reader: Consumer, comparing: dict[str, Any]
) -> tuple[str, str]: ...
def locate(description: tuple[bytes, bool], is_single: bool) -> tuple[str, list[str]]: ...
def import_(
    object: bytes, only: list[str], target_json: str | None, reading: dict[str, Any]
) -> tuple[str, str]: ...
def rewrite(
    object: bytes, name: str, rewriting: dict[str, Any], reading: dict[str, Any]
) -> tuple[bytes, str]: ...
def rewrite_members(
    container: bytes, name: str, rewriting: dict[str, Any], reading: dict[str, Any]
) -> tuple[bytes, list[tuple[str, bytes, str]]]: ...
def lint(
    object: bytes, name: str, only: list[str], fold: bool, reading: dict[str, Any]
) -> tuple[str, list[Error], int, int]: ...
def stats(
    object: bytes, sound: bool, variables: bool, reading: dict[str, Any]
) -> tuple[str, list[Error]]: ...
def report(
    object: bytes,
    name: str,
    disassembly: str | None,
    sources: list[tuple[str, str]],
    reading: dict[str, Any],
) -> tuple[str, list[Error]]: ...
def dump(
    contents: bytes,
    target_json: str | None,
    dialect_name: str | None,
    is_verbose: bool,
    split: bytes | None,
    supplementary: bytes | None,
) -> str: ...
def members(contents: bytes) -> list[tuple[str, bytes | None]] | None: ...
def answers(question: dict[str, Any], all_lanes: bool) -> list[_Answer]: ...
def steps(question: dict[str, Any]) -> tuple[_Answer, str, str]: ...
def conform(vectors: bytes, only: str) -> tuple[str, str, bool]: ...
def lint_codes() -> list[tuple[str, str, list[str]]]: ...
def targets() -> list[str]: ...
def consumers() -> list[str]: ...
def dialect(consumer: str) -> str: ...
def to_json(value: object, convert: Callable[[object], object]) -> bytes: ...
def version() -> str: ...
def schema(name: str) -> str: ...
def spirv_attach(
    module: bytes, description: tuple[bytes, bool], reader: str | None, partial: bool
) -> tuple[bytes, list[str]]: ...
def spirv_generate(
    module: bytes,
    reader: str | None,
    source: tuple[str | None, str | None, int | None],
    replace: bool,
) -> tuple[bytes, list[str]]: ...
def spirv_check(module: bytes) -> tuple[str, str]: ...
def spirv_strip(module: bytes, unused: bool) -> bytes: ...
