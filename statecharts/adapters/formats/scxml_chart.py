"""An XState machine as the exporter and the re-importer see it: nodes, their SCXML ids, resolved targets.

Both sides work out from here what plain SCXML says for a part of the
machine, so an unchanged file gives back an unchanged document, and a changed
attribute is noticed because it differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ...errors import UsageError
from ...validation.delays import js_to_number
from ...validation.outline import Node, Outline, build_outline
from ...validation.report import Report
from ...validation.targets import UnknownTarget, resolve_history_default, resolve_target
from ...values import js_number
from .scxml_vocabulary import NAME, NOT_IN_NAMES
from .scxml_xml import FORBIDDEN

EVENT_NAMES: Final = (
    ("xstate.done.state.", "done.state."),
    ("xstate.done.actor.", "done.invoke."),
    ("xstate.error.actor.", "error.platform."),
)
"""Events that both rule books have, under other names."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A transition as plain SCXML has it. ``event`` is absent for ``always``, ``targets`` when nothing is left."""

    event: str | None
    targets: tuple[Node, ...] | None
    is_internal: bool


@dataclass(slots=True)
class Chart:
    """A machine's outline with the ids its parts have in SCXML.

    ``actor_ids`` maps XState's ids of invoked actors, ``data_ids`` the keys of the context.
    """

    outline: Outline
    ids: dict[Node, str] = field(default_factory=dict)
    actor_ids: dict[str, str] = field(default_factory=dict)
    data_ids: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Chart:
        """The chart of ``document`` with generated ids."""
        chart = cls(build_outline(document, Report(document)))
        chart.ids = generated_ids(chart.outline)
        chart.actor_ids = generated_actor_ids(actor_ids(chart.outline), chart.ids.values())
        chart.data_ids = generated_data_ids(document.get("context"))
        return chart

    def data_id(self, key: str) -> str:
        """The variable for ``key`` of the context."""
        return self.data_ids.get(key) or _variable(key)

    # -------------------------------------------------------------- events

    def event_name(self, descriptor: str) -> str:
        """XState's ``descriptor`` or event type as SCXML writes it."""
        for ours, theirs in EVENT_NAMES:
            if descriptor.startswith(ours):
                rest = descriptor[len(ours) :]
                if ours == "xstate.done.state.":
                    node = self.outline.ids.get(rest)
                    rest = self.ids[node] if node is not None and node in self.ids else rest
                else:
                    rest = self.actor_ids.get(rest, rest)
                return theirs + safe_event(rest)
        return safe_event(descriptor)

    def done_event(self, node: Node) -> str:
        """The event raised when ``node`` completes."""
        return f"done.state.{self.ids[node]}"

    def after_event(self, node: Node, delay: str) -> str:
        """The event, and send id, of an ``after`` of ``node``."""
        number = js_to_number(delay)
        name = delay if number != number else js_number(number)
        return f"after.{safe_event(name)}.{self.ids[node]}"

    def end_id(self, node: Node) -> str:
        """The id of a helper state that is entered when ``node`` completes."""
        name = f"{self.ids[node]}.end"
        while name in self.ids.values():
            name += "_"
        return name

    def actor_event(self, handler: str, actor: str) -> str:
        """The event that ``handler`` of an invoke (``onDone``, ``onError``, ``onSnapshot``) waits for."""
        prefix = {"onDone": "done.invoke.", "onError": "error.platform.", "onSnapshot": "xstate.snapshot."}
        return prefix[handler] + self.actor_ids[actor]

    # ------------------------------------------------------------- targets

    def resolve(self, source: Node, target: Any, pointer: str) -> tuple[Node, ...] | None:
        """The nodes that ``target`` names from ``source``; None when there is no target.

        Raises :class:`UnknownTarget`, or :class:`UsageError` for what is no target at all.
        """
        if target is None or target == "":
            return None
        found = []
        for text in target if isinstance(target, (list, tuple)) else [target]:
            if not isinstance(text, str):
                raise UsageError(f"{pointer}: a target is a name or a list of names, not {text!r}")
            found.append(resolve_target(self.outline, source, text))
        return tuple(found)

    def plain_move(self, source: Node, targets: tuple[Node, ...] | None, reenter: bool) -> Plain:
        """How SCXML comes closest to a transition of ``source`` (the event is not filled in)."""
        if not targets:
            return Plain(None, None, False)
        if not reenter and all(target is source for target in targets):
            if source.kind == "compound" and (initial := initial_child(source)) is not None:
                return Plain(None, (initial,), True)
            if source.kind != "parallel":
                return Plain(None, None, False)
        is_inside = all(source in target.ancestors() for target in targets)
        return Plain(None, targets, is_inside and not reenter)

    def history_targets(self, node: Node) -> tuple[Node, ...]:
        """What ``target`` of the history ``node`` names; empty when it names nothing, or no state."""
        target = node.config.get("target")
        if target in (None, ""):
            return ()
        texts = target if isinstance(target, (list, tuple)) else [target]
        try:
            found = tuple(resolve_history_default(self.outline, node, text) for text in texts)
        except (UnknownTarget, TypeError, AttributeError):
            return ()
        return found if all(each in self.ids for each in found) else ()

    def history_default(self, node: Node) -> tuple[Node, ...]:
        """The default of the history ``node`` in SCXML, which must have one, below its parent."""
        parent = node.parent
        assert parent is not None
        named = self.history_targets(node)
        if named and all(parent in each.ancestors() and each is not node for each in named):
            return named
        real = [child for child in parent.children.values() if child.kind != "history"]
        if parent.kind == "parallel":
            return tuple(real)
        initial = initial_child(parent)
        if initial is not None and initial.kind != "history":
            return (initial,)
        return tuple(real[:1])

    def names(self, nodes: Iterable[Node]) -> str:
        """Their SCXML ids, as one attribute value."""
        return " ".join(self.ids[node] for node in nodes)


