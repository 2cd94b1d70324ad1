"""JavaScript's values as frozen Python data, and as JSON text between the two.

What JSON lacks is written as an object with the member ``@js``: ``{"@js":
"undefined"}``, ``"NaN"``, ``"Infinity"``, ``"-Infinity"``, ``"-0"``,
``"function"``, ``"instance"``, ``"date"``, ``"xml"``. An object that has a
member ``@js`` of its own becomes ``{"@js": "object", "value": {...}}``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, Final

from ...errors import SnapshotError
from ...interpreter.datamodel import DatamodelError
from ...values import UNDEFINED, FrozenDict, FrozenList, freeze, js_ordered
from .ecmascript_markers import (
    OPAQUE_ADVICE,
    DateValue,
    DeclaredFunction,
    FunctionSource,
    Instance,
    Opaque,
    XmlContent,
)
from .ecmascript_xml import xml_trees

TAG: Final = "@js"
_EXACT: Final = 9007199254740992
_LONG_DIGITS = re.compile(r"\d{16}")


def is_negative_zero(value: Any) -> bool:
    """Whether ``value`` is ``-0``."""
    return value == 0 and type(value) is float and math.copysign(1.0, value) < 0


def tagged(value: Any, other: Callable[[Any, str], Any], pointer: str = "") -> Any:
    """``value`` as plain JSON with tags. ``other(value, pointer)`` writes what is neither data nor undefined."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind is int:
        return value if -_EXACT <= value <= _EXACT else _tagged_float(_as_float(value))
    if kind is float:
        return _tagged_float(value)
    if isinstance(value, dict):
        members = {key: tagged(member, other, f"{pointer}/{_escape(key)}") for key, member in value.items()}
        return {TAG: "object", "value": members} if TAG in members else members
    if isinstance(value, (list, tuple)):
        return [tagged(item, other, f"{pointer}/{index}") for index, item in enumerate(value)]
    if value is UNDEFINED:
        return {TAG: "undefined"}
    return other(value, pointer)


def _tagged_float(value: float) -> Any:
    if value != value:
        return {TAG: "NaN"}
    if math.isinf(value):
        return {TAG: "Infinity" if value > 0 else "-Infinity"}
    if value == 0:
        return {TAG: "-0"} if math.copysign(1.0, value) < 0 else 0
    return value


def kept(value: Any, pointer: str) -> Any:
    """A marker as JSON, for :meth:`Datamodel.dump`. Raises :class:`SnapshotError`."""
    if isinstance(value, DeclaredFunction):
        return {TAG: "function", "name": value.name}
    if isinstance(value, FunctionSource):
        return {TAG: "function", "source": value.source}
    if isinstance(value, Instance):
        data = {key: tagged(member, kept, f"{pointer}/{_escape(key)}") for key, member in value.data.items()}
        return {TAG: "instance", "of": value.of, "data": data}
    if isinstance(value, DateValue):
        return {TAG: "date", "iso": value.iso}
    if isinstance(value, XmlContent):
        return {TAG: "xml", "source": value.source, "element": value.element}
    if isinstance(value, Opaque):
        raise SnapshotError(f"the variable at {pointer} cannot be saved: {value.description} {OPAQUE_ADVICE}")
    raise SnapshotError(
        f"the variable at {pointer} cannot be saved: {type(value).__name__} is not a JavaScript value ({value!r})"
    )


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


