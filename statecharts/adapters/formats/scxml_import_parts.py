"""Transitions and invocations of an exported XState machine, read again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ...errors import UsageError
from ...validation.outline import Node
from ...validation.report import token
from ...validation.targets import UnknownTarget, reference
from .scxml_chart import Chart, Plain, actor_id, can_be_left
from .scxml_codes import ScxmlCode
from .scxml_export_states import HANDLERS, event_of
from .scxml_import_actions import ActionReader, config_of, constant, extension
from .scxml_markup import own, writable
from .scxml_reading import Reading
from .scxml_xml import Element

Json = dict[str, Any]
_GONE: Final = object()
"""Stands for a part whose elements have been removed from the text."""

_HANDLER_EVENTS: Final = (
    ("done.invoke.", "onDone"),
    ("error.platform.", "onError"),
    ("xstate.snapshot.", "onSnapshot"),
)


@dataclass(slots=True)
class _Slot:
    """The transitions of one event: position in the text, element, or what stood there in its place."""

    is_list: bool = False
    items: list[tuple[int, Element | None, Any]] = field(default_factory=list)

    def add(self, position: int, element: Element) -> None:
        """One more, at its place in the text."""
        self.items.append((position, element, None))
        self.items.sort(key=lambda item: item[0])
        self.is_list = self.is_list or len(self.items) > 1


class _Transitions:
    """The transition elements of one state, and which of them have found their place."""

    def __init__(self, reading: Reading, element: Element) -> None:
        self.all = [
            (position, child)
            for position, child in enumerate(reading.named(element, "transition"))
            if own(child, "helper") is None
        ]
        self.timer_events = {
            send.attributes.get("event")
            for block in reading.named(element, "onentry")
            if own(block, "helper") == "after"
            for send in reading.named(block, "send")
        }
        self._numbered: dict[str, tuple[int, Element]] = {}
        for position, child in self.all:
            number = own(child, "n")
            if number is not None:
                self._numbered.setdefault(number, (position, child))
        self._taken: set[int] = set()

    def get(self, number: int) -> tuple[int, Element] | None:
        """The transition with this ``x:n``."""
        return self._numbered.get(str(number))

    def take(self, position: int) -> None:
        """It has found its place."""
        self._taken.add(position)

    def left(self) -> Iterator[tuple[int, Element]]:
        """Those that are new, or wait for another event than before."""
        return ((position, child) for position, child in self.all if position not in self._taken)


class PartReader:
    """Reads what is inside states. ``chart`` has the ids that the text gives."""

    def __init__(self, reading: Reading, chart: Chart) -> None:
        self._reading = reading
        self._chart = chart
        self._by_id = {name: node for node, name in chart.ids.items()}
        self._actions = ActionReader(reading, chart)

    def fill(self, element: Element, node: Node, config: Json, pointer: str) -> Json:
        """``config`` of a state with numbers and truth values replaced by what they stand for."""
        made: Json = {}
        transitions = _Transitions(self._reading, element)
        for name in ("invoke",) if self._reading.named(element, "invoke") else ():
            config.setdefault(name, True)
        for member in ("entry", "exit"):
            if self._block(element, member):
                config.setdefault(member, True)
        for member, value in config.items():
            filled = self._member(element, transitions, node, member, value, pointer)
            if filled is not _GONE:
                made[member] = filled
        if can_be_left(node):
            for position, child in transitions.left():
                self._place(node, made, position, child)
            self._finish(node, made, pointer)
        return made

    def _member(
        self, element: Element, transitions: _Transitions, node: Node, member: str, value: Any, pointer: str
    ) -> Any:
        if member in ("entry", "exit"):
            return self._action_list(self._block(element, member), value is True, f"{pointer}/{member}")
        if not can_be_left(node):
            return value
        if member == "initial" and node.kind == "compound":
            return self._initial(element, value, f"{pointer}/initial")
        if member in ("on", "after") and isinstance(value, dict):
            slots = {key: self._slot(transitions, node, member, key, item) for key, item in value.items()}
            kept = {key: slot for key, slot in slots.items() if slot is not _GONE}
            return _GONE if value and not kept else kept
        if member == "always" or (member == "onDone" and node.parent is not None):
            return self._slot(transitions, node, member, "", value)
        if member == "invoke" and isinstance(value, bool):
            return self._invokes(element, transitions, node, value, f"{pointer}/invoke")
        return value

    # ---------------------------------------------------------------- actions

    def _block(self, element: Element, member: str) -> list[Element]:
        return [
            action
            for block in self._reading.named(element, f"on{member}")
            if own(block, "helper") is None
            for action in self._actions.elements(block)
        ]

    def _action_list(self, elements: list[Element], is_list: bool, pointer: str) -> Any:
        if not elements and not is_list:
            return _GONE
        return self._actions.read(elements, is_list, pointer)

    def _initial(self, element: Element, value: Any, pointer: str) -> Any:
        inside = [
            action
            for initial in self._reading.named(element, "initial")
            for transition in self._reading.named(initial, "transition")
            for action in self._actions.elements(transition)
        ]
        if not isinstance(value, dict):
            if not inside:
                return value
            value = {"target": value, "actions": True}
        elif inside:
            value = {**value, "actions": value.get("actions", True)}
        made: Json = {}
        for member, item in value.items():
            filled = item
            if member == "actions":
                filled = self._action_list(inside, item is True, f"{pointer}/actions")
            if filled is not _GONE:
                made[member] = filled
        return made

    # ------------------------------------------------------------------ slots

    def _slot(self, transitions: _Transitions, node: Node, group: str, key: str, value: Any) -> Any:
        """What ``x:config`` says about one event, with elements for numbers; ``_GONE`` if none is left."""
        slot = _Slot(isinstance(value, list))
        wanted = value if isinstance(value, list) else [value]
        position = -1
        for item in wanted:
            if type(item) is not int:
                slot.items.append((position, None, item))
                continue
            found = transitions.get(item)
            if found is not None and self._waits_for(transitions, node, group, key, found[1]):
                position = found[0]
                transitions.take(position)
                slot.items.append((*found, None))
        return slot if slot.items or not wanted else _GONE

    def _waits_for(
        self, transitions: _Transitions, node: Node, group: str, key: str, element: Element
    ) -> bool:
        """Whether the event is still the one it was exported with."""
        event = element.attributes.get("event")
        if group == "after":
            return event in transitions.timer_events
        return event == event_of(self._chart, node, group, key)

    def _place(self, node: Node, made: Json, position: int, element: Element) -> None:
        """Find a place for a transition that is new, or whose event has changed."""
        descriptors = element.attributes.get("event", "").split()
        if not descriptors:
            _slot_in(made, "always").add(position, element)
        for descriptor in descriptors:
            self._slot_for(node, made, descriptor).add(position, element)

    def _slot_for(self, node: Node, made: Json, descriptor: str) -> _Slot:
        if node.parent is not None and descriptor == self._chart.done_event(node):
            return _slot_in(made, "onDone")
        for prefix, handler in _HANDLER_EVENTS:
            for index, invoke in enumerate(_invoked(made)):
                if descriptor == prefix + self._chart.actor_ids[actor_id(node, index, invoke)]:
                    return _slot_in(invoke, handler)
        name = self._actions.event_type(descriptor)
        if not isinstance(made.get("on"), dict):
            made["on"] = {}
        return _slot_in(made["on"], f"{name}*" if name.endswith(".") else name)

    def _finish(self, node: Node, made: Json, pointer: str) -> None:
        """Turn slots into transitions, now that every one has its pointer."""
        self._finish_in(node, made, pointer)
        for group in ("on", "after"):
            if isinstance(made.get(group), dict):
                self._finish_in(node, made[group], f"{pointer}/{group}")
        is_list = isinstance(made.get("invoke"), list)
        for index, invoke in enumerate(_invoked(made)):
            self._finish_in(node, invoke, f"{pointer}/invoke/{index}" if is_list else f"{pointer}/invoke")

    def _finish_in(self, node: Node, holder: Json, pointer: str) -> None:
        for key, slot in holder.items():
            if not isinstance(slot, _Slot):
                continue
            place = pointer + token(key)
            if slot.is_list:
                holder[key] = [
                    value if element is None else self._transition(node, element, f"{place}/{index}")
                    for index, (_, element, value) in enumerate(slot.items)
                ]
            else:
                _, element, value = slot.items[0]
                holder[key] = value if element is None else self._transition(node, element, place)

    # ------------------------------------------------------------ transitions

    def _transition(self, node: Node, element: Element, pointer: str) -> Any:
        self._reading.lines[pointer] = element.line
        written = config_of(self._reading, element, pointer)
        is_new = written is None
        made: Json = {**written} if isinstance(written, dict) else {}
        if isinstance(written, str):
            made["target"] = written
        self._retarget(node, element, made, pointer)
        guard = self._actions.guard(element, pointer) if is_new else None
        if guard is not None:
            made["guard"] = guard
        actions = self._actions.elements(element)
        if actions or "actions" in made:
            read = self._action_list(actions, made.get("actions", True) is True, f"{pointer}/actions")
            made["actions"] = read
            if read is _GONE:
                del made["actions"]
        if isinstance(written, str) and list(made) == ["target"] and isinstance(made["target"], str):
            return made["target"]
        return made

    def _retarget(self, node: Node, element: Element, made: Json, pointer: str) -> None:
        """Plain SCXML counts: the target as written stays only if it still means the same."""
        given = element.attributes.get("target")
        ids = None if given is None else given.split()
        is_internal = element.attributes.get("type") == "internal"
        expected = self._expected(node, made, pointer)
        if expected is not None:
            same = None if expected.targets is None else [self._chart.ids[each] for each in expected.targets]
            if same == ids and expected.is_internal == is_internal:
                return
        if ids is None:
            made.pop("target", None)
            return
        nodes = [self._by_id[name] for name in ids if name in self._by_id]
        if len(nodes) < len(ids):
            message = f"{given!r} is a helper for other engines; an XState machine has no such state."
            self._reading.report(
                ScxmlCode.NOT_XSTATE, element, pointer, message, "Name a state of the machine."
            )
        written = [reference(self._chart.outline, each) for each in nodes]
        made["target"] = written[0] if len(written) == 1 else written
        is_below = all(node in each.ancestors() for each in nodes)
        if is_internal and node.kind == "compound" and is_below:
            made.pop("reenter", None)
        elif all(each is node or node in each.ancestors() for each in nodes):
            made["reenter"] = True  # SCXML's external transition, where XState's would stay inside

    def _expected(self, node: Node, made: Json, pointer: str) -> Plain | None:
        """What the exporter would write for the transition as it was; None when it could not."""
        try:
            targets = self._chart.resolve(node, made.get("target"), pointer)
        except (UnknownTarget, UsageError):
            return None
        if any(target not in self._chart.ids for target in targets or ()):
            return None
        return self._chart.plain_move(node, targets, bool(made.get("reenter")))

    # ---------------------------------------------------------------- invokes

    def _invokes(
        self, element: Element, transitions: _Transitions, node: Node, is_list: bool, pointer: str
    ) -> Any:
        elements = self._reading.named(element, "invoke")
        is_single = not is_list and len(elements) == 1
        made = [
            self._invoke(each, transitions, node, index, pointer if is_single else f"{pointer}/{index}")
            for index, each in enumerate(elements)
        ]
        if is_single:
            return made[0]
        return made if made or is_list else _GONE

    def _invoke(
        self, element: Element, transitions: _Transitions, node: Node, index: int, pointer: str
    ) -> Json:
        self._reading.lines[pointer] = element.line
        config = extension(self._reading, element, pointer)
        if own(element, "config") is None:
            config |= self._input(element, pointer)
        given = element.attributes.get("id")
        if given is not None and self._chart.actor_ids.get(actor_id(node, index, config)) != given:
            config["id"] = given
        src, old = element.attributes.get("src"), config.get("src")
        if src is not None and src != old:
            config["src"] = src
        elif src is None and isinstance(old, str) and writable(old):
            del config["src"]
        actor = actor_id(node, index, config)
        self._chart.actor_ids.setdefault(actor, actor)
        made: Json = {}
        for member, value in config.items():
            filled = value
            if member in HANDLERS:
                filled = self._slot(transitions, node, f"invoke.{member}", actor, value)
            if filled is not _GONE:
                made[member] = filled
        return made

    def _input(self, element: Element, pointer: str) -> Json:
        """The input of an invoke that another tool has added."""
        made: Json = {}
        for param in self._reading.named(element, "param"):
            text = param.attributes.get("expr")
            value = None if text is None else constant(self._reading, param, text, f"{pointer}/input")
            made[param.attributes.get("name", "")] = value
        return {"input": made} if made else {}


def _invoked(made: Json) -> list[Json]:
    value = made.get("invoke")
    listed = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, dict)]


def _slot_in(holder: Json, key: str) -> _Slot:
    """The slot at ``key``, made when there is none."""
    slot = holder.get(key)
    if not isinstance(slot, _Slot):
        slot = holder[key] = _Slot()
    return slot