# ---------------------------------------------------------------------- nodes


def can_be_left(node: Node) -> bool:
    """Whether ``node`` can be left: what XState keeps in others, but entry and exit, never runs."""
    return node.kind not in ("final", "history")


def children(node: Node) -> list[Node]:
    """The children of ``node`` that have an element of their own, in document order."""
    return list(node.children.values()) if node.kind in ("compound", "parallel") else []


def walk(node: Node) -> Iterator[Node]:
    """``node`` and what is below it, in document order."""
    stack = [node]
    while stack:
        each = stack.pop()
        yield each
        stack.extend(reversed(children(each)))


def initial_key(node: Node) -> Any:
    """The key that ``initial`` of ``node`` names."""
    initial = node.config.get("initial")
    return initial.get("target") if isinstance(initial, Mapping) else initial


def initial_child(node: Node) -> Node | None:
    """The child that ``node`` enters by default."""
    key = initial_key(node)
    return node.children.get(key) if isinstance(key, str) else None


def invokes(node: Node) -> list[Any]:
    """What ``node`` invokes, in order."""
    value = node.config.get("invoke")
    if node.kind in ("final", "history") or value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def actor_id(node: Node, index: int, invoke: Mapping[str, Any]) -> str:
    """The id of an invoked actor, the one XState makes up when there is none."""
    given = invoke.get("id")
    return given if isinstance(given, str) and given else f"{index}.{node.id}"


def actor_ids(outline: Outline) -> list[str]:
    """The ids of all invoked actors, in document order."""
    return [
        actor_id(node, index, invoke)
        for node in walk(outline.root)
        for index, invoke in enumerate(invokes(node))
        if isinstance(invoke, Mapping)
    ]


# ------------------------------------------------------------------------ ids


def generated_ids(outline: Outline) -> dict[Node, str]:
    """An XML name for every node, the same for the same document: its id where that is one, else close to it."""
    ids: dict[Node, str] = {}
    taken: set[str] = set()
    nodes = list(walk(outline.root))
    for node in nodes:
        if NAME.match(node.id) and node.id not in taken:
            ids[node] = node.id
            taken.add(node.id)
    for node in nodes:
        if node not in ids:
            ids[node] = _unique(safe_name(node.id), taken)
    return {node: ids[node] for node in nodes}


def generated_actor_ids(names: Iterable[str], state_ids: Iterable[str]) -> dict[str, str]:
    """An XML name for every id of an invoked actor; an id used twice keeps one name."""
    taken = set(state_ids)
    made: dict[str, str] = {}
    wanted = list(dict.fromkeys(names))
    for name in sorted(wanted, key=lambda name: NAME.match(name) is None):
        made[name] = _unique(safe_name(name), taken)
    return {name: made[name] for name in wanted}


def generated_data_ids(context: Any) -> dict[str, str]:
    """A variable's name for every key of the context."""
    taken: set[str] = set()
    keys = list(context) if isinstance(context, Mapping) else []
    return {key: _unique(_variable(key), taken) for key in keys}


def _variable(key: str) -> str:
    name = "".join(c if (c.isalnum() and c.isascii()) or c in "_$" else "_" for c in key)
    return name if name and not name[0].isdigit() else f"_{name}"


def _unique(name: str, taken: set[str]) -> str:
    number = 2
    unique = name
    while unique in taken:
        unique = f"{name}_{number}"
        number += 1
    taken.add(unique)
    return unique


def safe_name(text: str) -> str:
    """``text`` with what cannot stand in an XML name replaced."""
    name = NOT_IN_NAMES.sub("_", text)
    return name if NAME.match(name) else f"_{name}"


def safe_event(text: str) -> str:
    """``text`` without spaces and without characters XML does not have, so that it stays one descriptor."""
    if not text:
        return "_"
    return "".join(f"_x{ord(c):04X}_" if c.isspace() or FORBIDDEN.match(c) else c for c in text)
