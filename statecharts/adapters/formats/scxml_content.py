"""Executable content and payloads (SCXML sections 4, 5.4 to 5.9 and 6.2 to 6.3) as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from .scxml_codes import ScxmlCode
from .scxml_json import read_value
from .scxml_reading import Reading, has_content, is_action
from .scxml_vocabulary import EXECUTABLE
from .scxml_xml import Element

Json = dict[str, Any]

_SCXML_PROCESSOR: Final = "http://www.w3.org/TR/scxml/#SCXMLEventProcessor"

DELAY: Final = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(ms|s|m|h|d)?\Z", re.ASCII)


def read_actions(reading: Reading, elements: Iterable[Element], pointer: str) -> list[Json]:
    """The executable elements among ``elements`` as a list of actions; the rest has been reported."""
    actions: list[Json] = []
    for element in elements:
        if is_action(element):
            actions.append(_named(reading, element, f"{pointer}/{len(actions)}"))
        elif element.name in EXECUTABLE and reading.is_scxml(element):
            place = f"{pointer}/{len(actions)}"
            reading.open(element, place)
            actions.append(_READERS[element.name](reading, element, place))
    return actions


def kept(element: Element, *names: str) -> Json:
    """The attributes ``names`` that ``element`` has, in that order."""
    return {name: element.attributes[name] for name in names if name in element.attributes}


def one_of(element: Element, *names: str) -> Json:
    """The first of the attributes ``names`` that ``element`` has."""
    return next(({name: element.attributes[name]} for name in names if name in element.attributes), {})


# ------------------------------------------------------------------ actions


def _raise(reading: Reading, element: Element, pointer: str) -> Json:
    _check_event_name(reading, element, pointer)
    return {"type": "scxml.raise", "event": element.attributes.get("event", "")}


def _check_event_name(reading: Reading, element: Element, pointer: str) -> None:
    name = element.attributes.get("event")
    if name is not None and (not name or name.split() != [name]):
        message = f"The event name {name!r} is empty or holds a space."
        reading.report(
            ScxmlCode.BAD_EVENT_NAME, element, pointer, message, "Write one name, such as `order.paid`."
        )


def _log(_reading: Reading, element: Element, _pointer: str) -> Json:
    return {"type": "scxml.log", **kept(element, "label", "expr")}


def _assign(reading: Reading, element: Element, _pointer: str) -> Json:
    action: Json = {"type": "scxml.assign", "location": element.attributes.get("location", "")}
    if "expr" in element.attributes:
        action["expr"] = element.attributes["expr"]
    elif has_content(element):
        action["content"] = inline(reading, element)
    return action


def _script(reading: Reading, element: Element, _pointer: str) -> Json:
    return {"type": "scxml.script", **read_script(reading, element)}


def _cancel(_reading: Reading, element: Element, _pointer: str) -> Json:
    return {"type": "scxml.cancel", **one_of(element, "sendid", "sendidexpr")}


def _if(reading: Reading, element: Element, pointer: str) -> Json:
    """SCXML 4.3: ``elseif`` and ``else`` part the children into branches."""
    branches: list[tuple[Json, list[Element]]] = [(kept(element, "cond"), [])]
    heads = [element]
    has_else = False
    for child in reading.own(element):
        if child.name not in ("elseif", "else") or not reading.is_scxml(child):
            branches[-1][1].append(child)
            continue
        place = f"{pointer}/branches/{len(branches)}"
        reading.open(child, place)
        if has_else:
            message = f"<{child.name}> after <else> is never reached."
            reading.report(ScxmlCode.BRANCH_ORDER, child, place, message, "Let <else> be the last branch.")
        has_else = has_else or child.name == "else"
        branches.append((kept(child, "cond"), []))
        heads.append(child)
    made = []
    for index, (branch, children) in enumerate(branches):
        place = f"{pointer}/branches/{index}"
        reading.lines.setdefault(place, heads[index].line)
        branch["actions"] = read_actions(reading, children, f"{place}/actions")
        made.append(branch)
    return {"type": "scxml.if", "branches": made}


def _foreach(reading: Reading, element: Element, pointer: str) -> Json:
    actions = read_actions(reading, element.elements, f"{pointer}/actions")
    return {"type": "scxml.foreach", **kept(element, "array", "item", "index"), "actions": actions}


def _send(reading: Reading, element: Element, pointer: str) -> Json:
    action: Json = {"type": "scxml.send"}
    action |= one_of(element, "event", "eventexpr")
    action |= one_of(element, "target", "targetexpr")
    if "type" in element.attributes:
        action["processor"] = element.attributes["type"]
    elif "typeexpr" in element.attributes:
        action["processorexpr"] = element.attributes["typeexpr"]
    action |= one_of(element, "id", "idlocation")
    action |= one_of(element, "delay", "delayexpr")
    if "namelist" in element.attributes:
        action["namelist"] = element.attributes["namelist"].split()
    params = read_params(reading, element, f"{pointer}/params")
    if params:
        action["params"] = params
    action |= read_content(reading, element, f"{pointer}/content")
    if not action.keys() & {"event", "eventexpr", "content"} and _is_for_scxml(element):
        message = "<send> needs `event`, `eventexpr` or <content>."
        reading.report(ScxmlCode.MISSING_ATTRIBUTE, element, pointer, message)
    _check_event_name(reading, element, pointer)
    _check_delay(reading, element, pointer)
    return action


def _is_for_scxml(element: Element) -> bool:
    """Whether a ``send`` goes to the SCXML event processor; others may do without an event."""
    kind = element.attributes.get("type", _SCXML_PROCESSOR)
    return "typeexpr" not in element.attributes and kind in (_SCXML_PROCESSOR, "scxml")


def _check_delay(reading: Reading, element: Element, pointer: str) -> None:
    """SCXML 6.2.4: ``\\d*(\\.\\d+)?(ms|s|m|h|d)``."""
    if element.attributes.get("target") == "#_internal" and element.attributes.keys() & {
        "delay",
        "delayexpr",
    }:
        message = "An event for the internal queue cannot be delayed."
        reading.report(
            ScxmlCode.INTERNAL_DELAY, element, pointer, message, "Remove the delay, or the target."
        )
    delay = element.attributes.get("delay")
    if delay is None:
        return
    match = DELAY.match(delay)
    if match is None:
        hint = "Write a number with ms, s, m, h or d: `500ms`, `1.5s`. An expression stands in `delayexpr`."
        reading.report(ScxmlCode.BAD_DELAY, element, pointer, f"{delay!r} is not a duration.", hint)
    elif match[1] is None:
        message = f"The delay {delay!r} has no unit; it is read as milliseconds."
        reading.report(ScxmlCode.BARE_DELAY, element, pointer, message, f"Write `{delay}ms`.")


def _named(reading: Reading, element: Element, pointer: str) -> Json:
    """``<action xmlns="urn:statecharts" type="name">JSON</action>``."""
    reading.lines.setdefault(pointer, element.line)
    name = element.attributes.get("type")
    if not name or name.startswith("scxml."):
        message = "A named action needs the attribute `type`, the name it is bound under."
        if name:
            message = f"{name!r} cannot be the name of an action: `scxml.` is kept for SCXML's own."
        reading.report(ScxmlCode.BAD_ACTION, element, pointer, message)
    for attribute in element.attributes:
        if attribute != "type":
            message = f"A named action has no attribute `{attribute}`."
            reading.report(
                ScxmlCode.UNKNOWN_ATTRIBUTE, element, pointer, message, "Params are JSON inside the element."
            )
    action: Json = {"type": name or ""}
    if has_content(element):
        try:
            if element.elements:
                raise ValueError("elements are not JSON")
            action["params"] = read_value(element.text)
        except ValueError as error:
            words = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            message = f"The params of the action {name!r} are not JSON: {words}."
            reading.report(ScxmlCode.BAD_ACTION, element, pointer, message)
    return action


_READERS: Final[dict[str, Callable[[Reading, Element, str], Json]]] = {
    "raise": _raise,
    "if": _if,
    "foreach": _foreach,
    "log": _log,
    "assign": _assign,
    "script": _script,
    "send": _send,
    "cancel": _cancel,
}

# ----------------------------------------------------------------- payloads


def read_script(reading: Reading, element: Element) -> Json:
    """``{"src"}`` or ``{"text"}`` of a ``script``."""
    if "src" in element.attributes:
        return kept(element, "src")
    return {"text": reading.xml.inner_xml(element) if element.elements else element.text}


def inline(reading: Reading, element: Element) -> Json:
    """What is in ``element``: ``{"xml"}`` when it holds elements, else ``{"text"}``."""
    if element.elements:
        return {"xml": reading.xml.inner_xml(element)}
    return {"text": element.text}


def read_params(reading: Reading, element: Element, pointer: str) -> list[Json]:
    """The ``param`` children of ``element``."""
    params: list[Json] = []
    for child in reading.named(element, "param"):
        reading.open(child, f"{pointer}/{len(params)}")
        params.append(kept(child, "name") | one_of(child, "expr", "location"))
    return params


def read_content(reading: Reading, element: Element, pointer: str) -> Json:
    """``{"content": …}`` for the ``content`` child of ``element``, ``{}`` without one."""
    for child in reading.named(element, "content")[:1]:
        reading.open(child, pointer)
        if "expr" in child.attributes:
            return {"content": kept(child, "expr")}
        return {"content": inline(reading, child)}
    return {}
