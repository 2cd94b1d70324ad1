"""Executable content of SCXML as operations (REC chapter 4, §5.4, §5.8, §6.2, §6.3).

An error in an operation ends the block it stands in and becomes an event; the
session goes on (:class:`BlockOperation`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from ..errors import ExecutionError
from ..executable_content import (
    AssignLocation,
    Branch,
    CancelSend,
    Content,
    ForEach,
    LogValue,
    Payload,
    RaiseNow,
    Script,
    Text,
)
from ..json_text import dumps
from ..values import UNDEFINED, FrozenDict, freeze, js_number
from .effects import CancelEvent, LogMessage, RaiseEvent
from .messages import ContentError, message
from .operations import Operation
from .session import SessionFrame


class ContentOperation(Operation):
    """One element. ``tag`` and ``pointer`` say which, in error events."""

    __slots__ = ("pointer", "tag")

    def __init__(self, tag: str, pointer: str) -> None:
        super().__init__(f"<{tag}> at {pointer}")
        self.tag = tag
        self.pointer = pointer

    def run(self, frame: Any) -> None:
        self.execute(frame)

    @abstractmethod
    def execute(self, frame: SessionFrame) -> None:
        """What the element does. Raises :class:`ExecutionError` for what becomes an error event."""


class BlockOperation(Operation):
    """Elements one after the other; an error skips the rest (§3.12.2)."""

    __slots__ = ("operations", "pointer")

    def __init__(self, operations: Sequence[Operation], pointer: str) -> None:
        super().__init__("block")
        self.operations = tuple(operations)
        self.pointer = pointer

    def run(self, frame: Any) -> None:
        for operation in self.operations:
            frame.operation = operation
            try:
                operation.run(frame)
            except ExecutionError as error:
                tag = getattr(operation, "tag", "action")
                frame.report(error, tag, getattr(operation, "pointer", self.pointer))
                return


class RaiseNowOperation(ContentOperation):
    """``raise`` (§4.2): to the end of the internal queue."""

    __slots__ = ("event",)

    def __init__(self, spec: RaiseNow) -> None:
        super().__init__("raise", spec.pointer)
        self.event = message(spec.event, type="internal")

    def execute(self, frame: SessionFrame) -> None:
        frame.queue.append(self.event)
        frame.records.append(RaiseEvent(frame.position, self.event, UNDEFINED, UNDEFINED))


class ChoiceOperation(ContentOperation):
    """``if`` (§4.3): the first branch whose condition holds; one that cannot be evaluated does not (§5.9.1)."""

    __slots__ = ("branches",)

    def __init__(self, branches: Sequence[tuple[Branch, Sequence[Operation]]], pointer: str) -> None:
        super().__init__("if", pointer)
        self.branches = tuple((branch.condition, tuple(operations)) for branch, operations in branches)

    def execute(self, frame: SessionFrame) -> None:
        for condition, operations in self.branches:
            if condition is None or self._holds(frame, condition):
                run_all(frame, operations)
                return

    def _holds(self, frame: SessionFrame, condition: str) -> bool:
        try:
            return frame.datamodel.test(condition, frame.moment())
        except ExecutionError as error:
            frame.report(error, self.tag, self.pointer)
            return False


class ForEachOperation(ContentOperation):
    """``foreach`` (§4.6): over a copy of the array; ``item`` and ``index`` are declared when they are not."""

    __slots__ = ("operations", "spec")

    def __init__(self, spec: ForEach, operations: Sequence[Operation]) -> None:
        super().__init__("foreach", spec.pointer)
        self.spec = spec
        self.operations = tuple(operations)

    def execute(self, frame: SessionFrame) -> None:
        spec, datamodel = self.spec, frame.datamodel
        items = datamodel.items(spec.array, frame.moment())
        for name in (spec.item, spec.index):
            if name is not None:
                frame.context = datamodel.declare(frame.context, name)
        for index, item in enumerate(items):
            frame.assign(spec.item, item)
            if spec.index is not None:
                frame.assign(spec.index, index)
            run_all(frame, self.operations)


def run_all(frame: SessionFrame, operations: Sequence[Operation]) -> None:
    """The content of an element: what fails in it fails the element's block, and is named itself."""
    for operation in operations:
        frame.operation = operation
        operation.run(frame)


class LogValueOperation(ContentOperation):
    """``log`` (§4.7)."""

    __slots__ = ("spec",)

    def __init__(self, spec: LogValue) -> None:
        super().__init__("log", spec.pointer)
        self.spec = spec

    def execute(self, frame: SessionFrame) -> None:
        spec = self.spec
        value = frame.value(spec.expr) if spec.expr is not None else UNDEFINED
        label = UNDEFINED if spec.label is None else spec.label
        frame.records.append(LogMessage(frame.position, value, label))


class AssignOperation(ContentOperation):
    """``assign`` (§5.4)."""

    __slots__ = ("spec",)

    def __init__(self, spec: AssignLocation) -> None:
        super().__init__("assign", spec.pointer)
        self.spec = spec

    def execute(self, frame: SessionFrame) -> None:
        frame.assign(self.spec.location, content_value(frame, self.spec.value))


class ScriptOperation(ContentOperation):
    """``script`` (§5.8)."""

    __slots__ = ("text",)

    def __init__(self, spec: Script) -> None:
        super().__init__("script", spec.pointer)
        self.text = spec.text

    def execute(self, frame: SessionFrame) -> None:
        frame.context = frame.datamodel.run(self.text, frame.moment())


class CancelSendOperation(ContentOperation):
    """``cancel`` (§6.3): every pending send with this id."""

    __slots__ = ("send_id",)

    def __init__(self, spec: CancelSend) -> None:
        super().__init__("cancel", spec.pointer)
        self.send_id = spec.send_id

    def execute(self, frame: SessionFrame) -> None:
        frame.records.append(CancelEvent(frame.position, text_value(frame, self.send_id)))


# ----------------------------------------------------------------- values


def text_value(frame: SessionFrame, text: Text) -> str:
    """A text as it is now; numbers and truth values as JavaScript writes them. Raises :class:`ContentError`."""
    if not text.is_expression:
        return text.value
    value = frame.value(text.value)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return js_number(value)
    raise ContentError(f"{text.value!r} is to give a text, not {dumps(value)}")


def content_value(frame: SessionFrame, content: Content) -> Any:
    """The value of inline content or of its expression."""
    if content.kind == "expr":
        return frame.value(content.source)
    return frame.datamodel.content(content.kind, content.source)


def payload_value(frame: SessionFrame, payload: Payload, tag: str, pointer: str) -> Any:
    """What goes along: one content, or an object of variables and params; ``UNDEFINED`` for nothing.

    A param that cannot be evaluated is reported and left out (§5.7), a
    variable that cannot is an error of the element. A name given twice has a
    list of values.
    """
    if payload.content is not None:
        return content_value(frame, payload.content)
    if not (payload.namelist or payload.params):
        return UNDEFINED
    found: dict[str, list[Any]] = {}
    for name in payload.namelist:
        found.setdefault(name, []).append(frame.value(name))
    for index, param in enumerate(payload.params):
        try:
            value = frame.value(param.source)
        except ExecutionError as error:
            frame.report(error, "param", f"{pointer}/params/{index}")
            continue
        found.setdefault(param.name, []).append(value)
    members = {name: values[0] if len(values) == 1 else freeze(values) for name, values in found.items()}
    return FrozenDict(members) if members else UNDEFINED
