"""An exported XState machine read again: SCXML text with ``x:semantics="xstate"`` to XState JSON.

``x:config`` on each element gives back what it was made from. Where plain
SCXML says something else about structure (states, ids, kinds, initial
states, targets, events), the text has been edited, and plain SCXML counts.
To notice that, what it says is compared with what the exporter writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...errors import DefinitionError
from ...validation.outline import Node, Outline, build_outline
from ...validation.report import Report, token
from ...validation.targets import reference
from .scxml_chart import (
    Chart,
    actor_id,
    generated_actor_ids,
    generated_data_ids,
    generated_ids,
    initial_child,
)
from .scxml_checks import check_outline
from .scxml_codes import ScxmlCode
from .scxml_import_actions import constant, extension
from .scxml_import_check import report_lost_edits
from .scxml_import_parts import PartReader
from .scxml_markup import key_of, own
from .scxml_reading import Reading
from .scxml_states import DocumentReader
from .scxml_vocabulary import STATES
from .scxml_xml import Element

Json = dict[str, Any]
_IDENTITY = ("id", "type", "parallel", "history", "target", "initial")
_KINDS = ("parallel", "final", "history")


@dataclass(slots=True, eq=False)
class Seen:
    """A state while it is read. ``identity`` has the members that decide about structure."""

    element: Element
    key: str
    config: Json
    identity: Json
    children: list[Seen] = field(default_factory=list)
    has_new_kind: bool = False

    def walk(self) -> Iterator[Seen]:
        """This state and all below it, in document order."""
        stack = [self]
        while stack:
            seen = stack.pop()
            yield seen
            stack.extend(reversed(seen.children))


def is_exported(root: Element) -> bool:
    """Whether ``root`` is that of an exported XState machine."""
    return own(root, "semantics") == "xstate"


def read_machine(reading: Reading, root: Element) -> Json:
    """The XState document in ``root``; problems and lines go to ``reading``.

    Raises :class:`DefinitionError` at once for a text that is not SCXML.
    """
    DocumentReader(reading, check_outline).read(root, "")
    reading.problems = [problem for problem in reading.problems if problem.severity == "error"]
    if reading.problems:
        raise DefinitionError(reading.problems, root.attributes.get("name"))
    reading.lines.clear()
    return _MachineReader(reading, root).read()


class _MachineReader:
    """First the tree of states is settled, by plain SCXML; then each state is filled."""

    def __init__(self, reading: Reading, root: Element) -> None:
        self._reading = reading
        self._root = root
        wrapper = next((child for child in root.elements if own(child, "helper") == "machine"), None)
        self._body = root if wrapper is None else wrapper
        config = extension(reading, root, "")
        self._top = Seen(self._body, "", config, _identity(config))
        name = root.attributes.get("name", "")
        self._top.children = self._states(self._body, name, "")
        if wrapper is not None:
            self._top.children += self._states(root, name, "")
        self._outline: Outline
        self._nodes: dict[Seen, Node] = {}

    def read(self) -> Json:
        self._settle_kinds()
        self._settle_ids()
        chart = self._chart()
        self._settle_initials(chart)
        self._settle_histories(chart)
        context = self._context(chart)
        document = self._fill(self._top, PartReader(self._reading, chart), "")
        if context is not None:
            document["context"] = context
        is_apart = self._body is not self._root and len(self._states(self._root, "", "")) > 0
        if not is_apart and not any(problem.severity == "error" for problem in self._reading.problems):
            report_lost_edits(self._reading, self._root, document)
        return document

    def _states(self, element: Element, parent_id: str, pointer: str) -> list[Seen]:
        found: list[Seen] = []
        taken: set[str] = set()
        for child in element.elements:
            if (
                child.name not in STATES
                or not self._reading.is_scxml(child)
                or own(child, "helper") is not None
            ):
                continue
            name = child.attributes.get("id")
            key = key_of(child)
            if key is None or key in taken:
                key = name or f"state_{len(found) + 1}"
                key = key.removeprefix(f"{parent_id}.") or key
            while key in taken:
                key += "_"
            taken.add(key)
            place = f"{pointer}/states{token(key)}"
            config = extension(self._reading, child, place)
            seen = Seen(child, key, config, _identity(config))
            seen.children = self._states(child, name or "", place)
            found.append(seen)
        return found

    def _build(self) -> None:
        """The nodes of the states, by XState's own rules."""
        for seen in self._top.walk():
            seen.identity.pop("states", None)
            if seen.children:
                seen.identity["states"] = {child.key: child.identity for child in seen.children}
        self._outline = build_outline(self._top.identity, Report(self._top.identity))
        self._nodes = {self._top: self._outline.root}
        for seen in self._top.walk():
            for child in seen.children:
                self._nodes[child] = self._nodes[seen].children[child.key]

    def _settle_kinds(self) -> None:
        """The element decides what kind of state it is."""
        self._build()
        changed = False
        for seen, node in self._nodes.items():
            name = self._kind(seen)
            is_same = name in ("scxml", node.kind) or (name == "state" and node.kind not in _KINDS)
            if is_same and not (node.kind == "atomic" and seen.children):
                continue
            changed = seen.has_new_kind = True
            for member in ("type", "parallel", "history"):
                seen.identity.pop(member, None)
            if name != "state":
                seen.identity["type"] = name
            if name in ("final", "history"):
                for member in ("on", "after", "always", "onDone", "invoke", "states", "initial"):
                    seen.config.pop(member, None)
                    seen.identity.pop(member, None)
        if changed:
            self._build()

    def _kind(self, seen: Seen) -> str:
        """``state``, ``parallel``, ``final`` or ``history``; a final region is exported as a ``state``."""
        is_final = own(seen.element, "kind") == "final" and not seen.children
        if is_final and not self._reading.named(seen.element, "transition"):
            return "final"
        return seen.element.name

    def _settle_ids(self) -> None:
        """The attribute decides about the id; where XState would say the same, nothing is written."""
        name = self._root.attributes.get("name")
        if name is not None and generated_ids(self._outline)[self._outline.root] != name:
            self._top.identity["id"] = name
            self._build()
        generated = generated_ids(self._outline)
        changed = False
        for seen, node in self._nodes.items():
            given = seen.element.attributes.get("id")
            if seen is not self._top and given is not None and generated[node] != given:
                seen.identity["id"] = given
                changed = True
        if changed:
            self._build()

    def _chart(self) -> Chart:
        chart = Chart(self._outline)
        generated = generated_ids(self._outline)
        for seen, node in self._nodes.items():
            chart.ids[node] = seen.element.attributes.get("id") or generated[node]
        invoked = [
            (element.attributes.get("id"), actor_id(node, index, extension(self._reading, element, "")))
            for seen, node in self._nodes.items()
            for index, element in enumerate(self._reading.named(seen.element, "invoke"))
        ]
        made = generated_actor_ids([name for _, name in invoked], chart.ids.values())
        for given, name in invoked:
            if given is None or given == made[name]:
                chart.actor_ids[name] = made[name]
            else:
                chart.actor_ids[given] = given
        return chart

    # ------------------------------------------------------- initial, history

    def _settle_initials(self, chart: Chart) -> None:
        for seen, node in self._nodes.items():
            if node.kind == "compound" and node.children:
                self._settle_initial(chart, seen, node)
            elif node.kind == "atomic" and seen.config.get("states") is True and seen.identity.get("initial"):
                del seen.identity["initial"]  # its children have been removed

    def _settle_initial(self, chart: Chart, seen: Seen, node: Node) -> None:
        element = seen.element
        ids = element.attributes.get("initial", "").split()
        for child in self._reading.named(element, "initial"):
            for transition in self._reading.named(child, "transition"):
                ids = transition.attributes.get("target", "").split()
        old = initial_child(node)
        if old is not None and ids == [chart.ids[old]]:
            return
        is_new = seen.has_new_kind or not seen.config
        if not ids and not seen.identity.get("initial") and not is_new:
            return  # it never had one
        key = self._initial_key(chart, seen, node, ids)
        given = seen.identity.get("initial")
        seen.identity["initial"] = {**given, "target": key} if isinstance(given, dict) else key

    def _initial_key(self, chart: Chart, seen: Seen, node: Node, ids: list[str]) -> str | None:
        if not ids:  # SCXML 3.3: the first child in document order
            return next((child.key for child in node.children.values() if child.kind != "history"), None)
        keys = {chart.ids[child]: child.key for child in node.children.values()}
        if len(ids) == 1 and ids[0] in keys:
            return keys[ids[0]]
        message = f"The initial state of {chart.ids[node]!r} is {' '.join(ids)!r}, which is no child of it."
        hint = "An XState machine enters one direct child, which has an initial state of its own."
        self._reading.report(ScxmlCode.NOT_XSTATE, seen.element, f"{node.pointer}/initial", message, hint)
        return None

    def _settle_histories(self, chart: Chart) -> None:
        by_id = {name: node for node, name in chart.ids.items()}
        for seen, node in self._nodes.items():
            if node.kind != "history":
                continue
            kind = seen.element.attributes.get("type", "shallow")
            if kind != ("deep" if seen.identity.get("history") == "deep" else "shallow"):
                seen.identity["history"] = kind
            for transition in self._reading.named(seen.element, "transition"):
                target = transition.attributes.get("target", "").split()
                if target != chart.names(chart.history_default(node)).split():
                    written = [reference(chart.outline, by_id[name]) for name in target if name in by_id]
                    seen.identity["target"] = written[0] if len(written) == 1 else written

    # ---------------------------------------------------------------- filling

    def _fill(self, seen: Seen, parts: PartReader, pointer: str) -> Json:
        node = self._nodes[seen]
        self._reading.lines[pointer] = seen.element.line
        config = {**seen.config}
        for member in _IDENTITY:
            if member in seen.identity:
                config[member] = seen.identity[member]
            else:
                config.pop(member, None)
        if node.kind == "history":
            return config
        if seen.children and "states" not in config:
            config["states"] = True
        made = parts.fill(seen.element, node, config, pointer)
        if made.get("states") is True or seen.children:
            order = made["states"] if isinstance(made["states"], list) else []
            states = {
                child.key: self._fill(child, parts, f"{pointer}/states{token(child.key)}")
                for child in seen.children
            }
            first = {key: states[key] for key in order if key in states}
            made["states"] = first | states
        return made

    def _context(self, chart: Chart) -> Json | None:
        """The context stands in ``datamodel``; None when the machine has none there."""
        elements = [
            data
            for datamodel in self._reading.named(self._root, "datamodel")
            for data in self._reading.named(datamodel, "data")
        ]
        if self._top.config.get("context") is not True and not elements:
            return None
        found = [(key_of(data), data.attributes.get("id", "")) for data in elements]
        keys = [name if key is None else key for key, name in found]
        generated = generated_data_ids(dict.fromkeys(keys))
        context: Json = {}
        for data, key in zip(elements, keys, strict=True):
            name = data.attributes.get("id", "")
            key = key if generated[key] == name else name
            pointer = f"/context{token(key)}"
            self._reading.lines[pointer] = data.line
            text = data.attributes.get("expr")
            context[key] = None if text is None else constant(self._reading, data, text, pointer)
            chart.data_ids[key] = name
        return context


def _identity(config: Json) -> Json:
    return {member: config[member] for member in _IDENTITY if member in config}
