"""Descriptions: statements about a program, in their order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _input
from ._input import Data, TargetLike
from ._statements import Statements

__all__ = ["Description"]


class Description(Statements):
    """A description of debug information, made statement by statement.

    A method that adds an entity returns what later statements refer to it by: its id, or else its name. Variables and
    everything else that can be referred to by an id only get an id if none is given.

        d = Description("amdgpu-gfx1100-wave32")
        unit = d.unit("scale.cl")
        int32 = d.base_type(unit, "int", "signed", 32)
        kernel = d.function(unit, "scale", code={"symbol": "scale", "bytes": 40}, kernel=True)
        d.parameter(kernel, "n", int32, live=[[0, 12, location.register("s4")], [12, 40, location.lane("v40", 7)]])

    Statements are checked when the description is used: an error's `at.json_path` names the statement.
    """

    __slots__ = ("target", "statements", "spirv")

    target: TargetLike
    """The target: its name, or its facts."""
    statements: list[dict[str, Any]]
    """The statements: each is a dictionary with one key."""
    spirv: Mapping[str, Any] | None
    """Ids and positions in a SPIR-V module."""

    def __init__(self, target: TargetLike, *, spirv: Mapping[str, Any] | None = None) -> None:
        self.target = target
        self.statements = []
        self.spirv = spirv

    @classmethod
    def from_json(cls, text: str | Data) -> Description:
        """Reads a description: JSON text in a `str`, or bytes, or the file with a path."""
        contents = text if isinstance(text, str) else _input.read(text, "description")
        document = json.loads(contents)
        if not isinstance(document, dict) or not isinstance(document.get("describe"), list):
            raise ValueError("the text is not a description; expected an object with the list `describe`")
        made = cls(document["target"], spirv=document.get("spirv"))
        made.statements = document["describe"]
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
        return _input.to_json(self.to_dict())

    def add(self, statement: str, keys: Mapping[str, Any]) -> None:
        """Adds a statement with its keys. Keys that are `None` are left out."""
        self.statements.append({statement: {key: value for key, value in keys.items() if value is not None}})

    def _entity(self, statement: str, keys: dict[str, Any], name: str | None) -> str:
        reference: str | None = keys.get("id")
        if reference is None:
            reference = name
        if reference is None:
            # No source has such a name.
            reference = keys["id"] = f"#{len(self.statements)}"
        self.add(statement, keys)
        return reference

    def __len__(self) -> int:
        return len(self.statements)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Description) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        target = self.target if isinstance(self.target, str) else self.target.get("name")
        return f"<eitri.Description for {target}: {len(self)} statements>"
