"""``send`` (SCXML §6.2, appendix C.1): who an event is for, and what is wrong when nobody is."""

from __future__ import annotations

import math
from typing import Any

from ..delay_syntax import parse_delay
from ..errors import ExecutionError, caused_by
from ..executable_content import Send
from ..values import UNDEFINED, FrozenDict
from .content import ContentOperation, payload_value, text_value
from .effects import ActorRef, RaiseEvent, SendEvent, is_delay
from .messages import (
    COMMUNICATION,
    META,
    PROCESSOR,
    SHORT_PROCESSOR,
    ContentError,
    location_of,
    message,
)
from .session import SessionFrame

DISPATCH = "scxml.dispatch"
"""What a session sends to itself when the time of a delayed send to a child has come."""
OWN_PROCESSORS = ("", PROCESSOR, SHORT_PROCESSOR)
SESSION_PREFIX = "#_scxml_"


class SendMessage(ContentOperation):
    """``send``: everything is evaluated now; the event leaves when the macrostep is over."""

    __slots__ = ("spec",)

    def __init__(self, spec: Send) -> None:
        super().__init__("send", spec.pointer)
        self.spec = spec

    def execute(self, frame: SessionFrame) -> None:
        send_id = self._id(frame)
        try:
            self._send(frame, send_id)
        except ContentError as error:
            error.send_id = send_id
            if error.event != COMMUNICATION:
                raise
            # nobody there: that is no fault of the block, which goes on
            frame.report(error, self.tag, self.pointer)
        except ExecutionError as error:
            raise caused_by(ContentError(str(error), send_id=send_id), error)

    def _id(self, frame: SessionFrame) -> str | None:
        """The send id: as given, or made and put where ``idlocation`` says (§6.2.2)."""
        if self.spec.id_location is None:
            return self.spec.id
        sequence, number = frame.position
        made = f"send.{frame.scope.self_ref.session}.{sequence}.{number}"
        frame.assign(self.spec.id_location, made)
        return made

    def _send(self, frame: SessionFrame, send_id: str | None) -> None:
        spec = self.spec
        name = "" if spec.event is None else text_value(frame, spec.event)
        target = None if spec.target is None else text_value(frame, spec.target)
        processor = "" if spec.processor is None else text_value(frame, spec.processor)
        delay = self._delay(frame)
        data = payload_value(frame, spec.payload, self.tag, self.pointer)
        if processor in OWN_PROCESSORS:
            self._to_session(frame, name, target, delay, data, send_id)
            return
        ref = frame.children.get(processor)
        if ref is None:
            raise ContentError(
                f"there is no I/O processor of type {processor!r}; pass it to load_machine(processors=…)"
            )
        self._record(frame, ref, target, _for_processor(frame, name, target, data, send_id), send_id, delay)

    def _delay(self, frame: SessionFrame) -> int | float:
        if self.spec.delay is None:
            return 0
        if self.spec.delay.is_expression:
            value = frame.value(self.spec.delay.value)
            if is_delay(value) and 0 <= value < math.inf:
                return value  # type: ignore[no-any-return]
        else:
            value = self.spec.delay.value
        parsed = parse_delay(value) if isinstance(value, str) else None
        if parsed is None:
            raise ContentError(f"{value!r} is no delay; write 1.5s, 200ms, 2m, 1h or 1d")
        return parsed

    def _to_session(
        self, frame: SessionFrame, name: str, target: str | None, delay: float, data: Any, send_id: str | None
    ) -> None:
        if not name:
            raise ContentError("an event for a session needs a name")
        me = frame.scope.self_ref
        if target == "#_internal":
            if delay > 0:
                raise ContentError("an event for the internal queue cannot be delayed")
            event = message(name, data, type="internal", sendid=send_id)
            frame.queue.append(event)
            frame.records.append(RaiseEvent(frame.position, event, UNDEFINED, UNDEFINED))
            return
        if delay > 0 and is_child_address(target):
            assert target is not None
            self._later(frame, name, target, delay, data, send_id)
            return
        ref = find_session(frame, target)
        to_parent = ref == frame.scope.parent_ref and ref is not None
        event = message(
            name,
            data,
            type="external",
            sendid=send_id,
            origin=location_of(me),
            origintype=PROCESSOR,
            invokeid=me.id if to_parent else None,
        )
        self._record(frame, ref, target, event, send_id, delay)

    def _later(
        self, frame: SessionFrame, name: str, target: str, delay: float, data: Any, send_id: str | None
    ) -> None:
        """A child is looked up when the event leaves, not now: it may be invoked in between (§6.2.3)."""
        me = frame.scope.self_ref
        event = message(
            name, data, type="external", sendid=send_id, origin=location_of(me), origintype=PROCESSOR
        )
        waiting = FrozenDict({"type": DISPATCH, "target": target, "event": event, "pointer": self.pointer})
        self._record(frame, me, target, waiting, send_id, delay)

    def _record(
        self,
        frame: SessionFrame,
        ref: ActorRef,
        target: str | None,
        event: Any,
        send_id: str | None,
        delay: float,
    ) -> None:
        frame.records.append(
            SendEvent(
                frame.position,
                ref,
                UNDEFINED if target is None else target,
                event,
                UNDEFINED if send_id is None else send_id,
                delay if delay > 0 else UNDEFINED,
            )
        )


def is_child_address(target: str | None) -> bool:
    """Whether a target is the id of an invocation, ``#_<invokeid>``."""
    if target is None or not target.startswith("#_") or target.startswith(SESSION_PREFIX):
        return False
    return target not in ("#_parent", "#_internal")


def find_session(frame: SessionFrame, target: str | None) -> ActorRef:
    """Who is at a target. Raises :class:`ContentError` when nobody is, or it is no target."""
    scope = frame.scope
    if target is None or target == "" or target == location_of(scope.self_ref):
        return scope.self_ref
    ref: ActorRef | None
    if target == "#_parent":
        ref = scope.parent_ref
    elif target.startswith(SESSION_PREFIX):
        ref = scope.session(target[len(SESSION_PREFIX) :])
    elif target.startswith("#_"):
        ref = frame.children.get(target[2:])
    else:
        raise ContentError(
            f"{target!r} is no target for a send; there are #_internal, #_parent, #_<invokeid> and #_scxml_<sessionid>"
        )
    if ref is None or not scope.is_live(ref):
        raise ContentError(f"there is no session at {target!r}", event=COMMUNICATION)
    return ref


def dispatch(frame: SessionFrame, waiting: FrozenDict) -> None:
    """The time of a delayed send to a child has come."""
    target, event = waiting["target"], waiting["event"]
    try:
        ref = find_session(frame, target)
    except ContentError as error:
        error.send_id = event[META].get("sendid")
        frame.report(error, "send", waiting["pointer"])
        return
    frame.records.append(SendEvent(frame.position, ref, target, event, UNDEFINED, UNDEFINED))


def _for_processor(
    frame: SessionFrame, name: str, target: str | None, data: Any, send_id: str | None
) -> FrozenDict:
    """What an I/O processor is handed: the event's name as ``type``, and all that ``send`` says."""
    known = {"target": target, "sendid": send_id, "origin": location_of(frame.scope.self_ref)}
    event: dict[str, Any] = {"type": name, **{key: value for key, value in known.items() if value is not None}}
    if data is not UNDEFINED:
        event["data"] = data
    return FrozenDict(event)
