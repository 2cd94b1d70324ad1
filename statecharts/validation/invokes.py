"""Invoked actors: their shape, and ids that would collide while both run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from statecharts.values import UNDEFINED

from .codes import Code
from .expressions import check_values
from .keys import INVOKE, check_keys
from .outline import Node
from .report import Report, is_list, is_object, is_opaque
from .targets import can_coincide
from .transitions import TransitionReader, check_annotations

_HANDLERS = (
    ("onDone", "xstate.done.actor."),
    ("onError", "xstate.error.actor."),
    ("onSnapshot", "xstate.snapshot."),
)


@dataclass(frozen=True, slots=True)
class Use:
    """A name and the place that gives it: ``explicit`` when it is written there."""

    node: Node
    pointer: str


@dataclass(slots=True)
class InvokeReader:
    """Checks every ``invoke`` and remembers ids and system ids for :meth:`check_collisions`."""

    report: Report
    reader: TransitionReader
    ids: dict[str, list[Use]] = field(default_factory=dict)
    system_ids: dict[str, list[Use]] = field(default_factory=dict)

    def read_node(self, node: Node) -> list[str]:
        """The ids of the actors that ``node`` invokes, in order."""
        value = node.get("invoke")
        pointer = f"{node.pointer}/invoke"
        if value is UNDEFINED:
            return []
        if value is None:
            self.report.null_value(pointer, "invoke")
            return []
        if not is_list(value):
            return [self._read(node, value, pointer, 0)]
        return [self._read(node, item, f"{pointer}/{index}", index) for index, item in enumerate(value)]

    def _read(self, node: Node, value: Any, pointer: str, index: int) -> str:
        default = f"{index}.{node.id}"
        if isinstance(value, str):
            self.report.add(
                Code.BARE_INVOKE,
                pointer,
                f'An invoked actor is an object; the name "{value}" alone starts nothing.',
                f'Write `{{"src": "{value}"}}`.',
            )
            return default
        if value is None:
            self.report.null_value(pointer, "invoke", "Remove it.")
            return default
        if not is_object(value):
            self.report.wrong_type(pointer, "invoke", value, "an object with `src`, or a list of those")
            return default
        check_keys(self.report, INVOKE, value, pointer)
        check_annotations(self.report, value, pointer)
        self._check_src(value, pointer)
        check_values(self.report, value.get("input", UNDEFINED), f"{pointer}/input")
        actor_id = self._name(value, "id", pointer) or default
        explicit = actor_id if value.get("id") == actor_id else None
        self.ids.setdefault(actor_id, []).append(Use(node, f"{pointer}/id" if explicit else pointer))
        system_id = self._name(value, "systemId", pointer)
        if system_id:
            self.system_ids.setdefault(system_id, []).append(Use(node, f"{pointer}/systemId"))
        for key, prefix in _HANDLERS:
            self.reader.read_handler(node, value, key, pointer, prefix + actor_id)
        return actor_id

    def _check_src(self, value: Mapping[Any, Any], pointer: str) -> None:
        src = value.get("src", UNDEFINED)
        place = f"{pointer}/src"
        if src is UNDEFINED:
            self.report.add(
                Code.MISSING_MEMBER,
                pointer,
                "This invoked actor has no `src`, so nothing can run.",
                'Write `{"src": "name"}`.',
            )
        elif src == "":
            self.report.add(Code.EMPTY_NAME, place, "`src` is empty.", "Name the actor to run.")
        elif is_object(src) and isinstance(src.get("type"), str):
            self.report.add(
                Code.V4_LEFTOVER,
                place,
                "`src` as an object with `type` is XState 4; version 5 takes a name.",
                f'Write `"src": "{src["type"]}"` and move the rest to `input`. `statecharts upgrade` does this for you.',
            )
        elif src is None:
            self.report.null_value(place, "src", "Name the actor to run.")
        elif not isinstance(src, str) and not is_opaque(src):
            self.report.wrong_type(
                place, "src", src, "the name of an actor", "A machine to invoke is bound by name too."
            )

    def _name(self, value: Mapping[Any, Any], key: str, pointer: str) -> str | None:
        name = value.get(key, UNDEFINED)
        place = f"{pointer}/{key}"
        if name is UNDEFINED:
            return None
        if name is None:
            self.report.null_ignored(place, key)
        elif name == "":
            self.report.add(Code.EMPTY_NAME, place, f"`{key}` is empty.", "Name it or leave it out.")
        elif not isinstance(name, str):
            self.report.wrong_type(place, key, name, "a string")
        else:
            return name
        return None

    def check_collisions(self) -> None:
        """Report ids that two actors have while both can run."""
        for code, table, word in (
            (Code.DUPLICATE_INVOKE_ID, self.ids, "id"),
            (Code.DUPLICATE_SYSTEM_ID, self.system_ids, "systemId"),
        ):
            for name, uses in table.items():
                self._check_uses(code, name, uses, word)

    def _check_uses(self, code: Code, name: str, uses: list[Use], word: str) -> None:
        ordered = sorted(uses, key=lambda use: use.node.order)
        for first, second in pairwise(ordered):
            # neighbours in document order meet wherever any two of the uses meet
            if can_coincide(first.node, second.node):
                self.report.add(
                    code,
                    second.pointer,
                    f'Two actors called "{name}" can run at the same time; the other is at {first.pointer}.',
                    f"Give each its own `{word}`.",
                )
