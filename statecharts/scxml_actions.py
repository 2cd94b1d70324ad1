"""From the JSON of executable content (``docs/reference/scxml-json.md``) to actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .actions import Action, NamedAction
from .errors import DefinitionError, Problem
from .executable_content import (
    AssignLocation,
    Block,
    Branch,
    CancelSend,
    Choice,
    Content,
    ForEach,
    LogValue,
    Param,
    Payload,
    RaiseNow,
    Script,
    Send,
    Text,
)
from .values import UNDEFINED, freeze

Resolve = Callable[[str], str]
"""From a URI to its text; raises :class:`LookupError` with a message."""


def refuse(pointer: str, message: str, hint: str | None = None) -> DefinitionError:
    """The error for one thing that is wrong with the document."""
    return DefinitionError([Problem("scxml-shape", pointer, message, hint)])


def member(config: Mapping[str, Any], key: str, pointer: str, *, needed: bool = False) -> str | None:
    """A member that holds text; ``None`` when it is absent. Raises :class:`DefinitionError`."""
    value = config.get(key)
    if value is None and not needed:
        return None
    if not isinstance(value, str):
        what = "is missing" if value is None else f"is {type(value).__name__}"
        raise refuse(f"{pointer}/{key}", f"{key!r} {what}; it is text")
    return value


def listed(config: Mapping[str, Any], key: str, pointer: str) -> Sequence[Any]:
    """A member that holds a list; empty when it is absent. Raises :class:`DefinitionError`."""
    value = config.get(key, ())
    if not isinstance(value, (list, tuple)):
        raise refuse(f"{pointer}/{key}", f"{key!r} is a list, not {type(value).__name__}")
    return value


def names(config: Mapping[str, Any], key: str, pointer: str) -> tuple[str, ...]:
    """A member that holds a list of texts."""
    found = listed(config, key, pointer)
    for index, name in enumerate(found):
        if not isinstance(name, str):
            raise refuse(f"{pointer}/{key}/{index}", f"{key!r} holds texts, not {type(name).__name__}")
    return tuple(found)


def text_or_expression(config: Mapping[str, Any], key: str, pointer: str, expression: str) -> Text | None:
    """One of a pair of members: ``key`` as it stands, or ``expression`` to be evaluated."""
    computed = member(config, expression, pointer)
    if computed is not None:
        return Text(computed, True)
    written = member(config, key, pointer)
    return None if written is None else Text(written)


def read_content(value: Any, pointer: str) -> Content:
    """``{"expr"}``, ``{"text"}`` or ``{"xml"}``."""
    if isinstance(value, Mapping):
        for kind in ("expr", "text", "xml"):
            source = member(value, kind, pointer)
            if source is not None:
                return Content(kind, source)
    raise refuse(pointer, "content is an object with 'expr', 'text' or 'xml'")


def read_payload(config: Mapping[str, Any], pointer: str) -> Payload:
    """``namelist``, ``params`` and ``content`` of a send, an invoke or donedata."""
    params = []
    for index, param in enumerate(listed(config, "params", pointer)):
        place = f"{pointer}/params/{index}"
        if not isinstance(param, Mapping):
            raise refuse(place, "a param is an object with 'name' and 'expr' or 'location'")
        name = member(param, "name", place, needed=True)
        source = member(param, "expr", place)
        if source is None:
            source = member(param, "location", place, needed=True)
        assert name is not None and source is not None
        params.append(Param(name, source))
    content = config.get("content")
    return Payload(
        names(config, "namelist", pointer),
        tuple(params),
        None if content is None else read_content(content, f"{pointer}/content"),
    )


class ContentReader:
    """Reads executable content. ``resolve`` gives the text behind a script's ``src``."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._readers: dict[str, Callable[[Mapping[str, Any], str], Action]] = {
            "scxml.raise": self._raise,
            "scxml.send": self._send,
            "scxml.cancel": self._cancel,
            "scxml.log": self._log,
            "scxml.assign": self._assign,
            "scxml.script": self._script,
            "scxml.if": self._choice,
            "scxml.foreach": self._for_each,
        }

    def blocks(self, config: Mapping[str, Any], key: str, pointer: str) -> tuple[Action, ...]:
        """A list of blocks (``entry``, ``exit``)."""
        found = listed(config, key, pointer)
        return tuple(self.block(block, f"{pointer}/{key}/{index}") for index, block in enumerate(found))

    def block(self, value: Any, pointer: str) -> Block:
        """A list of actions that an error ends."""
        return Block(self.actions(value, pointer), pointer)

    def content(self, config: Mapping[str, Any], pointer: str) -> tuple[Action, ...]:
        """The ``actions`` of a transition: one block, or nothing."""
        value = config.get("actions", ())
        return (self.block(value, f"{pointer}/actions"),) if value else ()

    def actions(self, value: Any, pointer: str) -> tuple[Action, ...]:
        """A list of actions."""
        if not isinstance(value, (list, tuple)):
            raise refuse(pointer, f"a block is a list of actions, not {type(value).__name__}")
        return tuple(self.action(item, f"{pointer}/{index}") for index, item in enumerate(value))

    def action(self, value: Any, pointer: str) -> Action:
        """One action. Raises :class:`DefinitionError`."""
        kind = value.get("type") if isinstance(value, Mapping) else None
        if not isinstance(kind, str):
            raise refuse(pointer, "an action is an object with a 'type'")
        if not kind.startswith("scxml."):
            params = value.get("params", UNDEFINED)
            return NamedAction(kind, freeze(params), pointer)
        reader = self._readers.get(kind)
        if reader is None:
            raise refuse(pointer, f"there is no action {kind!r}", f"There are {', '.join(self._readers)}.")
        return reader(value, pointer)

    def script_text(self, config: Mapping[str, Any], pointer: str) -> str:
        """The program of a ``script``. Raises :class:`DefinitionError` when its ``src`` cannot be loaded (§5.8)."""
        source = member(config, "src", pointer)
        if source is None:
            return member(config, "text", pointer) or ""
        try:
            return self._resolve(source)
        except LookupError as error:
            raise DefinitionError(
                [Problem("script-src", f"{pointer}/src", f"the script {source!r} cannot be loaded: {error.args[0]}")]
            ) from None

    # -------------------------------------------------------------- actions

    def _raise(self, config: Mapping[str, Any], pointer: str) -> Action:
        event = member(config, "event", pointer, needed=True)
        assert event is not None
        return RaiseNow(event, pointer)

    def _send(self, config: Mapping[str, Any], pointer: str) -> Action:
        return Send(
            event=text_or_expression(config, "event", pointer, "eventexpr"),
            target=text_or_expression(config, "target", pointer, "targetexpr"),
            processor=text_or_expression(config, "processor", pointer, "processorexpr"),
            delay=text_or_expression(config, "delay", pointer, "delayexpr"),
            id=member(config, "id", pointer),
            id_location=member(config, "idlocation", pointer),
            payload=read_payload(config, pointer),
            pointer=pointer,
        )

    def _cancel(self, config: Mapping[str, Any], pointer: str) -> Action:
        send_id = text_or_expression(config, "sendid", pointer, "sendidexpr")
        if send_id is None:
            raise refuse(pointer, "cancel needs 'sendid' or 'sendidexpr'")
        return CancelSend(send_id, pointer)

    def _log(self, config: Mapping[str, Any], pointer: str) -> Action:
        return LogValue(member(config, "label", pointer), member(config, "expr", pointer), pointer)

    def _assign(self, config: Mapping[str, Any], pointer: str) -> Action:
        location = member(config, "location", pointer, needed=True)
        assert location is not None
        source = member(config, "expr", pointer)
        if source is not None:
            return AssignLocation(location, Content("expr", source), pointer)
        return AssignLocation(location, read_content(config.get("content"), f"{pointer}/content"), pointer)

    def _script(self, config: Mapping[str, Any], pointer: str) -> Action:
        return Script(self.script_text(config, pointer), pointer)

    def _choice(self, config: Mapping[str, Any], pointer: str) -> Action:
        branches = []
        for index, branch in enumerate(listed(config, "branches", pointer)):
            place = f"{pointer}/branches/{index}"
            if not isinstance(branch, Mapping):
                raise refuse(place, "a branch is an object with 'cond' and 'actions'")
            actions = self.actions(branch.get("actions", ()), f"{place}/actions")
            branches.append(Branch(member(branch, "cond", place), actions))
        return Choice(tuple(branches), pointer)

    def _for_each(self, config: Mapping[str, Any], pointer: str) -> Action:
        array = member(config, "array", pointer, needed=True)
        item = member(config, "item", pointer, needed=True)
        assert array is not None and item is not None
        actions = self.actions(config.get("actions", ()), f"{pointer}/actions")
        return ForEach(array, item, member(config, "index", pointer), actions, pointer)
