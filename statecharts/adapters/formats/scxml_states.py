"""States, transitions, data and invocations of an SCXML document (sections 3, 5.2 to 5.5 and 6.4) as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...validation.report import quoted, token
from .scxml_codes import ScxmlCode
from .scxml_content import inline, kept, one_of, read_actions, read_content, read_params, read_script
from .scxml_outline import Outline, StateElement, read_ids, state_names
from .scxml_reading import Reading, bad_value, has_content
from .scxml_transitions import read_history, read_initial, read_transitions
from .scxml_xml import Element

Json = dict[str, Any]



class DocumentReader:
    """Reads one ``scxml`` element; ``check`` gets the outline of it and of every document within."""

    def __init__(self, reading: Reading, check: Callable[[Reading, Outline], None]) -> None:
        self._reading = reading
        self._check = check

    def read(self, element: Element, pointer: str) -> Json:
        """The document of the ``scxml`` element that stands at ``pointer``."""
        reading = self._reading
        reading.open(element, pointer)
        _check_root(reading, element, pointer)
        names = state_names(reading, element)
        root = StateElement("", "scxml", pointer, element, None)
        outline = Outline(root)
        document: Json = {"semantics": "scxml", "id": element.attributes.get("name", "scxml")}
        document |= kept(element, "name", "datamodel")
        if element.attributes.get("binding") == "late":
            document["binding"] = "late"
        if "initial" in element.attributes:
            document["initial"] = read_ids(outline, "initial", root, element, f"{pointer}/initial", "initial")
        document |= self._data(element, pointer)
        scripts: list[Json] = []
        for child in reading.named(element, "script"):
            reading.open(child, f"{pointer}/scripts/{len(scripts)}")
            scripts.append(read_script(reading, child))
        if scripts:
            document["scripts"] = scripts
        states = self._states(element, root, outline, names)
        if states:
            document["states"] = states
        self._check(reading, outline)
        return document

    # --------------------------------------------------------------- states

    def _states(
        self, element: Element, parent: StateElement, outline: Outline, names: dict[Element, str]
    ) -> Json:
        states: Json = {}
        for child in self._reading.own(element):
            if child in names:
                key = names[child]
                pointer = f"{parent.pointer}/states{token(key)}"
                state = StateElement(key, child.name, pointer, child, parent, len(outline.states) + 1)
                parent.children.append(state)
                outline.states.append(state)
                made = self._state(child, state, outline, names)
                states.setdefault(key, made)
        return states

    def _state(
        self, element: Element, state: StateElement, outline: Outline, names: dict[Element, str]
    ) -> Json:
        reading, pointer = self._reading, state.pointer
        reading.open(element, pointer)
        if element.name == "history":
            return read_history(reading, element, state, outline)
        made: Json = {} if element.name == "state" else {"type": element.name}
        if element.name == "state":
            made |= read_initial(reading, element, state, outline)
        made |= self._data(element, pointer)
        for member, name in (("entry", "onentry"), ("exit", "onexit")):
            blocks = _blocks(reading, element, name, f"{pointer}/{member}")
            if blocks:
                made[member] = blocks
        if element.name == "final":
            return made | _donedata(reading, element, pointer)
        transitions = read_transitions(reading, element, state, outline)
        if transitions:
            made["transitions"] = transitions
        invokes = [
            self._invoke(child, f"{pointer}/invoke/{index}")
            for index, child in enumerate(reading.named(element, "invoke"))
        ]
        if invokes:
            made["invoke"] = invokes
        states = self._states(element, state, outline, names)
        if states:
            made["states"] = states
        return made

    # ----------------------------------------------------------------- data

    def _data(self, element: Element, pointer: str) -> Json:
        data: list[Json] = []
        for datamodel in self._reading.named(element, "datamodel"):
            self._reading.open(datamodel, f"{pointer}/data")
            for child in self._reading.named(datamodel, "data"):
                self._reading.open(child, f"{pointer}/data/{len(data)}")
                data.append(self._datum(child))
        return {"data": data} if data else {}

    def _datum(self, element: Element) -> Json:
        made: Json = {"id": element.attributes.get("id", "")}
        given = one_of(element, "expr", "src")
        if given:
            return made | given
        if has_content(element):
            made["content"] = inline(self._reading, element)
        return made

    # --------------------------------------------------------------- invoke

    def _invoke(self, element: Element, pointer: str) -> Json:
        reading = self._reading
        reading.open(element, pointer)
        made: Json = {}
        made |= one_of(element, "id", "idlocation")
        made |= one_of(element, "type", "typeexpr")
        made |= one_of(element, "src", "srcexpr")
        if "namelist" in element.attributes:
            made["namelist"] = element.attributes["namelist"].split()
        params = read_params(reading, element, f"{pointer}/params")
        if params:
            made["params"] = params
        if _flag(reading, element, pointer, "autoforward"):
            made["autoforward"] = True
        for child in reading.named(element, "finalize")[:1]:
            reading.open(child, f"{pointer}/finalize")
            made["finalize"] = read_actions(reading, child.elements, f"{pointer}/finalize")
            _check_finalize(reading, child, f"{pointer}/finalize")
        return made | self._invoke_content(element, f"{pointer}/content")

    def _invoke_content(self, element: Element, pointer: str) -> Json:
        """A document written in place is read as one; anything else is content like any other."""
        for child in self._reading.named(element, "content")[:1]:
            inside = child.elements
            is_document = len(inside) == 1 and inside[0].name == "scxml" and self._reading.is_scxml(inside[0])
            if is_document and not child.text.strip() and "expr" not in child.attributes:
                self._reading.open(child, pointer)
                return {"content": {"document": self.read(inside[0], f"{pointer}/document")}}
        return read_content(self._reading, element, pointer)


# ------------------------------------------------------------ parts of states


def _blocks(reading: Reading, element: Element, name: str, pointer: str) -> list[list[Json]]:
    blocks: list[list[Json]] = []
    for child in reading.named(element, name):
        place = f"{pointer}/{len(blocks)}"
        reading.open(child, place)
        blocks.append(read_actions(reading, child.elements, place))
    return blocks


def _donedata(reading: Reading, element: Element, pointer: str) -> Json:
    for child in reading.named(element, "donedata")[:1]:
        place = f"{pointer}/donedata"
        reading.open(child, place)
        content = read_content(reading, child, f"{place}/content")
        return {"donedata": content or {"params": read_params(reading, child, f"{place}/params")}}
    return {}


# ------------------------------------------------------------- single values


def _flag(reading: Reading, element: Element, pointer: str, name: str) -> bool:
    value = element.attributes.get(name, "false")
    if value not in ("true", "false"):
        bad_value(reading, element, pointer, name, ("true", "false"))
    return value == "true"


def _check_root(reading: Reading, element: Element, pointer: str) -> None:
    version = element.attributes.get("version")
    if version != "1.0":
        is_what = "is missing" if version is None else f"is {version!r}"
        message = f"`version` {is_what}; this is read as SCXML 1.0."
        reading.report(ScxmlCode.VERSION, element, pointer, message, 'Write `version="1.0"`.')
    datamodel = element.attributes.get("datamodel", "ecmascript")
    if datamodel not in reading.datamodels:
        guess = reading.suggest(datamodel, reading.datamodels)
        hint = f"Did you mean {guess!r}?" if guess is not None else f"Known are {quoted(reading.datamodels)}."
        message = f"The datamodel {datamodel!r} is not known."
        reading.report(ScxmlCode.UNKNOWN_DATAMODEL, element, pointer, message, hint)
    if element.attributes.get("binding", "early") not in ("early", "late"):
        bad_value(reading, element, pointer, "binding", ("early", "late"))


def _check_finalize(reading: Reading, element: Element, pointer: str) -> None:
    """SCXML 6.5: finalize updates data; it does not talk to anybody."""
    for inside in element.walk():
        if inside.name in ("send", "raise") and reading.is_scxml(inside):
            message = f"<finalize> holds <{inside.name}>; it may only update data."
            reading.report(ScxmlCode.FINALIZE_SENDS, inside, pointer, message)
