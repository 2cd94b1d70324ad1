"""An SCXML session's macrostep: what the frame of an XState actor has, and what SCXML adds to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..nodes import StateNode, Transition
from ..values import UNDEFINED, FrozenDict
from .configuration import Configuration, Order
from .datamodel import Datamodel, Moment, Session
from .effects import ActorRef
from .messages import (
    EXECUTION,
    PROCESSOR,
    SHORT_PROCESSOR,
    ContentError,
    event_object,
    location_of,
    platform_event,
)
from .operations import Frame, Scope
from .selection import RefusedCondition, Sight
from .snapshot import History


class SessionFrame(Frame):
    """The state of one macrostep of a session.

    ``active`` is the set of active states as it changes *within* a microstep,
    which is what ``In()`` sees; ``to_invoke`` holds the states whose invokes
    start when the macrostep is over (appendix D ``statesToInvoke``).
    """

    __slots__ = ("_object", "_seen", "active", "datamodel", "refused", "reported", "session", "to_invoke")

    def __init__(
        self,
        program: Any,
        scope: Scope,
        configuration: Configuration,
        order: Order | None,
        context: Any,
        children: Mapping[str, ActorRef | None],
        history: History,
        sequence: int,
        event: FrozenDict,
    ) -> None:
        super().__init__(program, scope, configuration, order, context, children, history, sequence, event)
        self.datamodel: Datamodel = program.datamodel
        self.active = configuration.mask
        self.to_invoke: dict[StateNode, None] = {}
        self.session = session_of(program, scope.self_ref)
        self.refused: list[RefusedCondition] = []
        self.reported: set[Transition] = set()
        self._seen: FrozenDict | None = None
        self._object: FrozenDict | None = None

    def moment(self) -> Moment:
        """What an expression sees now."""
        return Moment(self.context, self._event_object(), self.active, self.session)

    def _event_object(self) -> FrozenDict | None:
        event = self.event
        if event is not self._seen:
            self._seen = event
            self._object = event_object(event)
        return self._object

    def _sight(self) -> Sight:
        """What a condition sees: between microsteps the active states are the configuration's."""
        configuration = self.configuration
        return Sight(configuration.mask, configuration.value, self.session, self._event_object())

    def value(self, source: str) -> Any:
        """The value of an expression of executable content, which may change the context."""
        value, self.context = self.datamodel.evaluate(source, self.moment())
        return value

    def assign(self, location: str, value: Any) -> None:
        """Give ``location`` a value (§5.4)."""
        self.context = self.datamodel.assign(location, value, self.moment())

    # -------------------------------------------------------------- errors

    def report(self, error: Exception, tag: str, pointer: str) -> None:
        """Put what went wrong on the internal queue (§3.12.2). ``tag`` is the element, ``pointer`` its place."""
        name, send_id = EXECUTION, None
        if isinstance(error, ContentError):
            name, send_id = error.event, error.send_id
        self.queue.append(platform_event(name, self._described(error, tag, pointer), sendid=send_id))

    def _described(self, error: Exception, tag: str, pointer: str) -> dict[str, Any]:
        lines = self.program.definition.scxml.lines
        return {
            "tagname": tag,
            "line": None if lines is None else lines(pointer),
            "column": None,
            "reason": str(error),
            "pointer": pointer,
        }

    def report_refused(self) -> None:
        """Conditions that could not be evaluated: an error event each, once until states or data change (§5.9.1)."""
        for transition, error in self.refused:
            if transition not in self.reported:
                self.reported.add(transition)
                self.report(error, "transition", transition.pointer)
        self.refused = []

    # ----------------------------------------------------------- selection

    def select(self) -> tuple[Transition, ...]:
        """What the current event enables."""
        found = self.program.selection.enabled(
            self.configuration, self.context, self.event, self._sight(), self.refused
        )
        if self.refused:
            self.report_refused()
        return found  # type: ignore[no-any-return]

    def select_eventless(self) -> tuple[Transition, ...]:
        """What is enabled without an event."""
        if not self.configuration.always:
            return ()
        found = self.program.selection.enabled_eventless(
            self.configuration, self.context, self.event, self._sight(), self.refused
        )
        if self.refused:
            self.report_refused()
        return found  # type: ignore[no-any-return]


def session_of(program: Any, ref: ActorRef) -> Session:
    """Who ``ref`` is to its own document."""
    own = location_of(ref)
    others = program.machine.environment.processors
    processors = (
        (PROCESSOR, own),
        (SHORT_PROCESSOR, own),
        *((kind, processor_location(logic, ref)) for kind, logic in others.items()),
    )
    return Session(ref.session_id, program.definition.scxml.name, processors)


def processor_location(logic: Any, ref: ActorRef) -> str:
    """Where an I/O processor of the user's listens: its ``location``, a text or a function of the session id."""
    location = getattr(logic, "location", UNDEFINED)
    if location is UNDEFINED:
        location = getattr(getattr(logic, "function", None), "location", "")
    return str(location(ref.session_id)) if callable(location) else str(location)
