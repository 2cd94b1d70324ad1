"""Actions and guards of an exported XState machine, read again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ...errors import UsageError
from ...validation.targets import reference
from .scxml_chart import EVENT_NAMES, Chart
from .scxml_codes import ScxmlCode
from .scxml_content import DELAY
from .scxml_export_actions import RESERVED, ActionWriter
from .scxml_json import read_value
from .scxml_markup import equal_plain, own
from .scxml_reading import Reading, has_content, is_action
from .scxml_vocabulary import EXECUTABLE
from .scxml_xml import Element

Json = dict[str, Any]
_GUARD_CALL: Final = re.compile(r"\s*guard\('([^'\\]+)'(?:,(.*))?\)\s*\Z", re.DOTALL)
_IN_CALL: Final = re.compile(r"\s*In\('([^'\\]+)'\)\s*\Z")
_DELAY_CALL: Final = re.compile(r"\s*delay\('([^'\\]+)'\)\s*\Z")
_STRING: Final = re.compile(r"'([^'\\]*)'\Z")
_MILLISECONDS: Final = {None: 1, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def extension(reading: Reading, element: Element, pointer: str) -> Json:
    """The object in ``x:config`` of ``element``; ``{}`` without one, or after a problem."""
    value = config_of(reading, element, pointer)
    if value is None or isinstance(value, dict):
        return value or {}
    message = f"`x:config` of <{element.name}> is no JSON object."
    reading.report(ScxmlCode.BAD_EXTENSION, element, pointer, message)
    return {}


def config_of(reading: Reading, element: Element, pointer: str) -> Any:
    """The JSON value in ``x:config`` of ``element``; None without one, or after a problem."""
    text = own(element, "config")
    if text is None:
        return None
    try:
        return read_value(text)
    except ValueError as error:
        message = f"`x:config` of <{element.name}> is not JSON: {error}."
        reading.report(ScxmlCode.BAD_EXTENSION, element, pointer, message)
        return None


def constant(reading: Reading, element: Element, text: str, pointer: str) -> Any:
    """The JSON value that an expression is; anything else is a problem."""
    quoted = _STRING.match(text.strip())
    if quoted is not None:
        return quoted[1]
    try:
        return read_value(text)
    except ValueError:
        message = f"{text!r} is no constant; an XState machine holds JSON values."
        hint = "Bind a named action that computes it."
        reading.report(ScxmlCode.NOT_XSTATE, element, pointer, message, hint)
        return None


class ActionReader:
    """Reads the actions of one machine; ``chart`` has the ids that the text gives."""

    def __init__(self, reading: Reading, chart: Chart) -> None:
        self._reading = reading
        self._chart = chart
        self._writer = ActionWriter(chart)
        self._states = {name: node for node, name in chart.ids.items()}
        self._actors = {name: actor for actor, name in chart.actor_ids.items()}
        self._keys = {name: key for key, name in chart.data_ids.items()}

    def elements(self, parent: Element) -> list[Element]:
        """The action elements in ``parent``."""
        return [
            child
            for child in parent.elements
            if own(child, "helper") is None
            and (is_action(child) or (child.name in EXECUTABLE and self._reading.is_scxml(child)))
        ]

    def read(self, elements: list[Element], is_list: bool, pointer: str) -> Any:
        """The actions of ``elements``: one by itself if that is how it was written, else a list."""
        if not is_list and len(elements) == 1:
            return self._action(elements[0], pointer)
        made: list[Any] = []
        for element in elements:
            found = len(self._reading.problems)
            action = self._action(element, f"{pointer}/{len(made)}")
            if action is not None or len(self._reading.problems) == found:
                made.append(action)
        return made

    def _action(self, element: Element, pointer: str) -> Any:
        self._reading.lines[pointer] = element.line
        if is_action(element):
            return self._named(element, pointer)
        value = config_of(self._reading, element, pointer)
        if value is not None:
            try:
                expected = self._writer.markup(value, pointer)[0]
            except UsageError:
                message = f"`x:config` of <{element.name}> is no action."
                self._reading.report(ScxmlCode.BAD_EXTENSION, element, pointer, message)
                return None
            if equal_plain(expected, element):
                return value
        return self._plain(element, pointer)

    def _named(self, element: Element, pointer: str) -> Any:
        value = config_of(self._reading, element, pointer)
        if isinstance(value, list) and len(value) == 1:
            return value[0]
        name = element.attributes.get("type", "")
        params: Json = {}
        if has_content(element):
            params = {"params": self._params_text(element, pointer)}
        if not isinstance(value, dict):
            return {"type": name, **params} if params else name
        made: Json = {}
        for key, kept in value.items():
            if key == "type":
                made[key] = name
            elif key == "params":
                made |= params
            elif isinstance(kept, list) and kept:
                made[key] = kept[0]
        return made | params

    def _params_text(self, element: Element, pointer: str) -> Any:
        try:
            return read_value(element.text)
        except ValueError as error:
            message = f"The params of the action are not JSON: {error}."
            self._reading.report(ScxmlCode.BAD_ACTION, element, pointer, message)
            return None

    # ------------------------------------------------- what another tool wrote

    def _plain(self, element: Element, pointer: str) -> Json | None:
        """An action that stands in the text as plain SCXML only, if XState has its like."""
        read = _READERS.get(element.name)
        made = read(self, element, pointer) if read is not None else None
        if made is None:
            message = f"An XState machine cannot say this <{element.name}>."
            hint = 'Write `<x:action type="name"/>` and bind the name in Python.'
            self._reading.report(ScxmlCode.NOT_XSTATE, element, pointer, message, hint)
        return made

    def _raise(self, element: Element, _pointer: str) -> Json | None:
        name = element.attributes.get("event", "")
        return {"type": "@xstate.raise", "event": {"type": self.event_type(name)}}

    def _send(self, element: Element, pointer: str) -> Json | None:
        known = {"event", "target", "id", "delay", "delayexpr"}
        if element.attributes.keys() - known or "event" not in element.attributes:
            return None
        if self._reading.named(element, "content"):
            return None
        event: Json = {"type": self.event_type(element.attributes["event"])}
        for param in self._reading.named(element, "param"):
            text = param.attributes.get("expr")
            if text is None:
                return None
            event[param.attributes.get("name", "")] = constant(self._reading, param, text, pointer)
        target = element.attributes.get("target")
        made: Json = {"type": "@xstate.raise", "event": event}
        if target == "#_parent":
            made["type"] = "@xstate.sendParent"
        elif target is not None and target.startswith(RESERVED) and target != "#_internal":
            actor = target.removeprefix(RESERVED)
            made = {"type": "@xstate.sendTo", "to": self._actors.get(actor, actor), "event": event}
        elif target not in (None, "#_internal"):
            return None
        if "id" in element.attributes:
            made["id"] = element.attributes["id"]
        return self._with_delay(element, made, is_to_self=target is None)

    def _with_delay(self, element: Element, made: Json, is_to_self: bool) -> Json | None:
        """A message to oneself without delay comes after what is raised: as an XState timer of no length."""
        attributes = element.attributes
        if "delayexpr" in attributes:
            named = _DELAY_CALL.match(attributes["delayexpr"])
            return None if named is None else made | {"delay": named[1]}
        match = DELAY.match(attributes.get("delay", ""))
        if match is not None:
            number = float(match[0].removesuffix(match[1] or "")) * _MILLISECONDS[match[1]]
            made["delay"] = int(number) if number.is_integer() else number
        elif is_to_self:
            made["delay"] = 0
        return made

    def _cancel(self, element: Element, _pointer: str) -> Json | None:
        name = element.attributes.get("sendid")
        return None if name is None else {"type": "@xstate.cancel", "id": name}

    def _log(self, element: Element, pointer: str) -> Json | None:
        made: Json = {"type": "@xstate.log"}
        if "expr" in element.attributes:
            made["value"] = constant(self._reading, element, element.attributes["expr"], pointer)
        if "label" in element.attributes:
            made["label"] = element.attributes["label"]
        return made

    def _assign(self, element: Element, pointer: str) -> Json | None:
        key = element.attributes.get("location", "")
        text = element.attributes.get("expr")
        if text is None or not re.fullmatch(r"[\w$]+", key):
            return None
        value = constant(self._reading, element, text, pointer)
        return {"type": "@xstate.assign", "context": {self._keys.get(key, key): value}}

    def event_type(self, name: str) -> str:
        """XState's name for a plain event: the inverse of :meth:`Chart.event_name`."""
        for ours, theirs in EVENT_NAMES:
            if name.startswith(theirs):
                rest = name.removeprefix(theirs)
                node = self._states.get(rest) if theirs == "done.state." else None
                return ours + (node.id if node is not None else self._actors.get(rest, rest))
        return name

    def guard(self, element: Element, pointer: str) -> Any:
        """A guard for the condition that another tool wrote; None without one."""
        cond = element.attributes.get("cond")
        if cond is None:
            return None
        called = _GUARD_CALL.match(cond)
        if called is not None:
            if called[2] is None:
                return called[1]
            params = constant(self._reading, element, called[2].strip(), f"{pointer}/guard")
            return {"type": called[1], "params": params}
        asked = _IN_CALL.match(cond)
        if asked is not None and asked[1] in self._states:
            address = reference(self._chart.outline, self._states[asked[1]])
            return {"type": "@xstate.stateIn", "state": address}
        message = f"The condition {cond!r} became a guard of that name."
        hint = "Bind it in Python, or write `guard('name')`."
        self._reading.report(ScxmlCode.GUARD_FROM_COND, element, f"{pointer}/guard", message, hint)
        return cond


_READERS: Final[dict[str, Callable[[ActionReader, Element, str], Json | None]]] = {
    "raise": ActionReader._raise,
    "send": ActionReader._send,
    "cancel": ActionReader._cancel,
    "log": ActionReader._log,
    "assign": ActionReader._assign,
}
