"""One JavaScript engine as a calculator: a context of frozen data in, frozen data out.

An engine belongs to one thread. It remembers which context it holds and is
sent only what differs; it answers as an engine made afresh would.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from operator import is_
from typing import Any, Final

from ...errors import UsageError
from ...interpreter.datamodel import DatamodelError, Moment, Session
from ...values import FrozenDict, freeze
from .ecmascript_markers import Handle, Opaque
from .ecmascript_program import NO_CODE, Program
from .ecmascript_realm import Limits, Text, message_of, quickjs, start
from .ecmascript_scanner import globalised, open_starts
from .ecmascript_source import strip_expression, traits
from .ecmascript_transport import TOO_DEEP, Transport, encode
from .ecmascript_values import Untagger, parse, same

_EXACT: Final = 9007199254740992
_PROGRAMS: Final = 4096
_MISSING: Final = object()
_EXPRESSION: Final = "(function () { return (%s\n); })"
_LOCATION: Final = '(function ($value$) { "use strict"; (%s\n) = $value$; })'


class Engine:
    """A quickjs context for one document in one thread. ``lost`` once it cannot be used any more."""

    def __init__(self, limits: Limits, text: Text) -> None:
        module = quickjs()
        self.lost = False
        self._exception: type[Exception] = module.JSException
        self._limits = limits
        released: deque[int] = deque()
        self._released = released
        self._transport = Transport(released)
        self._untagger = Untagger(lambda node: Opaque(node["description"], Handle(node["id"], released)))
        self._code: frozenset[str] | None = NO_CODE
        self._learned: set[str] = set()
        self._programs: tuple[dict[str, Program], dict[str, Program], dict[str, Program]] = ({}, {}, {})
        self._context: Any = None
        self._loaded: dict[str, Any] = {}
        self._stale: dict[str, Any] = {}
        self._event: Any = None
        self._active = 0
        self._session: Any = None
        self._processors: Any = None
        try:
            self._start(module, text)
        except self._exception:  # a top-level script that never ends, or eats the memory: running it will say so
            self._start(module, text._replace(scripts=()))

    def _start(self, module: Any, text: Text) -> None:
        scripts = tuple(map(globalised, text.scripts))
        self._js, pick = start(module, self._limits, text._replace(scripts=scripts))
        self._load, self._load_primitive, self._unload = pick("load"), pick("loadPrimitive"), pick("unload")
        self._do = {name: pick(name) for name in ("test", "read", "write", "assign", "run", "items")}
        self._sweep, self._release, self._activate = pick("sweep"), pick("release"), pick("activate")
        self._compile_js, self._learn_js, self._list_js = pick("compile"), pick("learn"), pick("list")
        self._show_as = pick("showAs")
        self._load("_x", "{}", False)
        for script in scripts:
            self._learn_words(traits(script).words)

    # ------------------------------------------------------------------ programs

    def expression(self, source: str) -> Program:
        """``source`` compiled as an expression."""
        return self._programs[0].get(source) or self._compile(self._programs[0], source, _EXPRESSION)

    def location(self, source: str) -> Program:
        """``source`` compiled as something to assign to."""
        return self._programs[1].get(source) or self._compile(self._programs[1], source, _LOCATION)

    def script(self, source: str) -> Program:
        """A script; ``function`` is its text as JSON, which is compiled when it runs."""
        program = self._programs[2].get(source)
        if program is None:
            text = globalised(source)
            program = self._new(self._programs[2], source)
            self._learn(text)
            program.function = encode(text)
        return program

    def _new(self, programs: dict[str, Program], source: str) -> Program:
        if len(programs) >= _PROGRAMS:
            programs.clear()
        program = programs[source] = Program(source, traits(source))
        return program

    def _compile(self, programs: dict[str, Program], source: str, frame: str) -> Program:
        program = self._new(programs, source)
        text = strip_expression(source)
        if not text:
            program.fault = "it is empty"
            return program
        try:
            program.function = self._compile_js(encode(frame % text))
        except self._exception as error:
            fault = self._fault(program, error)
            if self.lost:
                raise fault from None
            program.fault = message_of(error)
        else:
            if program.traits.makes_code:
                self._learn(source)
        return program

    def _learn(self, text: str) -> None:
        """Take in that there may be functions from ``text``."""
        if text not in self._learned:
            self._learned.add(text)
            self._learn_words(traits(text).words)
            self._learn_js(encode(text), encode(open_starts(text)))

    def _learn_words(self, words: frozenset[str] | None) -> None:
        if self._code is not None and (words is None or not words <= self._code):
            self._code = None if words is None else self._code | words

    # ------------------------------------------------------------------- loading

    def _prepare(self, program: Program, moment: Moment) -> None:
        """Show the engine what ``program`` can see of ``moment``."""
        while self._released:
            self._release(self._released.popleft())
        if moment.context is not self._context:
            self._switch(moment.context)
        while True:
            if program.code is not self._code:
                program.extend(self._code)
            if self._stale:
                words = program.words
                for name in list(self._stale) if words is None else [n for n in self._stale if n in words]:
                    self._push(name, self._stale[name])
                    self._loaded[name] = self._stale.pop(name)
            if program.code is self._code:  # no function arrived that mentions more
                break
        if program.uses_event and moment.event is not self._event and not _shares_members(moment.event, self._event):
            self._push_event(moment.event)
        if program.uses_active and moment.active != self._active:
            self._activate(bin(moment.active)[:1:-1])
            self._active = moment.active
        if program.uses_session and moment.session is not self._session:
            self._push_session(moment.session)

    def _switch(self, context: Any) -> None:
        self._context = None
        loaded = self._loaded
        self._stale = {name: value for name, value in context.items() if loaded.get(name, _MISSING) is not value}
        for name in [name for name in loaded if name not in context]:
            del loaded[name]
            if name == "_x":
                self._load("_x", "{}", False)
            else:
                self._unload(name)
        self._context = context

    def _push_event(self, event: Any) -> None:
        self._event = _MISSING
        if event is None:
            self._unload("_event")
        else:
            self._push("_event", event)
        self._event = event

    def _push_session(self, session: Session) -> None:
        if session != self._session:
            self._session = None
            self._processors = freeze({kind: {"location": place} for kind, place in session.processors})
            self._push("_sessionid", session.id)
            self._push("_name", session.name)
            self._push("_ioprocessors", self._processors)
        self._session = session

    def _identify(self, program: Program, moment: Moment) -> None:
        """Make a variable that equals a system variable identical with it, for the comparison that comes.

        Variables are copies, but a document may ask whether ``_event`` is
        still what it has put away (as tests 326 and 329 of the W3C suite do).
        """
        if moment.session is not self._session:
            self._push_session(moment.session)
        systems = (("_event", moment.event), ("_ioprocessors", self._processors))
        for name in program.compared:
            value = moment.context.get(name)
            for system, known in systems:
                if isinstance(value, dict) and isinstance(known, dict) and value and same(value, known):
                    if system == "_event" and moment.event is not self._event:
                        self._push_event(moment.event)
                    self._show_as(name, system)
                    self._loaded[name] = _MISSING  # for this comparison only
                    self._stale[name] = value

    def _push(self, name: str, value: Any) -> None:
        kind = type(value)
        if kind is bool or kind is float or (kind is int and -_EXACT <= value <= _EXACT):
            # as a float: the binding cuts ints to 32 bits
            self._load_primitive(name, value if kind is bool else float(value))
        else:
            self._load(name, *self._text(value))

    def _text(self, value: Any) -> tuple[str, bool]:
        written = self._transport.text(value)
        while self._transport.mentioned:
            self._learn_words(traits(self._transport.mentioned.pop()).words)
        return written

    def _words(self, program: Program) -> Any:
        if program.words is None:
            return None
        if program.js_words is None:
            program.js_words = self._list_js(encode(sorted(program.words)))
        return program.js_words

    # ---------------------------------------------------------------- evaluation

    def test(self, program: Program, moment: Moment) -> bool:
        """Whether the expression is true. Nothing can change."""
        try:
            self._prepare(program, moment)
            if program.compared:
                self._identify(program, moment)
            return bool(self._do["test"](program.function))
        except self._exception as error:
            raise self._fault(program, error) from None

    def read(self, program: Program, moment: Moment) -> Any:
        """The value of an expression that changes nothing."""
        return self._parse(self._call("read", program, moment, compares=True))

    def write(self, program: Program, moment: Moment) -> tuple[Any, Any]:
        """The value of an expression, and the context after it."""
        text = self._call("write", program, moment, lambda: (self._words(program),))
        value, _, changes = text.partition("\n")
        return self._parse(value), self._after(changes, moment.context)

    def assign(self, program: Program, value: Any, moment: Moment) -> Any:
        """The context after ``value`` has been put into a location."""
        text, has_tags = self._text(value)
        changes = self._call("assign", program, moment, lambda: (self._words(program), text, has_tags))
        return self._after(changes, moment.context)

    def run(self, program: Program, moment: Moment) -> Any:
        """The context after a script."""
        return self._after(self._call("run", program, moment, lambda: (self._words(program),)), moment.context)

    def items(self, program: Program, moment: Moment) -> Any:
        """The members of the array that the expression gives."""
        return self._parse(self._call("items", program, moment, lambda: (self._words(program),)))

    def _call(
        self,
        operation: str,
        program: Program,
        moment: Moment,
        arguments: Callable[[], tuple[Any, ...]] = tuple,
        compares: bool = False,
    ) -> str:
        try:
            self._prepare(program, moment)
            if compares and program.compared:
                self._identify(program, moment)
            text: str = self._do[operation](program.function, *arguments())
            return text
        except self._exception as error:
            raise self._fault(program, error) from None

    def _parse(self, text: str) -> Any:
        try:
            return parse(text, self._untagger)
        except (RecursionError, UsageError):
            raise DatamodelError(TOO_DEEP) from None

    def _after(self, changes: str, context: Any) -> Any:
        """The context that ``changes``, the text of an object, make of ``context``."""
        if changes == "{}":
            return context
        new = FrozenDict(context)
        changed = False
        has_xml = '{"@js":"xml",' in changes
        for name, value in self._changed(changes).items():
            old = context.get(name, _MISSING)
            if old is not _MISSING and same(old, value):
                value = old
            else:
                changed = True
                dict.__setitem__(new, name, value)
            self._loaded[name] = value
            self._stale.pop(name, None)
            if has_xml:  # the engine cannot parse XML: what it wrote has to be sent back parsed
                self._loaded[name] = _MISSING
                self._stale[name] = value
        if not changed:
            return context
        self._context = new
        return new

    def _changed(self, changes: str) -> FrozenDict:
        try:
            return self._untagger.members(json.loads(changes), "")
        except RecursionError:
            self.lost = True  # it holds what no context says
            raise DatamodelError(TOO_DEEP) from None

    # -------------------------------------------------------------------- faults

    def _fault(self, program: Program, error: Exception) -> DatamodelError:
        message = message_of(error)
        shown = " ".join(program.source.split())
        shown = repr(shown if len(shown) <= 120 else shown[:117] + "...")
        try:
            self._sweep()
        except self._exception:
            self.lost = True
        if message in ("InternalError: out of memory", "null"):
            self.lost = True  # there may be half an object somewhere
            limit = f"more memory than the limit of {self._limits.memory / (1 << 20):g} MB"
            return DatamodelError(f"{shown} needs {limit}" if message != "null" else f"{shown} threw null, or needs {limit}")
        if message == "InternalError: interrupted":
            return DatamodelError(f"{shown} ran longer than the limit of {self._limits.time:g} s of CPU time")
        return DatamodelError(f"{shown}: {message}")


def _shares_members(one: Any, other: Any) -> bool:
    """Whether two events are the same but for the object around their members."""
    return (
        isinstance(one, dict)
        and isinstance(other, dict)
        and len(one) == len(other)
        and all(map(is_, one, other))
        and all(map(is_, one.values(), other.values()))
    )
