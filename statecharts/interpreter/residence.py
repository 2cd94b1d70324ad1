"""Being in a state, for an SCXML session: entering, leaving, its data, and being done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ExecutionError
from ..executable_content import Data, Payload
from ..nodes import StateNode
from ..values import UNDEFINED, FrozenDict, FrozenList
from .content import content_value, payload_value
from .effects import NewActor, StartActor
from .messages import ContentError, platform_event
from .operations import Operation
from .session import SessionFrame

PLATFORM = "_x"
"""The variable that §5.10 leaves to the platform: here it remembers which late data are bound."""


class EnterState(Operation):
    """The state joins the configuration, before its own content runs."""

    __slots__ = ("bit", "node")

    def __init__(self, node: StateNode) -> None:
        super().__init__("enter", node.id)
        self.node = node
        self.bit = 1 << node.index

    def run(self, frame: Any) -> None:
        frame.active |= self.bit
        if self.node.invocations:
            frame.to_invoke[self.node] = None


class LeaveState(Operation):
    """The state leaves the configuration, after its own content has run."""

    __slots__ = ("bit", "node")

    def __init__(self, node: StateNode) -> None:
        super().__init__("leave", node.id)
        self.node = node
        self.bit = 1 << node.index

    def run(self, frame: Any) -> None:
        frame.active &= ~self.bit
        frame.to_invoke.pop(self.node, None)


class InitializeData(Operation):
    """Late binding: a state's data get their values when it is entered for the first time (§5.3.3)."""

    __slots__ = ("node",)

    def __init__(self, node: StateNode) -> None:
        super().__init__("data", node.id)
        self.node = node

    def run(self, frame: Any) -> None:
        known = frame.context.get(PLATFORM, {})
        bound = known.get("bound", ())
        if self.node.id in bound:
            return
        initialize(frame, self.node.data)
        marked = FrozenDict({**known, "bound": FrozenList([*bound, self.node.id])})
        frame.context = FrozenDict({**frame.context, PLATFORM: marked})


def initialize(frame: SessionFrame, data: tuple[Data, ...], given: Mapping[str, Any] | None = None) -> None:
    """Give each variable its value; ``given`` ones come from who started the session (§6.4.4)."""
    for item in data:
        try:
            if given is not None and item.id in given:
                frame.assign(item.id, given[item.id])
            elif item.problem is not None:
                raise ContentError(item.problem)
            elif item.value is not None:
                frame.assign(item.id, content_value(frame, item.value))
        except ExecutionError as error:
            frame.report(error, "data", item.pointer)


def begin_session(frame: SessionFrame, input: Any) -> None:
    """I/O processors, the data of the document, then its scripts (appendix D ``interpret``)."""
    definition = frame.program.definition
    scxml = definition.scxml
    for kind in frame.program.machine.environment.processors:
        start_processor(frame, kind)
    frame.context = frame.datamodel.initial()
    given = input if isinstance(input, Mapping) else {}
    root = definition.root
    initialize(frame, root.data, given)
    if not scxml.late_binding:
        for node in definition.nodes[1:]:
            initialize(frame, node.data)
    for index, text in enumerate(scxml.scripts):
        try:
            frame.context = frame.datamodel.run(text, frame.moment())
        except ExecutionError as error:
            frame.report(error, "script", f"/scripts/{index}")


def start_processor(frame: SessionFrame, kind: str) -> None:
    """An I/O processor of the user's lives as long as the session, as a child named after its type."""
    logic = frame.program.actor_logic(kind)
    ref = frame.scope.create(NewActor(kind, logic, kind, None, UNDEFINED), frame.records)
    frame.add_child(kind, ref)
    frame.records.append(StartActor(frame.position, ref, kind, kind, UNDEFINED, None, False))


class DoneData(Operation):
    """A state is done: ``done.state.<id>`` with the data of its final child (§3.7, §5.5)."""

    __slots__ = ("final", "parent", "payload")

    def __init__(self, parent: StateNode, payload: Payload | None, final: StateNode | None) -> None:
        super().__init__("donedata", parent.id)
        self.parent = parent
        self.payload = payload
        self.final = final

    def run(self, frame: Any) -> None:
        data = done_data(frame, self.payload, self.final)
        frame.queue.append(platform_event(f"done.state.{self.parent.id}", data))


class OutputOfSession(Operation):
    """The session is over with this top-level final state: its data are the session's output."""

    __slots__ = ("final",)

    def __init__(self, final: StateNode) -> None:
        super().__init__("donedata", final.id)
        self.final = final

    def run(self, frame: Any) -> None:
        payload = self.final.output
        frame.output = done_data(frame, payload if isinstance(payload, Payload) else None, self.final)
        frame.status = "done"


def done_data(frame: SessionFrame, payload: Payload | None, final: StateNode | None) -> Any:
    """The data of a done event; what cannot be evaluated is an error event before it, and left out (§5.6)."""
    if payload is None or final is None:
        return UNDEFINED
    place = f"{final.id}/donedata"
    try:
        return payload_value(frame, payload, "donedata", place)
    except ExecutionError as error:
        frame.report(error, "content", place)
        return UNDEFINED
