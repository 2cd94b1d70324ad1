"""The states, transitions and invocations of an XState machine as SCXML elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ...errors import UsageError
from ...validation.outline import Node
from ...validation.report import token
from ...validation.targets import UnknownTarget
from .scxml_chart import (
    Chart,
    Plain,
    actor_id,
    can_be_left,
    children,
    initial_child,
    initial_key,
    invokes,
)
from .scxml_export_actions import ActionWriter, after_attributes, condition, has_expression, listed
from .scxml_json import write_value
from .scxml_markup import Markup, config, helper, key_attribute, params, writable

HANDLERS: Final = ("onDone", "onError", "onSnapshot")
ACTOR_TYPE: Final = "urn:statecharts"
"""The type of an invoke whose source is the name of an XState actor."""


@dataclass(frozen=True, slots=True, eq=False)
class Arrow:
    """One transition of a machine.

    ``group`` is ``on``, ``always``, ``after``, ``onDone``, or ``invoke.``
    with a handler's name; ``key`` the descriptor, the delay or the actor's id.
    """

    node: Node
    group: str
    key: str
    value: Any
    pointer: str
    targets: tuple[Node, ...] | None
    plain: Plain

    @property
    def is_wildcard(self) -> bool:
        """Whether it waits for more than one event."""
        return self.group == "on" and (self.key == "*" or self.key.endswith(".*"))

    @property
    def rank(self) -> tuple[int, int]:
        """Its place among those of its state: SCXML takes the first that matches, XState the closest."""
        if self.group == "always":
            return 0, 0
        return (2, -len(self.key)) if self.is_wildcard else (1, 0)

    def member(self, name: str) -> Any:
        """A member of the transition as written, None without one."""
        return self.value.get(name) if isinstance(self.value, Mapping) else None


def read_arrow(chart: Chart, node: Node, group: str, key: str, value: Any, pointer: str) -> Arrow:
    """One transition with its plain form. Raises :class:`UsageError` for a target that cannot be exported."""
    if not isinstance(value, (str, Mapping)):
        raise UsageError(f"{pointer}: a transition is a target, an object, or a list of those, not {value!r}")
    members: Mapping[str, Any] = value if isinstance(value, Mapping) else {"target": value}
    try:
        targets = chart.resolve(node, members.get("target"), f"{pointer}/target")
    except UnknownTarget as error:
        raise UsageError(f"{pointer}: the target names no state: there is no {error.missing!r}") from None
    lost = next((each for each in targets or () if each not in chart.ids), None)
    if lost is not None:
        raise UsageError(f"{pointer}: {lost.id!r} lies in a final or history state, which is never entered")
    plain = chart.plain_move(node, targets, bool(members.get("reenter")))
    plain = Plain(event_of(chart, node, group, key), plain.targets, plain.is_internal)
    return Arrow(node, group, key, value, pointer, targets, plain)


def event_of(chart: Chart, node: Node, group: str, key: str) -> str | None:
    """The ``event`` attribute of a transition."""
    if group == "always":
        return None
    if group == "onDone":
        return chart.done_event(node)
    if group == "after":
        return chart.after_event(node, key)
    if group == "on":
        return chart.event_name(key)
    return chart.actor_event(group.removeprefix("invoke."), key)


def move_attributes(chart: Chart, plain: Plain) -> dict[str, str]:
    """``event``, ``target`` and ``type`` of a transition."""
    attributes = {} if plain.event is None else {"event": plain.event}
    if plain.targets is not None:
        attributes["target"] = chart.names(plain.targets)
    if plain.is_internal:
        attributes["type"] = "internal"
    return attributes


@dataclass(slots=True)
class _Parts:
    """What stands in one state, by kind."""

    attributes: dict[str, str] = field(default_factory=dict)
    blocks: list[Markup] = field(default_factory=list)
    helpers: list[Markup] = field(default_factory=list)
    initial: list[Markup] = field(default_factory=list)
    transitions: list[tuple[Arrow, Markup]] = field(default_factory=list)
    invokes: list[Markup] = field(default_factory=list)

    def in_order(self) -> list[Markup]:
        """As they stand in the element."""
        transitions = sorted(self.transitions, key=lambda pair: pair[0].rank)
        blocks = [*self.blocks, *self.helpers, *self.initial]
        return [*blocks, *(element for _, element in transitions), *self.invokes]


class StateWriter:
    """Writes the states of one machine; ``arrows`` collects its transitions in the order of the document."""

    def __init__(self, chart: Chart) -> None:
        self.arrows: list[Arrow] = []
        self._chart = chart
        self._actions = ActionWriter(chart)

    def state(self, node: Node) -> Markup:
        """The element of ``node`` with all below it."""
        name = node.kind if node.kind in ("parallel", "final", "history") else "state"
        attributes = {"id": self._chart.ids[node], **key_attribute(node.key)}
        if name == "history":
            return self._history(node, attributes)
        parts = _Parts()
        skeleton = {member: self._member(node, parts, member, value) for member, value in node.config.items()}
        made = Markup(name, attributes | parts.attributes | config(skeleton), parts.in_order())
        if name == "final":
            output = output_markup(node.config.get("output"))
            if node.parent is not None and node.parent.kind == "parallel":
                return _final_region(made, self._chart.end_id(node), output)
            made.children += output
        for child in children(node):
            made.children.append(self.state(child))
        return made

    def _history(self, node: Node, attributes: dict[str, str]) -> Markup:
        attributes["type"] = "deep" if node.config.get("history") == "deep" else "shallow"
        targets = self._chart.names(self._chart.history_default(node))
        transition = Markup("transition", {"target": targets})
        return Markup("history", attributes | config(node.config), [transition])

    def _member(self, node: Node, parts: _Parts, member: str, value: Any) -> Any:
        """Write one member of a state's configuration; what of it stays in ``x:config``."""
        pointer = f"{node.pointer}/{member}"
        if member in ("entry", "exit"):
            block = Markup(f"on{member}")
            is_list = self._write_actions(block, value, pointer)
            parts.blocks += [block] if block.children else []
            return is_list
        if member == "context" and node.parent is None and is_data(value):
            return True
        if not can_be_left(node):
            return value
        if member == "states" and children(node):
            keys = list(value)  # elements stand in JavaScript's order, which the document may not have
            return True if keys == list(node.children) else keys
        if member == "initial" and node.kind == "compound":
            return self._initial(node, parts, value, pointer)
        if member in ("on", "after") and isinstance(value, Mapping):
            if member == "after":
                parts.helpers += self._timers(node, value)
            return {
                key: self._arrows(node, parts, member, key, item, pointer + token(key))
                for key, item in value.items()
            }
        if member == "always" or (member == "onDone" and node.parent is not None):
            return self._arrows(node, parts, member, "", value, pointer)
        if member == "invoke" and value is not None:
            return self._invokes(node, parts, value, pointer)
        return value

    def _write_actions(self, element: Markup, actions: Any, pointer: str) -> bool:
        """Write one action or many into ``element``; whether there was a list."""
        is_list = isinstance(actions, (list, tuple))
        for index, action in enumerate(listed(actions)):
            place = f"{pointer}/{index}" if is_list else pointer
            element.children += self._actions.markup(action, place)
        return is_list

    def _initial(self, node: Node, parts: _Parts, value: Any, pointer: str) -> Any:
        child = initial_child(node)
        if child is None:
            if not value:
                return value
            raise UsageError(f"{pointer}: {initial_key(node)!r} names no child of {node.id!r}")
        if not isinstance(value, Mapping) or "actions" not in value:
            parts.attributes["initial"] = self._chart.ids[child]
            return value
        transition = Markup("transition", {"target": self._chart.ids[child]})
        is_list = self._write_actions(transition, value["actions"], f"{pointer}/actions")
        parts.initial.append(Markup("initial", {}, [transition]))
        return {key: is_list if key == "actions" else item for key, item in value.items()}

    def _timers(self, node: Node, after: Mapping[str, Any]) -> list[Markup]:
        """SCXML has no ``after``: a delayed event is sent on entry and cancelled on exit."""
        if not after:
            return []
        start, stop = Markup("onentry", helper("after")), Markup("onexit", helper("after"))
        for name, key in {self._chart.after_event(node, key): key for key in after}.items():
            start.children.append(Markup("send", {"event": name, "id": name, **after_attributes(key)}))
            stop.children.append(Markup("cancel", {"sendid": name}))
        return [start, stop]

    # ---------------------------------------------------------- transitions

    def _arrows(self, node: Node, parts: _Parts, group: str, key: str, value: Any, pointer: str) -> Any:
        """Write the transitions of one event; their numbers, in the shape in which they were written."""
        if isinstance(value, (list, tuple)):
            return [
                self._arrow(node, parts, group, key, item, f"{pointer}/{index}")
                for index, item in enumerate(value)
            ]
        return self._arrow(node, parts, group, key, value, pointer)

    def _arrow(self, node: Node, parts: _Parts, group: str, key: str, value: Any, pointer: str) -> Any:
        if value is None:
            return None
        arrow = read_arrow(self._chart, node, group, key, value, pointer)
        self.arrows.append(arrow)
        number = len(self.arrows)
        attributes = move_attributes(self._chart, arrow.plain)
        cond = condition(self._chart, arrow.member("guard"))
        if cond is not None:
            attributes["cond"] = cond
        element = Markup("transition", attributes | {"x:n": str(number)})
        skeleton = value
        if isinstance(value, Mapping) and "actions" in value:
            is_list = self._write_actions(element, value["actions"], f"{pointer}/actions")
            skeleton = {name: is_list if name == "actions" else item for name, item in value.items()}
        element.attributes |= config(skeleton)
        parts.transitions.append((arrow, element))
        return number

    # -------------------------------------------------------------- invokes

    def _invokes(self, node: Node, parts: _Parts, value: Any, pointer: str) -> bool:
        is_list = isinstance(value, (list, tuple))
        for index, invoke in enumerate(invokes(node)):
            place = f"{pointer}/{index}" if is_list else pointer
            if not isinstance(invoke, Mapping):
                raise UsageError(f"{place}: an invoked actor is an object with `src`, not {invoke!r}")
            name = actor_id(node, index, invoke)
            skeleton = {
                member: self._arrows(node, parts, f"invoke.{member}", name, item, f"{place}/{member}")
                if member in HANDLERS
                else item
                for member, item in invoke.items()
            }
            attributes = {"type": ACTOR_TYPE, "id": self._chart.actor_ids[name]}
            src = invoke.get("src")
            if isinstance(src, str) and writable(src):
                attributes["src"] = src
            element = Markup("invoke", attributes | config(skeleton))
            given = invoke.get("input")
            if isinstance(given, Mapping) and not has_expression(given) and writable(*given):
                element.children += params(given)
            parts.invokes.append(element)
        return is_list


def _final_region(made: Markup, end: str, output: list[Markup]) -> Markup:
    """XState lets a region be final; in SCXML a region is a state, which may have a final child."""
    region = Markup("state", {**made.attributes, "initial": end, "x:kind": "final"}, made.children)
    region.children.append(Markup("final", {"id": end, **helper("end")}, output))
    return region


def is_data(context: Any) -> bool:
    """Whether a machine's context is an object of values, each of which becomes a ``data`` element."""
    return isinstance(context, Mapping) and "@expr" not in context


def output_markup(output: Any) -> list[Markup]:
    """``donedata`` for a constant output."""
    if output is None or has_expression(output):
        return []
    if isinstance(output, Mapping) and output and writable(*output):
        return [Markup("donedata", {}, params(output))]
    return [Markup("donedata", {}, [Markup("content", {"expr": write_value(output)})])]
