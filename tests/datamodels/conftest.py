"""A session in miniature: a datamodel, the context of the moment, and who is running."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from statecharts.adapters.datamodels.ecmascript import ecmascript
from statecharts.interpreter.datamodel import Datamodel, Moment, Session
from statecharts.values import FrozenDict, freeze

SESSION = Session("session-1", "machine", (("http://www.w3.org/TR/scxml/#SCXMLEventProcessor", "#_scxml_session-1"),))


class Bench:
    """Runs a datamodel and keeps its context."""

    def __init__(self, datamodel: Datamodel) -> None:
        self.datamodel = datamodel
        self.context: FrozenDict = datamodel.initial()
        self.event: Any = None
        self.active = 0
        self.session = SESSION

    @property
    def moment(self) -> Moment:
        return Moment(self.context, self.event, self.active, self.session)

    def test(self, source: str) -> bool:
        return self.datamodel.test(source, self.moment)

    def evaluate(self, source: str) -> Any:
        value, self.context = self.datamodel.evaluate(source, self.moment)
        return value

    def assign(self, location: str, value: Any) -> None:
        self.context = self.datamodel.assign(location, freeze(value), self.moment)

    def run(self, script: str) -> None:
        self.context = self.datamodel.run(script, self.moment)

    def items(self, source: str) -> list[Any]:
        return list(self.datamodel.items(source, self.moment))

    def saved(self) -> str:
        return json.dumps(self.datamodel.dump(self.context), allow_nan=False)


@pytest.fixture
def bench() -> Callable[..., Bench]:
    """``bench(a=1, ..., scripts=[...], ids=[...])``: a session with these variables."""

    def make(
        *, scripts: Sequence[str] = (), ids: Sequence[str | None] = (), limits: dict[str, Any] | None = None, **values: Any
    ) -> Bench:
        factory = ecmascript(**(limits or {}))
        made = Bench(factory(ids=ids, variables=list(values), scripts=scripts))
        for name, value in values.items():
            made.assign(name, value)
        for script in scripts:
            made.run(script)
        return made

    return make
