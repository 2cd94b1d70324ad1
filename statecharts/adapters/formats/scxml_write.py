"""SCXML-JSON documents as SCXML text: the inverse of reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, Final

from ...errors import DefinitionError, UsageError
from ...validation.report import token
from .scxml_json import write_value
from .scxml_output import XmlOutput, xml_text
from .scxml_vocabulary import NAMESPACE, OWN_NAMESPACE
from .scxml_xml import escaped, parse_xml

_MADE_UP: Final = re.compile(r"state:\d+\Z")
_ELEMENTS: Final = {"parallel": "parallel", "final": "final", "history": "history", None: "state"}


def write_document(document: Mapping[str, Any]) -> str:
    """``document`` as indented SCXML text; reading it gives an equal document.

    Raises :class:`UsageError` with the JSON pointer of what SCXML cannot
    say: an unknown member or action, a character XML does not have, a target
    that is the made-up id of a state without one.
    """
    if document.get("semantics") != "scxml":
        raise UsageError('an SCXML document as JSON has `"semantics": "scxml"` at its root')
    out = XmlOutput()
    _Writer(out).document(document, "")
    return out.text()


class _Writer:
    """Writes the parts of documents to ``out``. Every method takes a value and its JSON pointer."""

    def __init__(self, out: XmlOutput) -> None:
        self._out = out

    def document(self, document: Any, at: str) -> None:
        members = ("semantics", "id", "name", "datamodel", "binding", "initial", "data", "scripts", "states")
        _only(document, members, at)
        name = document.get("name", document["id"] if document.get("id", "scxml") != "scxml" else None)
        attributes = {
            "xmlns": NAMESPACE,
            "version": "1.0",
            "name": _maybe(name, f"{at}/name"),
            **_attributes(document, at, "datamodel", "binding"),
            "initial": _ids(document, "initial", at),
        }
        with self._out.element("scxml", attributes):
            self._data(document, at)
            for script, place in _items(document, "scripts", at):
                self._script(script, place, ())
            self._states(document, at)

    # --------------------------------------------------------------- states

    def _states(self, parent: Any, at: str) -> None:
        for key, state in _object(parent.get("states", {}), f"{at}/states").items():
            self._state(key, _object(state, f"{at}/states{token(key)}"), f"{at}/states{token(key)}")

    def _state(self, key: str, state: Any, at: str) -> None:
        kind = state.get("type")
        if not isinstance(kind, (str, NoneType)) or kind not in _ELEMENTS:
            raise UsageError(
                f"{at}/type: {kind!r} is no state type; it is parallel, final, history or absent"
            )
        name = None if _MADE_UP.match(key) else xml_text(key, at)
        if kind == "history":
            _only(state, ("type", "history", "target", "actions"), at)
            with self._out.element("history", {"id": name, **_renamed(state, at, type="history")}):
                self._transition({key: state[key] for key in ("target", "actions") if key in state}, at)
            return
        _only(state, _MEMBERS[kind], at)
        initial = state.get("initial")
        given = _ids(state, "initial", at) if isinstance(initial, (list, tuple)) else None
        with self._out.element(_ELEMENTS[kind], {"id": name, "initial": given}):
            self._data(state, at)
            for member, element in (("entry", "onentry"), ("exit", "onexit")):
                for block, place in _items(state, member, at):
                    self._block(element, block, place)
            if isinstance(initial, Mapping):
                _only(initial, ("target", "actions"), f"{at}/initial")
                with self._out.element("initial", {}):
                    self._transition(initial, f"{at}/initial")
            for transition, place in _items(state, "transitions", at):
                self._transition(transition, place)
            for invoke, place in _items(state, "invoke", at):
                self._invoke(invoke, place)
            self._states(state, at)
            if "donedata" in state:
                self._donedata(state["donedata"], f"{at}/donedata")

    def _transition(self, transition: Any, at: str) -> None:
        _only(transition, ("event", "cond", "target", "type", "actions"), at)
        attributes = {
            "event": _ids(transition, "event", at),
            **_attributes(transition, at, "cond"),
            "target": _ids(transition, "target", at),
            **_attributes(transition, at, "type"),
        }
        with self._out.element("transition", attributes):
            self._actions(transition.get("actions", ()), f"{at}/actions")

    def _invoke(self, invoke: Any, at: str) -> None:
        _only(invoke, _INVOKE, at)
        attributes = _attributes(invoke, at, "id", "idlocation", "type", "typeexpr", "src", "srcexpr")
        attributes["namelist"] = _ids(invoke, "namelist", at)
        attributes["autoforward"] = "true" if invoke.get("autoforward") else None
        with self._out.element("invoke", attributes):
            self._payload(invoke, at)
            if "finalize" in invoke:
                self._block("finalize", invoke["finalize"], f"{at}/finalize")

    def _donedata(self, donedata: Any, at: str) -> None:
        _only(donedata, ("params", "content"), at)
        with self._out.element("donedata", {}):
            self._payload(donedata, at)

    # -------------------------------------------------------------- payloads

    def _data(self, holder: Any, at: str) -> None:
        if not holder.get("data"):
            return
        with self._out.element("datamodel", {}):
            for datum, place in _items(holder, "data", at):
                _only(datum, ("id", "expr", "src", "content"), place)
                attributes = _attributes(datum, place, "id", "expr", "src")
                self._holding("data", attributes, datum, f"{place}/content")

    def _payload(self, holder: Any, at: str) -> None:
        for param, place in _items(holder, "params", at):
            _only(param, ("name", "expr", "location"), place)
            self._out.empty("param", _attributes(param, place, "name", "expr", "location"))
        content = holder.get("content")
        if content is None:
            return
        place = f"{at}/content"
        _only(content, ("document", "expr", "text", "xml"), place)
        if "document" in content:
            with self._out.element("content", {}):
                self.document(content["document"], f"{place}/document")
        elif "expr" in content:
            self._out.empty("content", _attributes(content, place, "expr"))
        else:
            self._holding("content", {}, holder, place)

    def _holding(self, name: str, attributes: Mapping[str, str | None], holder: Any, at: str) -> None:
        """An element whose text or markup is ``holder``'s member ``content``."""
        content = holder.get("content")
        if content is None:
            self._out.empty(name, attributes)
        else:
            _only(content, ("text", "xml"), at)
            self._out.holding(name, attributes, _source(content, at))

    # --------------------------------------------------------------- actions

    def _block(self, element: str, actions: Any, at: str) -> None:
        with self._out.element(element, {}):
            self._actions(actions, at)

    def _actions(self, actions: Any, at: str) -> None:
        if not isinstance(actions, (list, tuple)):
            raise UsageError(f"{at}: a list of actions belongs here, not {type(actions).__name__}")
        for index, action in enumerate(actions):
            kind = action.get("type") if isinstance(action, Mapping) else None
            place = f"{at}/{index}"
            if not isinstance(kind, str):
                raise UsageError(f"{place}: an action is an object with a `type`")
            if kind.startswith("scxml."):
                write = _ACTIONS.get(kind)
                if write is None:
                    raise UsageError(f"{place}: there is no action {kind!r}; there are {', '.join(_ACTIONS)}")
                write(self, action, place)
            else:
                self._named(action, place)

    def _named(self, action: Any, at: str) -> None:
        _only(action, ("type", "params"), at)
        attributes = {"xmlns": OWN_NAMESPACE, **_attributes(action, at, "type")}
        if "params" not in action:
            self._out.empty("action", attributes)
            return
        try:
            text = write_value(action["params"])
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(f"{at}/params: not JSON: {error}") from None
        self._out.holding("action", attributes, escaped(text))

    def _raise(self, action: Any, at: str) -> None:
        _only(action, ("type", "event"), at)
        self._out.empty("raise", _attributes(action, at, "event"))

    def _log(self, action: Any, at: str) -> None:
        _only(action, ("type", "label", "expr"), at)
        self._out.empty("log", _attributes(action, at, "label", "expr"))

    def _assign(self, action: Any, at: str) -> None:
        _only(action, ("type", "location", "expr", "content"), at)
        self._holding("assign", _attributes(action, at, "location", "expr"), action, f"{at}/content")

    def _script(self, script: Any, at: str, more: tuple[str, ...] = ("type",)) -> None:
        _only(script, ("text", "src", *more), at)
        if "src" in script:
            self._out.empty("script", _attributes(script, at, "src"))
        else:
            self._out.holding("script", {}, escaped(xml_text(script.get("text"), f"{at}/text")))

    def _cancel(self, action: Any, at: str) -> None:
        _only(action, ("type", "sendid", "sendidexpr"), at)
        self._out.empty("cancel", _attributes(action, at, "sendid", "sendidexpr"))

    def _send(self, action: Any, at: str) -> None:
        _only(action, _SEND, at)
        attributes = _attributes(action, at, "event", "eventexpr", "target", "targetexpr")
        attributes |= _renamed(action, at, type="processor", typeexpr="processorexpr")
        attributes |= _attributes(action, at, "id", "idlocation", "delay", "delayexpr")
        attributes["namelist"] = _ids(action, "namelist", at)
        with self._out.element("send", attributes):
            self._payload(action, at)

    def _foreach(self, action: Any, at: str) -> None:
        _only(action, ("type", "array", "item", "index", "actions"), at)
        with self._out.element("foreach", _attributes(action, at, "array", "item", "index")):
            self._actions(action.get("actions", ()), f"{at}/actions")

    def _if(self, action: Any, at: str) -> None:
        _only(action, ("type", "branches"), at)
        branches = _items(action, "branches", at)
        for branch, place in branches:
            _only(branch, ("cond", "actions"), place)
        first = _attributes(branches[0][0], branches[0][1], "cond") if branches else {}
        with self._out.element("if", first):
            for index, (branch, place) in enumerate(branches):
                if index:
                    self._out.empty(
                        "elseif" if "cond" in branch else "else", _attributes(branch, place, "cond")
                    )
                self._actions(branch.get("actions", ()), f"{place}/actions")


