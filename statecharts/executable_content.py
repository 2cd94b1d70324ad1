"""Executable content as SCXML writes it (REC chapter 4, §6.2-6.4), as data.

These are actions of the SCXML rule book. Expressions are source text; what
they mean is the datamodel's business (:mod:`statecharts.interpreter.datamodel`).
Nested actions are of :data:`statecharts.actions.Action`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Something written or computed: ``value`` as it stands, or, with ``is_expression``, evaluated each time."""

    value: str
    is_expression: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """The body of ``content``, ``data`` or ``assign``: ``kind`` is ``expr``, ``text`` or ``xml``."""

    kind: str
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Param:
    """One name and where its value comes from (§5.7)."""

    name: str
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Payload:
    """What goes along with an event or an invocation: variables by name, params, or one content."""

    namelist: tuple[str, ...] = ()
    params: tuple[Param, ...] = ()
    content: Content | None = None


NO_PAYLOAD = Payload()


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The content of one ``onentry``, ``onexit``, ``transition`` …: an error in it skips its rest (§3.12.2)."""

    actions: tuple[Any, ...]
    pointer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class RaiseNow:
    """``raise`` (§4.2)."""

    event: str
    pointer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Send:
    """``send`` (§6.2). Everything is evaluated when it is executed."""

    event: Text | None
    target: Text | None
    processor: Text | None
    delay: Text | None
    id: str | None
    id_location: str | None
    payload: Payload
    pointer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class CancelSend:
    """``cancel`` (§6.3)."""

    send_id: Text
    pointer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class LogValue:
    """``log`` (§4.7)."""

    label: str | None
    expr: str | None
    pointer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class AssignLocation:
    """``assign`` (§5.4)."""

    location: str
    value: Content
    pointer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Script:
    """``script`` (§5.8)."""

    text: str
    pointer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """One ``if``, ``elseif`` or (without condition) ``else``."""

    condition: str | None
    actions: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """``if`` (§4.3)."""

    branches: tuple[Branch, ...]
    pointer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ForEach:
    """``foreach`` (§4.6)."""

    array: str
    item: str
    index: str | None
    actions: tuple[Any, ...]
    pointer: str = ""


ExecutableContent = (
    Block | RaiseNow | Send | CancelSend | LogValue | AssignLocation | Script | Choice | ForEach
)
CONTENT = (Block, RaiseNow, Send, CancelSend, LogValue, AssignLocation, Script, Choice, ForEach)


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """One ``data`` element (§5.3). ``value`` is ``None`` without one; ``problem`` says why ``src`` gave nothing."""

    id: str
    value: Content | None
    problem: str | None = None
    pointer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Invocation:
    """One ``invoke`` (§6.4). ``index`` counts those of its state.

    The child is a ``document`` written in place, ``content`` to be computed,
    or what ``src`` or ``type`` names; ``payload`` is what it is given.

    ``finalize`` is ``None`` without one; an empty one assigns what came (§6.5).
    """

    index: int
    id: str | None
    id_location: str | None
    type: Text | None
    src: Text | None
    payload: Payload
    content: Content | None
    document: Any
    auto_forward: bool
    finalize: Block | None
    pointer: str = ""


SCXML_TYPES = ("", "scxml", "http://www.w3.org/TR/scxml", "http://www.w3.org/TR/scxml/")
"""The types of an invoke that mean another SCXML session (§6.4.1); none means it too."""


def inner_actions(action: Any) -> tuple[Any, ...]:
    """The actions that stand inside ``action``."""
    if isinstance(action, (Block, ForEach)):
        return action.actions
    if isinstance(action, Choice):
        return tuple(inner for branch in action.branches for inner in branch.actions)
    return ()
