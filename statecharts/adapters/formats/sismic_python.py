"""Running a trusted chart's Python, as sismic's ``PythonEvaluator`` runs it, on a copy of the context.

A guard sees its copy and answers. An action runs on its copy; what it changed
becomes one update, and what it sent follows in order.
"""

from __future__ import annotations

import builtins
import copy
import warnings
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

from statecharts.actions import Enqueue
from statecharts.errors import ImplementationError
from statecharts.guards import StateIn
from statecharts.values import UNDEFINED, freeze, thaw

from .sismic_activity import ActiveStates
from .sismic_chart import Code
from .sismic_code import names_in
from .sismic_guards import target_of
from .sismic_names import CodePiece, Moment
from .sismic_outbox import Outbox, update_with
from .sismic_values import NotData, changes_between, check_data, is_constant, variables_of


class Event:
    """What sismic's code sees as ``event``: ``name``, ``data``, and each parameter as an attribute."""

    __slots__ = ("data", "name")

    def __init__(self, name: str, data: dict[str, Any]) -> None:
        self.name = name
        self.data = data

    def __getattr__(self, attribute: str) -> Any:
        try:
            return self.data[attribute]
        except KeyError:
            raise AttributeError(f"{self} has no attribute {attribute}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and (self.name, self.data) == (other.name, other.data)

    def __hash__(self) -> int:
        return hash(self.name)

    def __dir__(self) -> list[str]:
        return ["name", *self.data]

    def __repr__(self) -> str:
        return "".join([f"Event({self.name!r}", *(f", {k}={v!r}" for k, v in self.data.items()), ")"])


def event_of(event: Mapping[str, Any]) -> Event:
    """The event that a machine takes, as sismic's code sees it."""
    return Event(event["type"], {key: thaw(value) for key, value in event.items() if key != "type"})


def compiled(code: Code, mode: str, file: str | None) -> CodeType:
    """``code`` compiled so that tracebacks point at its line of the file. Raises ``SyntaxError`` or ``ValueError``."""
    padding = "\n" * ((code.line or 1) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return builtins.compile(padding + code.text, file or "<sismic chart>", mode)


class PythonCode:
    """Everything that runs of one trusted chart. ``constants`` are the preamble's modules, functions and classes.

    ``listener`` is told the name of every event that code sends.
    """

    def __init__(self, activity: ActiveStates, root_id: str, preamble: Code | None, file: str | None) -> None:
        self.activity = activity
        self.constants: dict[str, Any] = {}
        self.listener: Callable[[str], None] | None = None
        self._root_id = root_id
        self._preamble = preamble
        self._file = file

    def heard_by(self, listener: Callable[[str], None]) -> PythonCode:
        """The same code with another listener."""
        other = copy.copy(self)
        other.listener = listener
        return other

    # ----------------------------------------------------------------- guards

    def guard(self, piece: CodePiece, times: Mapping[float, str]) -> Callable[..., bool]:
        """The function behind a guard: ``(context, event) -> bool``.

        ``times`` are the waiting times in it, in seconds, with the members of
        the context that tell whether they are over.
        """
        code = compiled(Code(piece.text, piece.line, ()), "eval", self._file)
        facts = piece.facts
        sees_event = piece.moment.has_event

        def holds(context: Any, event: Any) -> bool:
            def is_over(seconds: float) -> bool:
                return seconds <= 0 or context.get(times[_nearest(times, seconds)]) is True

            given = {
                "after": is_over,
                "idle": is_over,
                "active": lambda name: bool(facts.get(name, False)),
                "event": event_of(event) if sees_event else None,
            }
            return bool(self._run(piece, lambda: eval(code, given, variables_of(context, self.constants))))

        return holds

    # ---------------------------------------------------------------- actions

    def action(self, piece: CodePiece) -> Enqueue:
        """The action: an update with what the code changed, then what it sent."""
        code = compiled(Code(piece.text, piece.line, ()), "exec", self._file)
        dropped = names_in(piece.text).imports  # they end with the code; other code has been checked for them

        def run(context: Any, event: Any, enqueue: Any, check: Any) -> None:
            variables = variables_of(context, self.constants)
            sent = Outbox()
            given = self._given(piece.moment, event, check, variables, sent)
            self._run(piece, lambda: exec(code, given, variables))
            for name in dropped:
                variables.pop(name, None)
            if self.listener is not None:
                sent.tell(self.listener)
            for action in self._run(piece, lambda: self._outcome(context, variables, sent)):
                enqueue(action)

        return Enqueue(run)

    def _given(
        self, moment: Moment, event: Any, check: Any, variables: dict[str, Any], sent: Outbox
    ) -> dict[str, Any]:
        given: dict[str, Any] = {
            "active": lambda name: self.is_active(moment, name, check),
            "send": sent.send,
            "notify": sent.notify,
            "setdefault": variables.setdefault,
        }
        if moment.transition is not None:
            given["event"] = event_of(event) if moment.has_event else None
        return given

    def is_active(self, moment: Moment, name: Any, check: Callable[[Any], bool]) -> bool:
        """Whether the state ``name`` is active at ``moment`` of a step; ``check`` looks at the state before it."""
        known = self.activity.at(moment, name)
        if known is not None:
            return known
        return check(StateIn(target_of(self._root_id if name == self.activity.chart.root else name)))

    def _outcome(self, context: Any, variables: dict[str, Any], sent: Outbox) -> list[Any]:
        changes = changes_between(context, variables, self.constants)
        update = [update_with(changes)] if changes else []
        return [*update, *sent.actions()]

    # ---------------------------------------------------------------- context

    def initial_context(self, input: Any) -> dict[str, Any]:
        """The variables after the preamble. ``input`` is what sismic calls the initial context."""
        variables = self.run_preamble(input)
        kept = {name: value for name, value in variables.items() if not is_constant(value)}
        try:
            check_data(kept)
        except NotData as error:
            raise ImplementationError(f"the preamble of the chart: {error}", name="preamble") from None
        return kept

    def run_preamble(self, given: Any) -> dict[str, Any]:
        """Every name that the preamble binds, and those in ``given``."""
        variables: dict[str, Any] = {}
        if given is not None and given is not UNDEFINED:
            if not isinstance(given, Mapping):
                raise ImplementationError(
                    "the input of a sismic chart is its initial context: an object with a value for each variable"
                )
            variables.update(thaw(freeze(given)))
        if self._preamble is not None:
            self._execute_preamble(self._preamble, variables)
        return variables

    def _execute_preamble(self, preamble: Code, variables: dict[str, Any]) -> None:
        code = compiled(preamble, "exec", self._file)
        sent = Outbox()
        known = {
            "active": lambda name: False,
            "send": sent.send,
            "notify": sent.notify,
            "setdefault": variables.setdefault,
        }
        try:
            exec(code, known, variables)
        except Exception as error:
            raise ImplementationError(
                f"the preamble of the chart raised {type(error).__name__}: {error}", name="preamble"
            ) from error
        if sent.events:
            raise ImplementationError(
                "the preamble of the chart sends events; nothing is there yet to take them"
            )

    def _run(self, piece: CodePiece, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            where = f", line {piece.line}" if piece.line is not None else ""
            what = str(error) if isinstance(error, NotData) else f"{type(error).__name__}: {error}"
            raise ImplementationError(
                f"{piece.kind} of {piece.moment.place}{where}: {what}\n    {piece.text}",
                name=piece.name,
                state=piece.moment.state,
            ) from error


def _nearest(times: Mapping[float, str], seconds: float) -> float:
    """The waiting time that ``seconds`` is, computed by other arithmetic perhaps."""
    return min(times, key=lambda known: abs(known - seconds))
