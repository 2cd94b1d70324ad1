"""Transitions under ``on``, ``always``, ``after``, ``onDone``, ``invoke`` and ``route``.

Reading checks the shapes and leaves behind a flat list of
:class:`Transition` for the checks that look at several of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from statecharts.values import UNDEFINED

from .actions import action_list, check_actions
from .codes import Code
from .delays import check_after_key
from .descriptors import check_descriptor
from .guards import check_guard
from .keys import INITIAL, ROUTE, TRANSITION, check_keys
from .outline import Node, Outline
from .report import Report, is_list, is_object, token
from .targets import TargetChecker, clash

_SHAPES = "a target, an object, or a list of those"


@dataclass(slots=True, eq=False)
class Transition:
    """One transition as checked: ``targets`` is None when it has none, and excludes those that name nothing."""

    node: Node
    group: str
    event: str
    pointer: str
    list_pointer: str
    index: int
    guarded: bool
    reenter: bool
    targets: list[Node] | None
    broken: bool = False
    actions: list[object] = field(default_factory=list)


@dataclass(slots=True)
class TransitionReader:
    """Reads every transition of a document; ``found`` collects them in document order."""

    report: Report
    outline: Outline
    targets: TargetChecker
    implementations_known: bool
    found: list[Transition] = field(default_factory=list)

    def read_node(self, node: Node) -> None:
        """All transitions of ``node`` itself except those of its invoked actors."""
        self._read_on(node)
        self._read_after(node)
        for key in ("always", "onDone"):
            self.read_handler(node, node.config, key, node.pointer, "" if key == "always" else key)

    def read_handler(self, node: Node, holder: Any, key: str, pointer: str, event: str) -> None:
        """The transitions under ``key`` of ``holder``, where a false value means none."""
        value = holder.get(key, UNDEFINED)
        place = f"{pointer}/{key}"
        if value is UNDEFINED:
            return
        if value is None:
            self.report.null_ignored(place, key)
        else:
            self._read_many(node, value, place, key, event)

    def _read_on(self, node: Node) -> None:
        handlers = node.get("on")
        pointer = f"{node.pointer}/on"
        if handlers is UNDEFINED:
            return
        if handlers is None:
            self.report.null_ignored(pointer, "on")
        elif not is_object(handlers):
            hint = 'Version 5 keys the transitions by event: `{"EVENT": …}`.' if is_list(handlers) else None
            self.report.wrong_type(pointer, "on", handlers, "an object whose keys are event names", hint)
        else:
            for name, value in handlers.items():
                if not isinstance(name, str):
                    self.report.bad_key(pointer, name)
                    continue
                place = pointer + token(name)
                check_descriptor(self.report, self.outline, node, name, place)
                if value is None:
                    self.report.null_value(
                        place,
                        name,
                        "Write `{}` to forbid the event here, or leave the key out to ask the parent.",
                    )
                elif value is not UNDEFINED:
                    self._read_many(node, value, place, "on", name)

    def _read_after(self, node: Node) -> None:
        delayed = node.get("after")
        pointer = f"{node.pointer}/after"
        if delayed is UNDEFINED:
            return
        if delayed is None:
            self.report.null_ignored(pointer, "after")
        elif not is_object(delayed):
            hint = 'Version 5 keys the transitions by delay: `{"1000": …}`.' if is_list(delayed) else None
            self.report.wrong_type(pointer, "after", delayed, "an object whose keys are delays", hint)
        else:
            for name, value in delayed.items():
                if not isinstance(name, str):
                    self.report.bad_key(pointer, name)
                    continue
                place = pointer + token(name)
                check_after_key(self.report, name, place, self.implementations_known)
                if value is None:
                    self.report.null_ignored(place, name)
                elif value is not UNDEFINED:
                    self._read_many(node, value, place, "after", name)

    def _read_many(self, node: Node, value: Any, pointer: str, group: str, event: str) -> None:
        if not is_list(value):
            self._read_one(node, value, pointer, pointer, 0, group, event)
            return
        for index, item in enumerate(value):
            place = f"{pointer}/{index}"
            if item is None:
                self.report.null_value(place, group, "Remove it from the list.")
            elif group == "after" and isinstance(item, str):
                self.report.wrong_type(
                    place, group, item, "an object inside a list: XState drops the target of a bare string here",
                    f'Write `{{"target": "{item}"}}`.',
                )  # fmt: skip
            elif item is not UNDEFINED:
                self._read_one(node, item, place, pointer, index, group, event)

    def _read_one(
        self, node: Node, value: Any, pointer: str, list_pointer: str, index: int, group: str, event: str
    ) -> None:
        made = Transition(node, group, event, pointer, list_pointer, index, False, False, None)
        if isinstance(value, str):
            self._read_targets(made, value, pointer)
        elif is_object(value):
            check_keys(self.report, TRANSITION, value, pointer)
            self._read_members(made, value, pointer)
        else:
            self.report.wrong_type(pointer, group, value, _SHAPES)
            return
        self.found.append(made)

    def _read_members(self, made: Transition, value: Any, pointer: str) -> None:
        target = value.get("target", UNDEFINED)
        if target is not UNDEFINED:
            self._read_targets(made, target, f"{pointer}/target")
        made.guarded = self._read_guard(value, pointer, eventless=made.group == "always")
        check_actions(self.report, value.get("actions", UNDEFINED), f"{pointer}/actions", "actions")
        made.actions = action_list(value.get("actions", UNDEFINED))
        made.reenter = _read_reenter(self.report, value, pointer)
        check_annotations(self.report, value, pointer)

    def _read_guard(self, value: Any, pointer: str, eventless: bool) -> bool:
        guard = value.get("guard", UNDEFINED)
        if guard is UNDEFINED:
            # version 4's guards have been reported; they still mean that the transition may not be taken
            return "cond" in value or "in" in value
        if guard is None and not eventless:
            self.report.null_ignored(f"{pointer}/guard", "guard")
            return False
        check_guard(self.report, self.outline, guard, f"{pointer}/guard")
        return True

    def _read_targets(self, made: Transition, target: Any, pointer: str) -> None:
        if target == "":
            return
        if target is None:
            self.report.null_value(
                pointer, "target", "Leave `target` out for a transition that stays where it is."
            )
            made.broken = True
            return
        if not isinstance(target, str) and not is_list(target):
            self.report.wrong_type(pointer, "target", target, "the name of a state, or a list of names")
            made.broken = True
            return
        listed = [(target, pointer)] if isinstance(target, str) else list(_numbered(target, pointer))
        made.targets = []
        for text, place in listed:
            node = self._read_target(made.node, text, place)
            if node is None:
                made.broken = True
            else:
                made.targets.append(node)
        self._check_together(made.targets, pointer)

    def _read_target(self, source: Node, text: Any, pointer: str) -> Node | None:
        if isinstance(text, str) and text:
            return self.targets.check(source, text, pointer)
        if text is None:
            self.report.null_value(pointer, "target", "Remove it from the list.")
        elif text == "":
            self.report.add(
                Code.EMPTY_NAME, pointer, "A target in a list is empty.", "Remove it from the list."
            )
        else:
            self.report.wrong_type(pointer, "target", text, "the name of a state")
        return None

    def _check_together(self, nodes: list[Node], pointer: str) -> None:
        pair = clash(nodes) if len(nodes) > 1 else None
        if pair is not None:
            self.report.add(
                Code.ILLEGAL_TARGETS,
                pointer,
                f'"{pair[0].id}" and "{pair[1].id}" cannot both be entered: they are not in different regions '
                "of one parallel state.",
                "Keep one target per region.",
            )

    def read_route(self, node: Node) -> None:
        """The ``route`` of ``node``."""
        route = node.get("route")
        pointer = f"{node.pointer}/route"
        if route is UNDEFINED:
            return
        if route is None:
            self.report.null_ignored(pointer, "route")
            return
        if not is_object(route):
            self.report.wrong_type(pointer, "route", route, "an object, such as `{}`")
            return
        check_keys(self.report, ROUTE, route, pointer)
        self._read_guard(route, pointer, eventless=False)
        check_actions(self.report, route.get("actions", UNDEFINED), f"{pointer}/actions", "actions")
        _read_reenter(self.report, route, pointer)
        check_annotations(self.report, route, pointer)
        if node.parent is None or node.get("id") is UNDEFINED:
            why = (
                "the machine itself cannot be routed to"
                if node.parent is None
                else "a routed state needs an `id` of its own"
            )
            self.report.add(
                Code.ROUTE_IGNORED, pointer, f"This route is ignored: {why}.", "Give the state an `id`."
            )

    def read_initial_object(self, node: Node, initial: Any, pointer: str) -> None:
        """Everything of an ``initial`` object but its target."""
        check_keys(self.report, INITIAL, initial, pointer)
        check_actions(self.report, initial.get("actions", UNDEFINED), f"{pointer}/actions", "actions")
        check_annotations(self.report, initial, pointer)


def _numbered(target: Any, pointer: str) -> list[tuple[Any, str]]:
    return [(text, f"{pointer}/{index}") for index, text in enumerate(target)]


def _read_reenter(report: Report, value: Any, pointer: str) -> bool:
    reenter = value.get("reenter", UNDEFINED)
    if reenter is None:
        report.null_ignored(f"{pointer}/reenter", "reenter")
    elif reenter is not UNDEFINED and not isinstance(reenter, bool):
        report.wrong_type(f"{pointer}/reenter", "reenter", reenter, "true or false")
    return reenter is True


def check_annotations(report: Report, value: Any, pointer: str) -> None:
    """``description`` is text; it has no effect, so anything else only warns."""
    for key in ("description", "version"):
        text = value.get(key, UNDEFINED)
        if text is not UNDEFINED and text is not None and not isinstance(text, str):
            report.add(
                Code.WRONG_ANNOTATION,
                f"{pointer}/{key}",
                f"`{key}` is not a string; it has no effect.",
                "Write it as text.",
            )
