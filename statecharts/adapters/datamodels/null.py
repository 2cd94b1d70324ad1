"""The null datamodel (SCXML B.1): no data; ``In('id')`` is the only condition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from ...errors import SnapshotError
from ...interpreter.datamodel import DatamodelError, DatamodelFactory, Moment
from ...values import EMPTY_OBJECT, FrozenDict, freeze, plain

_IN: Final = re.compile(r"""\s*In\s*\(\s*(?:'([^']*)'|"([^"]*)")\s*\)\s*\Z""")


def null() -> DatamodelFactory:
    """A factory of null datamodels."""
    return NullDatamodel


class NullDatamodel:
    """Knows which states are active, and nothing else."""

    def __init__(self, *, ids: Sequence[str | None], variables: Sequence[str], scripts: Sequence[str]) -> None:
        self._bits = {state: 1 << bit for bit, state in enumerate(ids) if state is not None}
        self._conditions: dict[str, int] = {}

    def initial(self) -> FrozenDict:
        """The empty context."""
        return EMPTY_OBJECT

    def declare(self, context: FrozenDict, name: str) -> FrozenDict:
        """``context``: nothing can be declared."""
        return context

    def is_declared(self, name: str, context: FrozenDict) -> bool:
        """False."""
        return False

    def test(self, source: str, moment: Moment) -> bool:
        """Whether the state that ``In('id')`` names is active; an unknown state is not."""
        mask = self._conditions.get(source)
        if mask is None:
            match = _IN.match(source)
            if match is None:
                _refuse("the only condition there is In('id')", source)
            mask = self._conditions[source] = self._bits.get(match[1] if match[1] is not None else match[2], 0)
        return moment.active & mask != 0

    def evaluate(self, source: str, moment: Moment) -> tuple[Any, Any]:
        """Refused."""
        _refuse("there are no expressions", source)

    def assign(self, location: str, value: Any, moment: Moment) -> Any:
        """Refused."""
        _refuse("there is nothing to assign to", location)

    def run(self, script: str, moment: Moment) -> Any:
        """Refused."""
        _refuse("there are no scripts", script)

    def items(self, source: str, moment: Moment) -> Sequence[Any]:
        """Refused."""
        _refuse("foreach has nothing to go over", source)

    def content(self, kind: str, source: str) -> Any:
        """Refused."""
        _refuse("there is no content", source)

    def dump(self, context: FrozenDict) -> dict[str, Any]:
        """The empty object."""
        return {}

    def load(self, saved: Any) -> FrozenDict:
        """The empty context. Raises :class:`SnapshotError` for anything else."""
        if not isinstance(saved, dict) or saved:
            raise SnapshotError(f"the context of a document with datamodel=\"null\" is {{}}, not {saved!r}")
        return EMPTY_OBJECT

    def pack(self, value: Any) -> Any:
        """A value as plain JSON."""
        return plain(value)

    def unpack(self, saved: Any) -> Any:
        """The value, frozen."""
        return freeze(saved)


def _refuse(reason: str, source: str) -> NoReturn:
    text = " ".join(source.split())
    raise DatamodelError(
        f"datamodel=\"null\": {reason}, found {text[:120]!r}; use datamodel=\"ecmascript\" for data and expressions"
    )
