"""``invoke`` (SCXML §6.4, §6.5): starting child sessions, what their events set off, ending them."""

from __future__ import annotations

from typing import Any

from ..errors import DefinitionError, ExecutionError, UsageError, caused_by
from ..executable_content import SCXML_TYPES, Invocation
from ..nodes import StateNode
from ..values import UNDEFINED, FrozenDict
from .children import stop_child
from .content import BlockOperation, content_value, payload_value, text_value
from .effects import ActorRef, NewActor, SendEvent, StartActor
from .messages import COMMUNICATION, META, ContentError
from .operations import Operation
from .session import SessionFrame


def key_prefix(node: StateNode, invocation: Invocation) -> str:
    """How the made-up ids of an invocation begin: ``<state id>.<platform id>`` (§6.4.1)."""
    return f"{node.id}.{invocation.index}:"


def key_of(frame: SessionFrame, node: StateNode, invocation: Invocation) -> str | None:
    """The id under which the child of an invocation runs now, if it does."""
    if invocation.id is not None:
        return invocation.id if invocation.id in frame.children else None
    prefix = key_prefix(node, invocation)
    return next((key for key in frame.children if key.startswith(prefix)), None)


# ---------------------------------------------------------------- starting


def start_invocations(frame: SessionFrame) -> None:
    """The macrostep is over: invoke what the states entered in it, and still active, ask for."""
    waiting = sorted(frame.to_invoke, key=lambda node: node.index)
    frame.to_invoke = {}
    for node in waiting:
        for invocation in node.invocations:
            try:
                _start(frame, node, invocation)
            except ExecutionError as error:
                frame.report(error, "invoke", invocation.pointer)


def _start(frame: SessionFrame, node: StateNode, invocation: Invocation) -> None:
    key = invocation.id
    if key is None:
        sequence, number = frame.position
        key = f"{key_prefix(node, invocation)}{sequence}.{number}"
    if invocation.id_location is not None:
        frame.assign(invocation.id_location, key)
    kind = "" if invocation.type is None else text_value(frame, invocation.type)
    src, logic, given = _logic(frame, invocation, kind)
    ref = frame.scope.create(NewActor(src, logic, key, None, given), frame.records)
    frame.add_child(key, ref)
    frame.records.append(StartActor(frame.position, ref, key, src, given, None, False))


def _logic(frame: SessionFrame, invocation: Invocation, kind: str) -> tuple[str, Any, Any]:
    """The name, the logic and the input of a child."""
    program = frame.program
    if invocation.document is not None:
        source = program.documents.place(invocation.pointer)
    elif invocation.content is not None:
        source = program.documents.text_of(content_value(frame, invocation.content))
    else:
        source = "" if invocation.src is None else text_value(frame, invocation.src)
    given = payload_value(frame, invocation.payload, "invoke", invocation.pointer)
    if kind not in SCXML_TYPES:
        return _other_logic(program, kind, source, given)
    return source, _document_logic(program, source), given


def _document_logic(program: Any, source: str) -> Any:
    """A child session's document, or whatever is bound under its name."""
    try:
        logic = program.actor_logic(source)
    except (DefinitionError, UsageError, LookupError) as error:
        reason = f"{_named(source)} cannot be invoked: {error}"
        raise caused_by(ContentError(reason, event=COMMUNICATION), error)
    if logic is None:
        raise ContentError(f"there is nothing to invoke at {_named(source)}", event=COMMUNICATION)
    return logic


def _other_logic(program: Any, kind: str, source: str, given: Any) -> tuple[str, Any, Any]:
    """An invocation of another type: an actor bound under its source, or under its type and told the source."""
    actors = program.machine.implementations.actors
    if source in actors:
        return source, program.actor_logic(source), given
    if kind not in actors:
        raise ContentError(f"nothing of type {kind!r} can be invoked; bind it under `actors`")
    if source:
        given = FrozenDict({"src": source, **({} if given is UNDEFINED else given)})
    return kind, program.actor_logic(kind), given


def _named(source: str) -> str:
    return repr(source if len(source) <= 60 else source[:57] + "…")


# ------------------------------------------------------------------ events


class Finalizers:
    """What an event from outside sets off before transitions are selected (mainEventLoop)."""

    def __init__(self, blocks: dict[int, list[tuple[Invocation, Operation | None]]], nodes: Any) -> None:
        self._blocks = blocks
        self._nodes = nodes
        self.has_any = bool(blocks)

    def run(self, frame: SessionFrame) -> None:
        """``finalize`` of the invocation the event came from, ``autoforward`` of all."""
        if not self._blocks:
            return
        invoke_id = frame.event.get(META, {}).get("invokeid")
        active = frame.active
        for index, found in self._blocks.items():
            if not active >> index & 1:
                continue
            for invocation, block in found:
                key = key_of(frame, self._nodes[index], invocation)
                if key is None:
                    continue
                if block is not None and key == invoke_id:
                    block.run(frame)
                if invocation.auto_forward:
                    self._forward(frame, key)

    def _forward(self, frame: SessionFrame, key: str) -> None:
        ref = frame.children[key]
        if ref is not None and frame.scope.is_live(ref):
            frame.records.append(SendEvent(frame.position, ref, key, frame.event, UNDEFINED, UNDEFINED))


class AssignParams(Operation):
    """An empty ``finalize``: what came back replaces what was sent (§6.5.2)."""

    __slots__ = ("locations", "pointer")

    def __init__(self, invocation: Invocation) -> None:
        super().__init__("finalize")
        payload = invocation.payload
        params = ((param.name, param.source) for param in payload.params)
        self.locations = (*((name, name) for name in payload.namelist), *params)
        self.pointer = f"{invocation.pointer}/finalize"

    def run(self, frame: Any) -> None:
        data = frame.event.get("data", UNDEFINED)
        if isinstance(data, FrozenDict):
            for name, location in self.locations:
                if name in data:
                    frame.assign(location, data[name])


def finalizer(invocation: Invocation, block: BlockOperation | None) -> Operation | None:
    """What a ``finalize`` does; ``None`` without one."""
    if block is None:
        return None
    if block.operations:
        return block
    return BlockOperation((AssignParams(invocation),), f"{invocation.pointer}/finalize")


# ------------------------------------------------------------------ ending


class CancelInvocations(Operation):
    """A state is left: its children end (§6.4.3)."""

    __slots__ = ("node",)

    def __init__(self, node: StateNode) -> None:
        super().__init__("invoke", node.id)
        self.node = node

    def run(self, frame: Any) -> None:
        for invocation in self.node.invocations:
            key = key_of(frame, self.node, invocation)
            if key is not None:
                ref: ActorRef | None = frame.children[key]
                stop_child(frame, ref)