class Untagger:
    """Plain JSON with tags back to frozen values.

    ``opaque(marker)`` makes the :class:`Opaque` of an engine; without it the
    JSON is a saved context, and what is malformed raises
    :class:`SnapshotError` with its JSON pointer.
    """

    def __init__(self, opaque: Callable[[dict[str, Any]], Opaque] | None = None) -> None:
        self._opaque = opaque

    def value(self, node: Any, pointer: str) -> Any:
        """The value that ``node`` stands for."""
        kind = type(node)
        if kind is int:
            return node if -_EXACT <= node <= _EXACT else _as_float(node)
        if kind is float:
            return self._number(node, pointer)
        if kind is str or node is None or kind is bool:
            return node
        if isinstance(node, dict):
            return self._marker(node, pointer) if TAG in node else self.members(node, pointer)
        if isinstance(node, (list, tuple)):
            return FrozenList([self.value(item, f"{pointer}/{index}") for index, item in enumerate(node)])
        raise SnapshotError(f"saved context, {pointer or '(root)'}: {kind.__name__} is not JSON")

    def members(self, node: Any, pointer: str) -> FrozenDict:
        """The members of ``node``, which stand for themselves even if one is called ``@js``."""
        if not isinstance(node, dict):
            raise SnapshotError(f"saved context, {pointer or '(root)'}: expected an object, found {node!r}")
        members: dict[str, Any] = {}
        for key, member in node.items():
            if type(key) is not str:
                raise SnapshotError(f"saved context, {pointer or '(root)'}: member names are strings, not {key!r}")
            members[key] = self.value(member, f"{pointer}/{_escape(key)}")
        return FrozenDict(js_ordered(members))

    def _number(self, node: float, pointer: str) -> int | float:
        if node != node or math.isinf(node):
            raise SnapshotError(f"saved context, {pointer}: {node!r} is not JSON; write {{'@js': 'NaN'}} or 'Infinity'")
        if is_negative_zero(node) or not node.is_integer() or abs(node) > _EXACT:
            return node
        return int(node)

    def _marker(self, node: dict[str, Any], pointer: str) -> Any:
        kind = node[TAG]
        if self._opaque is None:
            _check(node, kind, pointer)
        if type(kind) is str and kind in _CONSTANTS and len(node) == 1:
            return _CONSTANTS[kind]
        if kind == "object" and node.keys() == {TAG, "value"}:
            return self.members(node["value"], f"{pointer}/value")
        if kind == "function" and node.keys() == {TAG, "name"} and type(node["name"]) is str:
            return DeclaredFunction(node["name"])
        if kind == "function" and node.keys() == {TAG, "source"} and type(node["source"]) is str:
            return FunctionSource(node["source"])
        if kind == "instance" and node.keys() == {TAG, "of", "data"} and type(node["of"]) is str:
            return Instance(node["of"], self.members(node["data"], f"{pointer}/data"))
        if kind == "date" and node.keys() == {TAG, "iso"} and (node["iso"] is None or type(node["iso"]) is str):
            return DateValue(node["iso"])
        if kind == "xml" and node.keys() == {TAG, "source", "element"} and type(node["source"]) is str:
            return XmlContent(node["source"], bool(node["element"]))
        if kind == "opaque" and self._opaque is not None:
            return self._opaque(node)
        raise SnapshotError(
            f"saved context, {pointer or '(root)'}: {json.dumps(node, default=repr)[:120]} is not a value; "
            f"`@js` is one of {', '.join((*_CONSTANTS, 'object', 'function', 'instance', 'date', 'xml'))}"
        )


def _check(node: dict[str, Any], kind: Any, pointer: str) -> None:
    """What an engine would stumble over. Raises :class:`SnapshotError`."""
    if kind == "date" and type(node.get("iso")) is str and not _ISO.match(node["iso"]):
        raise SnapshotError(f"saved context, {pointer}: {node['iso']!r} is not a date like 2020-01-31T23:59:59.000Z")
    if kind == "xml" and type(node.get("element")) is not bool:
        raise SnapshotError(f"saved context, {pointer}: the member 'element' of saved XML is true or false")
    if kind == "xml" and type(node.get("source")) is str:
        try:
            xml_trees(node["source"])
        except DatamodelError as error:
            raise SnapshotError(f"saved context, {pointer}: {error}") from None


_ISO: Final = re.compile(r"(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z", re.ASCII)
_CONSTANTS: Final = {
    "undefined": UNDEFINED,
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
    "-0": -0.0,
}


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def parse(text: str, untagger: Untagger) -> Any:
    """The frozen value that the engine's ``text`` stands for."""
    if '"@js"' in text:
        return untagger.value(json.loads(text, parse_int=_parse_int), "")
    if _LONG_DIGITS.search(text):
        return freeze(json.loads(text, parse_int=_parse_int))
    return freeze(json.loads(text))


def _parse_int(text: str) -> int | float:
    if len(text) > 17:
        return float(text)
    number = int(text)
    return number if -_EXACT <= number <= _EXACT else float(text)


def same(old: Any, new: Any) -> bool:
    """Whether two frozen values are the same data: types, the sign of zero and the order of members included."""
    if old is new:
        return True
    if isinstance(old, dict) and isinstance(new, dict):
        return list(old) == list(new) and all(same(member, new[key]) for key, member in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, old, new))
    if isinstance(old, (int, float)) and not isinstance(old, bool):
        if not isinstance(new, (int, float)) or isinstance(new, bool):
            return False
        return (old == new and is_negative_zero(old) == is_negative_zero(new)) or (old != old and new != new)
    if isinstance(old, Instance) and isinstance(new, Instance):
        return old.of == new.of and same(old.data, new.data)
    return type(old) is type(new) and bool(old == new)
