"""The ECMAScript datamodel (SCXML B.2) on quickjs-ng. Needs ``pip install 'statecharts[scxml]'``.

The context of a machine stays frozen Python data; the engine is a calculator.
Expressions are sloppy-mode JavaScript. What differs from a browser:

* A condition cannot change anything: what it changes on its way
  (``list.sort()``) is dropped. In executable content changes stick, also
  those an expression makes (``queue.shift()``). What fails changes nothing, a
  script included.
* Variables hold data, and no two share it: after ``b = a`` the two are equal,
  not one object. Only ``_event`` and ``_ioprocessors`` are recognised: a
  variable that equals one of them is ``==`` to it in a condition.
* Nothing reads a clock or draws a number: ``Math.random``, ``Date.now``,
  ``Date()``, ``new Date()`` and ``performance.now`` raise an error that says
  so, the time zone is UTC, and there are no timers, ``WeakRef``,
  ``FinalizationRegistry`` or shared memory. ``new Date(value)`` works.
* Builtins, and the functions of the top-level scripts, are frozen once those
  scripts have run; for that they run once more when an engine starts, with
  every variable undefined.
* What a script declares at its top level (``var``, ``let``, ``const``,
  ``function``, ``class``, or by assignment) is a variable of the context.
* Jobs of promises never run. ``console`` is there and silent.

Besides JSON a variable may hold ``undefined``, NaN, infinities, ``-0``,
dates, XML documents, functions that are written outside of any other
function, and instances of those that top-level scripts declare. Anything else
(closures, Map, BigInt ...) works in the engine of the thread it was made in
and is refused by :meth:`EcmascriptDatamodel.dump`; a condition can change
what is inside of it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

from ...errors import UsageError
from ...interpreter.datamodel import DatamodelError, DatamodelFactory, Moment
from ...json_text import loads
from ...values import UNDEFINED, FrozenDict, freeze, plain, truthy
from .ecmascript_engine import Engine
from .ecmascript_markers import XmlContent
from .ecmascript_program import Program
from .ecmascript_realm import Limits, Text, quickjs
from .ecmascript_source import SYSTEM, is_identifier, strip_expression
from .ecmascript_values import Untagger, kept, tagged
from .ecmascript_xml import xml_trees


def ecmascript(
    time_limit: float = 1.0, memory_limit: int = 64 << 20, stack_limit: int = 512 << 10
) -> DatamodelFactory:
    """A factory of ECMAScript datamodels.

    ``time_limit`` is in seconds of CPU time for one evaluation,
    ``memory_limit`` and ``stack_limit`` in bytes for one engine (there is one
    per document and thread). The system counts the CPU time of all threads
    of the process together; a thread's own stack must be larger than
    ``stack_limit`` (on musl it is 128 KB by default). Calling the factory raises
    :class:`ImplementationError` when no engine is installed.
    """
    if time_limit <= 0 or memory_limit < 1 << 20 or stack_limit < 32 << 10:
        raise UsageError("limits: time_limit above 0 s, memory_limit of 1 MB or more, stack_limit of 32 KB or more")
    limits = Limits(time_limit, memory_limit, stack_limit)

    def factory(
        *, ids: Sequence[str | None], variables: Sequence[str], scripts: Sequence[str]
    ) -> EcmascriptDatamodel:
        quickjs()
        return EcmascriptDatamodel(limits, ids, variables, scripts)

    return factory


class EcmascriptDatamodel:
    """One document's ECMAScript datamodel; see the module for what holds."""

    def __init__(
        self, limits: Limits, ids: Sequence[str | None], variables: Sequence[str], scripts: Sequence[str]
    ) -> None:
        names = tuple(name for name in variables if _can_be_declared(name))
        self._limits = limits
        self._text = Text(tuple(ids), names, tuple(scripts))
        self._initial = FrozenDict(dict.fromkeys(names, UNDEFINED))
        self._thread = threading.local()

    def initial(self) -> FrozenDict:
        """Every declared variable, undefined."""
        return self._initial

    def declare(self, context: FrozenDict, name: str) -> FrozenDict:
        """``context`` with ``name``. What cannot be the name of a variable is not declared: assigning to it fails."""
        if name in context or not _can_be_declared(name):
            return context
        return FrozenDict({**context, name: UNDEFINED})

    def is_declared(self, name: str, context: FrozenDict) -> bool:
        """Whether ``name`` is a variable; the system variables are not."""
        return name in context and name not in SYSTEM

    def test(self, source: str, moment: Moment) -> bool:
        """The truth of a condition; an empty one is false. Changes it makes on its way are dropped."""
        engine = self._engine()
        program = engine.expression(source)
        if program.fault is not None:
            return bool(self._no_expression(program, False))
        if program.may_change:
            return truthy(engine.write(program, moment)[0])
        return engine.test(program, moment)

    def evaluate(self, source: str, moment: Moment) -> tuple[Any, FrozenDict]:
        """The value of an expression and the context after it; an empty expression is undefined."""
        engine = self._engine()
        program = engine.expression(source)
        if program.fault is not None:
            return self._no_expression(program, UNDEFINED), moment.context
        if program.may_change:
            return engine.write(program, moment)
        return engine.read(program, moment), moment.context

    @staticmethod
    def _no_expression(program: Program, empty: Any) -> Any:
        if not strip_expression(program.source):
            return empty
        raise DatamodelError(f"{program.source!r} is not an expression: {program.fault}")

    def assign(self, location: str, value: Any, moment: Moment) -> FrozenDict:
        """The context with a copy of ``value`` at ``location``."""
        name = strip_expression(location)
        context: FrozenDict = moment.context
        if name in context and name not in SYSTEM:
            new = FrozenDict(context)
            dict.__setitem__(new, name, freeze(value))
            return new
        root = name.replace(".", " ").replace("[", " ").split(maxsplit=1)
        if root and root[0] in SYSTEM:
            raise DatamodelError(f"{location!r}: the system variable {root[0]} is read-only")
        if is_identifier(name):
            raise DatamodelError(f"{name!r} is not declared; declare it with <data id={json.dumps(name)}/>")
        engine = self._engine()
        program = engine.location(location)
        if program.fault is not None:
            raise DatamodelError(f"{location!r} is not a location that can be assigned to: {program.fault}")
        return engine.assign(program, freeze(value), moment)  # type: ignore[no-any-return]

    def run(self, script: str, moment: Moment) -> FrozenDict:
        """The context after a script."""
        engine = self._engine()
        return engine.run(engine.script(script), moment)  # type: ignore[no-any-return]

    def items(self, source: str, moment: Moment) -> Sequence[Any]:
        """A copy of an array or of what another iterable object goes over. Changes the expression makes are dropped."""
        engine = self._engine()
        program = engine.expression(source)
        if program.fault is not None:
            raise DatamodelError(f"{source!r} is not an expression: {program.fault}")
        return engine.items(program, moment)  # type: ignore[no-any-return]

    def content(self, kind: str, source: str) -> Any:
        """XML as a read-only document; text as JSON if it is that, else with its white space normalised (B.2.8.1)."""
        if kind == "xml":
            xml_trees(source)
            return XmlContent(source)
        if kind != "text":
            raise UsageError(f"content is 'text' or 'xml', not {kind!r}")
        text = source.strip()
        try:
            return freeze(plain(loads(text)))
        except (json.JSONDecodeError, RecursionError):
            pass
        if text.startswith("<"):
            try:
                return self.content("xml", source)
            except DatamodelError:
                pass
        return " ".join(source.split())

    def dump(self, context: FrozenDict) -> dict[str, Any]:
        """The variables as plain JSON with tags. Raises :class:`SnapshotError` naming the variable."""
        return {name: tagged(value, kept, f"/{name}") for name, value in context.items()}

    def load(self, saved: Any) -> FrozenDict:
        """The context that :meth:`dump` wrote. Raises :class:`SnapshotError` with a JSON pointer."""
        return Untagger().members(saved, "")

    def pack(self, value: Any) -> Any:
        """Any value as plain JSON with tags. Raises :class:`SnapshotError` naming its part that cannot be kept."""
        return tagged(value, kept, "")

    def unpack(self, saved: Any) -> Any:
        """The value that :meth:`pack` wrote. Raises :class:`SnapshotError` with a JSON pointer."""
        return Untagger().value(saved, "")

    def _engine(self) -> Engine:
        engine: Engine | None = getattr(self._thread, "engine", None)
        if engine is None or engine.lost:
            engine = self._thread.engine = Engine(self._limits, self._text)
        return engine


def _can_be_declared(name: str) -> bool:
    return is_identifier(name) and name not in SYSTEM
