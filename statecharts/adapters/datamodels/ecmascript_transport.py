"""Frozen values as the JSON text that an engine reads."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from ...interpreter.datamodel import DatamodelError
from ...values import UNDEFINED
from .ecmascript_markers import DateValue, DeclaredFunction, FunctionSource, Instance, Opaque, XmlContent
from .ecmascript_values import TAG, kept, tagged
from .ecmascript_xml import xml_trees

encode: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Transport:
    """Writes for the engine whose opaque values report to ``released``.

    ``mentioned`` collects the texts of the functions that were written.
    """

    def __init__(self, released: deque[int]) -> None:
        self.mentioned: list[str] = []
        self._released = released
        self._undefined: list[None] = []
        self._encode = json.JSONEncoder(
            allow_nan=False, check_circular=False, separators=(",", ":"), default=_undefined_noting(self._undefined)
        ).encode

    def text(self, value: Any) -> tuple[str, bool]:
        """``value`` as JSON text, and whether there are tags in it. Raises :class:`DatamodelError`."""
        self._undefined.clear()
        try:
            text = self._encode(value)
            tags = text.count('"@js"')
            if tags == len(self._undefined):  # so no member of the value itself is called @js
                return text, tags > 0
        except (TypeError, ValueError):
            pass  # a marker, NaN, an infinity
        except RecursionError:
            raise DatamodelError(TOO_DEEP) from None
        try:
            return encode(tagged(value, self._marker)), True
        except RecursionError:
            raise DatamodelError(TOO_DEEP) from None

    def _marker(self, value: Any, pointer: str) -> Any:
        if isinstance(value, Opaque):
            return self._opaque(value)
        if isinstance(value, XmlContent):
            return {TAG: "xml", "source": value.source, "trees": xml_trees(value.source), "element": value.element}
        if isinstance(value, Instance):
            return {TAG: "instance", "of": value.of, "data": {k: tagged(v, self._marker) for k, v in value.data.items()}}
        if isinstance(value, FunctionSource):
            self.mentioned.append(value.source)
        if isinstance(value, (DeclaredFunction, FunctionSource, DateValue)):
            return kept(value, pointer)
        raise DatamodelError(
            f"{type(value).__name__} is not a JavaScript value: {value!r}. Events and parameters hold plain JSON"
        )

    def _opaque(self, value: Opaque) -> dict[str, Any]:
        if value.handle.released is self._released:
            return {TAG: "opaque", "id": value.handle.id}
        return {
            TAG: "lost",
            "message": f"{value.description} lives in another JavaScript engine (of another thread, or one that was "
            "replaced) and cannot be used here; keep plain data in variables",
        }


def _undefined_noting(noted: list[None]) -> Callable[[Any], Any]:
    def default(value: Any) -> Any:
        if value is not UNDEFINED:
            raise TypeError
        noted.append(None)
        return _UNDEFINED

    return default


_UNDEFINED: Final = {TAG: "undefined"}
TOO_DEEP: Final = "a value nests too deeply for the JavaScript engine"
