"""Transitions of an SCXML document (sections 3.5, 3.6, 3.10 and 3.12.1) as JSON."""

from __future__ import annotations

import re
from typing import Any, Final

from .scxml_codes import ScxmlCode
from .scxml_content import kept, read_actions
from .scxml_outline import Outline, StateElement, read_ids
from .scxml_reading import Reading, bad_value
from .scxml_xml import Element

Json = dict[str, Any]
_DESCRIPTOR: Final = re.compile(r"(?:\*|[^.*\s][^.\s]*(?:\.[^.\s]+)*(?:\.|\.\*)?)\Z")


def read_initial(reading: Reading, element: Element, state: StateElement, outline: Outline) -> Json:
    """``{"initial": …}`` from the attribute or the element."""
    pointer = f"{state.pointer}/initial"
    has_states = any(child.name in ("state", "parallel", "final") for child in reading.own(element))
    children = reading.named(element, "initial")
    if not has_states and ("initial" in element.attributes or children):
        message = f"<state> {state.id!r} has no child states, so nothing can be its initial state."
        reading.report(ScxmlCode.INITIAL_WITHOUT_STATES, element, pointer, message)
        return {}
    if "initial" in element.attributes:
        return {"initial": read_ids(outline, "initial", state, element, pointer, "initial")}
    for child in children[:1]:
        reading.open(child, pointer)
        for transition in reading.named(child, "transition")[:1]:
            return {"initial": _content_transition(reading, transition, state, outline, pointer, "initial")}
    return {}


def read_history(reading: Reading, element: Element, state: StateElement, outline: Outline) -> Json:
    """A history state with its default."""
    kind = element.attributes.get("type", "shallow")
    if kind not in ("shallow", "deep"):
        bad_value(reading, element, state.pointer, "type", ("shallow", "deep"))
        kind = "shallow"
    made: Json = {"type": "history", "history": kind}
    for transition in reading.named(element, "transition")[:1]:
        made |= _content_transition(reading, transition, state, outline, state.pointer, "history")
    return made


def read_transitions(reading: Reading, element: Element, state: StateElement, outline: Outline) -> list[Json]:
    """The transitions of a state, those without event among them."""
    made: list[Json] = []
    for child in reading.named(element, "transition"):
        pointer = f"{state.pointer}/transitions/{len(made)}"
        reading.open(child, pointer)
        attributes = child.attributes
        transition: Json = {}
        if "event" in attributes:
            transition["event"] = _descriptors(reading, child, pointer)
        transition |= kept(child, "cond")
        if "target" in attributes:
            transition["target"] = read_ids(outline, "target", state, child, f"{pointer}/target", "target")
        if not transition:
            message = "This transition has neither `event`, `cond` nor `target`; it would be taken for ever."
            reading.report(ScxmlCode.EMPTY_TRANSITION, child, pointer, message)
        if _check_type(reading, child, pointer) == "internal":
            transition["type"] = "internal"
        actions = read_actions(reading, child.elements, f"{pointer}/actions")
        if actions:
            transition["actions"] = actions
        made.append(transition)
    return made


def _content_transition(
    reading: Reading, element: Element, state: StateElement, outline: Outline, pointer: str, role: str
) -> Json:
    """The transition inside ``initial`` (SCXML 3.6) or ``history`` (3.10): a target and content, no more."""
    reading.open(element, pointer)
    refused = [name for name in ("event", "cond") if name in element.attributes]
    if refused:
        code = ScxmlCode.BAD_INITIAL if role == "initial" else ScxmlCode.HISTORY_CONDITION
        names = " and ".join(f"`{name}`" for name in refused)
        message = f"The transition in <{role}> has {names}; it is taken whenever it is reached."
        reading.report(code, element, pointer, message, f"Remove {names}.")
    _check_type(reading, element, pointer)
    if "target" not in element.attributes:
        message = f"The transition in <{role}> needs the attribute `target`."
        reading.report(ScxmlCode.MISSING_ATTRIBUTE, element, pointer, message)
    made: Json = {"target": read_ids(outline, role, state, element, pointer, "target")}
    actions = read_actions(reading, element.elements, f"{pointer}/actions")
    if actions:
        made["actions"] = actions
    return made


def _descriptors(reading: Reading, element: Element, pointer: str) -> list[str]:
    """SCXML 3.12.1: names of tokens parted by dots, ``name.``, ``name.*`` or ``*``."""
    written = element.attributes["event"].split()
    if not written:
        hint = "Leave `event` out for a transition that needs no event."
        reading.report(ScxmlCode.BAD_DESCRIPTOR, element, pointer, "The attribute `event` is empty.", hint)
    for descriptor in written:
        if _DESCRIPTOR.match(descriptor) is None:
            message = f"No event matches the descriptor {descriptor!r}."
            hint = "Write tokens parted by dots, such as `order.paid`, `order.*` or `*`."
            reading.report(ScxmlCode.BAD_DESCRIPTOR, element, pointer, message, hint)
    return written


def _check_type(reading: Reading, element: Element, pointer: str) -> str:
    kind = element.attributes.get("type", "external")
    if kind not in ("internal", "external"):
        bad_value(reading, element, pointer, "type", ("internal", "external"))
    return kind
