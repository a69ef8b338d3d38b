"""Descriptions: statements about a program, in their order."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from . import _input
from ._errors import Error
from ._input import Data, TargetLike
from ._statements import Statements

__all__ = ["Description"]


_LOCK = threading.Lock()
_OWN = re.compile("#[0-9]{1,18}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys are there once."""
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key `{twice}` is there twice in an object")
    return made


def _dictionary(statement: dict[str, Any] | bytes) -> dict[str, Any]:
    """A statement as a dictionary."""
    return json.loads(statement) if isinstance(statement, bytes) else statement


def _number(name: object) -> int:
    """A number after that of an id which `_new_id` could make; 0 for any other id."""
    return 1 + int(name[1:]) if isinstance(name, str) and _OWN.fullmatch(name) else 0


def _text(statement: dict[str, Any] | bytes) -> bytes:
    """A statement as JSON text."""
    return statement if isinstance(statement, bytes) else _input.to_bytes(statement)


def _no_number(text: str) -> Any:
    """What Python's reader takes, and JSON has not."""
    raise ValueError(f"`{text}` is not a number of JSON")


class Description(Statements):
    """A description of debug information, made statement by statement.

    A method that adds an entity returns what later statements refer to it by: its id, or else its name. Variables and
    everything else that can be referred to by an id only get an id if none is given.

        d = Description("amdgpu-gfx1100-wave32")
        unit = d.unit("scale.cl")
        int32 = d.base_type(unit, "int", "signed", 32)
        kernel = d.function(unit, "scale", code={"symbol": "scale", "bytes": 40}, kernel=True)
        d.parameter(kernel, "n", int32, live=[[0, 12, location.register("s4")], [12, 40, location.lane("v40", 7)]])

    A method takes its arguments as they are at the call: a list that changes afterwards does not change the statement.
    Statements are checked when the description is used: an error's `at.json_path` names the statement.
    """

    __slots__ = ("target", "spirv", "_statements", "_is_listed", "_next")

    target: TargetLike
    """The target: its name, or its facts."""
    spirv: Mapping[str, Any] | None
    """Ids and positions in a SPIR-V module."""

    def __init__(self, target: TargetLike, *, spirv: Mapping[str, Any] | None = None) -> None:
        self.target = target
        self.spirv = spirv
        # Statements, as JSON text until `statements` is used: without it, what a statement consists of need not be kept.
        self._statements: list[dict[str, Any] | bytes] = []
        self._is_listed = False
        self._next: int | None = None

    @property
    def statements(self) -> list[dict[str, Any]]:
        """The statements: each is a dictionary with one key. The list can be changed."""
        if not self._is_listed:
            self._statements[:] = map(_dictionary, self._statements)
            self._is_listed = True
        return self._statements  # type: ignore[return-value]

    @statements.setter
    def statements(self, statements: list[dict[str, Any]]) -> None:
        self._statements = statements  # type: ignore[assignment]
        self._is_listed = True

    @classmethod
    def from_json(cls, text: str | Data) -> Description:
        """Reads a description: JSON text in a `str`, or bytes, or the file with a path.

        Raises `Error` for a text that is not a description of this version. Its statements are checked when they are used.
        """
        contents = text if isinstance(text, str) else _input.read(text, "description")
        try:
            document = json.loads(contents, object_pairs_hook=_once, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise Error(f"the description is not JSON: {error}", "Malformed") from None
        return cls._from_document(document)

    @classmethod
    def _from_document(cls, document: Any) -> Description:
        """A description from JSON values."""
        if not isinstance(document, dict):
            raise Error("the text is not a description; expected an object", "Malformed")
        keys = {"eitri", "target", "describe", "spirv"}
        for key in document:
            if key not in keys:
                raise Error(f"unknown key `{key}` of the description; expected {', '.join(sorted(keys))}", "Malformed")
        if document.get("eitri") != 1:
            raise Error(f"the description's version `eitri` is {document.get('eitri')!r}; expected 1", "Malformed")
        if not isinstance(document.get("target"), (str, dict)):
            raise Error("the description's `target` is missing; expected a name or facts", "Malformed")
        if not isinstance(document.get("describe"), list):
            raise Error("the description's list `describe` is missing", "Malformed")
        made = cls(document["target"], spirv=document.get("spirv"))
        made._statements = document["describe"]
        return made

    def to_dict(self) -> dict[str, Any]:
        """The description as dictionaries and lists."""
        document: dict[str, Any] = {"eitri": 1, "target": self.target}
        if self.spirv is not None:
            document["spirv"] = self.spirv
        document["describe"] = self.statements
        return document

    def to_json(self) -> str:
        """The description as JSON text."""
        return self._to_bytes().decode()

    def _to_bytes(self) -> bytes:
        """The description as JSON text in UTF-8."""
        head = b'{"eitri":1,"target":' + _input.to_bytes(self.target)
        if self.spirv is not None:
            head += b',"spirv":' + _input.to_bytes(self.spirv)
        return head + b',"describe":[' + b",".join(map(_text, self._statements)) + b"]}"

    def add(self, statement: str, keys: Mapping[str, Any]) -> None:
        """Adds a statement with its keys. Keys that are `None` are left out."""
        self._add({statement: {key: value for key, value in keys.items() if value is not None}})

    def extend(self, statements: Iterable[Mapping[str, Any]]) -> None:
        """Adds statements, each a dictionary with one key: a batch, such as those of a function, takes less time than a method
        for each. They are kept as text: what they consist of can be freed, and is no work for the garbage collector.
        """
        for statement in statements:
            if not isinstance(statement, Mapping):
                raise TypeError(f"a statement is {type(statement).__name__}; expected a dictionary with one key")
            self._add(statement)

    def _add(self, statement: Mapping[str, Any]) -> None:
        text = _input.to_bytes(statement)
        if self._next is not None:
            number = max((_number(keys.get("id")) for keys in statement.values() if isinstance(keys, Mapping)), default=0)
            if number > self._next:
                with _LOCK:
                    self._next = max(self._next, number)
        self._statements.append(_dictionary(text) if self._is_listed else text)

    def _entity(self, statement: str, keys: dict[str, Any], name: str | None) -> str:
        reference: str | None = keys.get("id")
        if reference is None:
            reference = name
        if reference is None:
            reference = keys["id"] = self._new_id()
        self.add(statement, keys)
        return reference

    def _new_id(self) -> str:
        """An id that no statement has. No source has a name of this form."""
        with _LOCK:
            if self._next is None:
                # What was read has ids of this form too.
                statements = map(_dictionary, self._statements)
                known = (keys.get("id") for statement in statements for keys in statement.values())
                self._next = max(map(_number, known), default=0)
            number = self._next
            self._next += 1
        return f"#{number}"

    def __len__(self) -> int:
        return len(self._statements)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Description) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        target = self.target.get("name") if isinstance(self.target, Mapping) else self.target
        return f"<eitri.Description for {target}: {len(self)} statements>"