_SEND: Final = (
    "type", "event", "eventexpr", "target", "targetexpr", "processor", "processorexpr",
    "id", "idlocation", "delay", "delayexpr", "namelist", "params", "content",
)  # fmt: skip
_INVOKE: Final = (
    "id", "idlocation", "type", "typeexpr", "src", "srcexpr",
    "namelist", "params", "autoforward", "finalize", "content",
)  # fmt: skip
_INSIDE: Final = ("type", "data", "entry", "exit", "transitions", "invoke", "states")
_MEMBERS: Final[dict[str | None, tuple[str, ...]]] = {
    None: (*_INSIDE, "initial"),
    "parallel": _INSIDE,
    "final": ("type", "data", "entry", "exit", "donedata"),
}
_ACTIONS: Final[dict[str, Callable[[_Writer, Any, str], None]]] = {
    "scxml.raise": _Writer._raise,
    "scxml.if": _Writer._if,
    "scxml.foreach": _Writer._foreach,
    "scxml.log": _Writer._log,
    "scxml.assign": _Writer._assign,
    "scxml.script": _Writer._script,
    "scxml.send": _Writer._send,
    "scxml.cancel": _Writer._cancel,
}


def _object(value: Any, at: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise UsageError(f"{at or '(document)'}: an object belongs here, not {type(value).__name__}")
    return value


def _items(holder: Mapping[str, Any], name: str, at: str) -> list[tuple[Any, str]]:
    """The members of a list, each with its pointer; none when there is no list."""
    value = holder.get(name)
    if value is None:
        return []
    if not isinstance(value, (list, tuple)):
        raise UsageError(f"{at}/{name}: a list belongs here, not {type(value).__name__}")
    return [(item, f"{at}/{name}/{index}") for index, item in enumerate(value)]


def _only(value: Any, allowed: tuple[str, ...], at: str) -> None:
    """Refuse what would be lost."""
    for name in _object(value, at):
        if name not in allowed:
            raise UsageError(
                f"{at}{token(name)}: SCXML has no place for this; known here: {', '.join(allowed)}"
            )


def _maybe(value: Any, at: str) -> str | None:
    return None if value is None else xml_text(value, at)


def _attributes(value: Any, at: str, *names: str) -> dict[str, str | None]:
    return {name: xml_text(value[name], f"{at}/{name}") for name in names if name in value}


def _renamed(value: Any, at: str, **names: str) -> dict[str, str | None]:
    """Attributes that the JSON form calls differently: attribute=member."""
    return {
        name: xml_text(value[member], f"{at}/{member}") for name, member in names.items() if member in value
    }


def _ids(value: Any, name: str, at: str) -> str | None:
    """A list of names as one attribute value; ``None`` when there is none."""
    if value.get(name) is None:
        return None
    ids = []
    for each, place in _items(value, name, at):
        text = xml_text(each, place)
        if name in ("initial", "target") and _MADE_UP.match(text):
            raise UsageError(f"{place}: {text!r} is made up; give the state an id to refer to it")
        if text.split() != [text]:
            raise UsageError(f"{place}: {text!r} is empty or holds a space")
        ids.append(text)
    return " ".join(ids)


def _source(content: Any, at: str) -> str:
    """Inline content as XML text; markup must be well-formed and stand on its own."""
    if "xml" not in content:
        return escaped(xml_text(content.get("text"), f"{at}/text"))
    source = xml_text(content["xml"], f"{at}/xml")
    try:
        xml = parse_xml(f"<content>{source}</content>")
    except DefinitionError as error:
        raise UsageError(f"{at}/xml: {error.problems[0].message}") from None
    if not xml.root.elements:
        raise UsageError(f"{at}/xml: there is no element in it; plain text stands under `text`")
    return xml.inner_xml(xml.root)
