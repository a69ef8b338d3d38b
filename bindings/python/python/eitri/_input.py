"""What functions take: contents, files, descriptions, targets and consumers."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from . import _eitri, types

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ._description import Description

__all__ = ["Consumer", "Data", "DescriptionLike", "TargetLike"]

Path: TypeAlias = "str | os.PathLike[str]"


class HasData(Protocol):
    """What a function of this package returned, with the contents as `data`."""

    @property
    def data(self) -> bytes:
        """Contents."""


Data: TypeAlias = "bytes | bytearray | memoryview | Buffer | HasData | Path"
"""Contents, or what a function of this package returned with its contents, or the name of the file with the contents."""
TargetLike: TypeAlias = "str | types.TargetFacts | Mapping[str, Any]"
"""A built-in target's name, such as `amdgpu-gfx1100-wave32`, or the facts of a target."""
DescriptionLike: TypeAlias = "Description | Mapping[str, Any] | Data"
"""A description: an object, the same as dictionaries and lists, JSON text as bytes, or the name of a file."""
Split: TypeAlias = "Mapping[str, Data] | None"
"""Files of split units, by name."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """The debugger that reads an object, and options of its format."""

    name: str | None = None
    """Name in `eitri.consumers()`. `None` stands for `cuda-gdb` on NVIDIA's targets, `dwarf5` on CPUs, and `llvm` on all other targets."""
    dwarf64: bool = False
    """Use the 64-bit DWARF format."""
    names: bool = False
    """Add DWARF 5's name index (`.debug_names`)."""
    pubnames: bool = False
    """Add the name tables from before DWARF 5."""
    aranges: bool = False
    """Add the address range table."""
    type_units: bool = False
    """Put named structures and enumerations into type units."""
    split: bool = False
    """Split DWARF 5 units: the parts without relocations are in files of their own."""


def consumer(given: str | Consumer | None) -> Consumer:
    """The consumer that an argument names."""
    if given is None or isinstance(given, str):
        return Consumer(given)
    if isinstance(given, Consumer):
        return given
    raise TypeError(f"consumer is {type(given).__name__}; expected a name, a Consumer, or None")


def consumer_of(given: str | Consumer | None, written: object) -> Consumer:
    """The consumer that an argument names; without one, the consumer for which an object was written, if it is known."""
    known = getattr(written, "consumer", None)
    return consumer(known if given is None and isinstance(known, Consumer) else given)


def read(data: Data, what: str = "data") -> bytes:
    """The contents as bytes, which nobody can change while the library reads them."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, (str, os.PathLike)):
        with open(data, "rb") as file:
            return file.read()
    contents = getattr(data, "data", None)
    # An array of NumPy has a view there.
    if isinstance(contents, bytes):
        return contents
    try:
        view = memoryview(data)  # type: ignore[arg-type]
    except TypeError:
        kind = type(data).__name__
        raise TypeError(f"{what} is {kind}; expected bytes, a buffer, or a file name") from None
    return view.tobytes()


def optional(data: Data | None, what: str) -> bytes | None:
    """The contents, if there are any."""
    return None if data is None else read(data, what)


def text(value: str, what: str) -> str:
    """An argument that is a text."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is {type(value).__name__}; expected a text")
    return value


def name_of(data: Data) -> str:
    """The name of contents, for messages."""
    return os.fspath(data) if isinstance(data, (str, os.PathLike)) else "<bytes>"


def split(files: Split) -> list[tuple[str, bytes]]:
    """The files of split units."""
    return [(name, read(data, f"split[{name!r}]")) for name, data in (files or {}).items()]


def reading(files: Split, supplementary: Data | None, threads: int | None = None) -> dict[str, Any]:
    """How an object is read."""
    if threads is not None:
        threads = operator.index(threads)
        if not 1 <= threads < 1 << 32:
            raise ValueError(f"threads is {threads}; expected at least 1")
    return {"split": split(files), "supplementary": optional(supplementary, "supplementary"), "threads": threads}


def target(given: TargetLike | None) -> str | None:
    """A target as JSON."""
    return None if given is None else to_json(given)


def description(given: DescriptionLike) -> tuple[bytes, bool]:
    """A description as JSON text, and whether this package wrote the text."""
    from ._description import Description

    if isinstance(given, Description):
        return given._to_bytes(), True
    if isinstance(given, Mapping):
        return to_bytes(given), True
    return read(given, "description"), False


def to_json(value: object) -> str:
    """JSON text. Bytes are hexadecimal digits there, and a range is its bounds."""
    return to_bytes(value).decode()


def to_bytes(value: object) -> bytes:
    """JSON text in UTF-8."""
    return _eitri.to_json(value, _converted)


def _converted(value: object) -> object:
    """A value that JSON lacks."""
    if isinstance(value, Mapping):
        return dict(value)
    kind = type(value).__name__
    if hasattr(value, "__index__"):
        return operator.index(value)
    # A description is written several times: what can be iterated once would be empty the second time, and what has no
    # order would be written in several.
    if isinstance(value, (Iterator, Set)):
        raise TypeError(f"{kind} in a description; expected a list, which can be read again and has an order")
    try:
        return list(value)  # type: ignore[call-overload]
    except TypeError:
        raise TypeError(f"{kind} in a description; expected text, numbers, bytes, lists or dictionaries") from None
