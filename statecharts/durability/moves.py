"""A state made to fit another definition of its machine, without entering or leaving anything.

Everything in the state that names something of the old definition is renamed
by the plan, and has to exist in the new one. What has not becomes a problem;
there is no move with problems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..interpreter.program import program_of
from ..machine import Machine
from ..nodes import StateNode
from ..values import js_number, thaw


@dataclass(frozen=True, slots=True)
class MovePlan:
    """What of the old definition is what in the new one. What is not named keeps its name.

    ``states``: ids (with or without the machine's) of old states to new ones; what
    is below an old one follows it. ``added``: new leaves, for regions that the old
    definition had not. ``invokes``: ids of invokes. ``sources``: names of actors
    and actions. ``context``: ``(old context) -> new context``, plain JSON both.
    ``arm_timers``: an ``after`` that a state had not before begins to run now.
    ``doubtful``: also instances with effects that are RUNNING or UNKNOWN.
    """

    states: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    invokes: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    context: Callable[[Any], Any] | None = None
    arm_timers: bool = False
    doubtful: bool = False


class Mover:
    """Moves one state; ``problems`` says what does not fit, each with its place in the state."""

    def __init__(self, machine: Machine[Any, Any], plan: MovePlan, now: int) -> None:
        self._machine = machine
        self._program = program_of(machine)
        self._by_id = machine.definition.by_id
        self._plan = plan
        self._now = now
        self._states = {self._full(old): self._full(new) for old, new in plan.states.items()}
        self.problems: list[str] = []

    def _full(self, state: str) -> str:
        root = self._machine.id
        return state if state == root or state in self._by_id or state.startswith(f"{root}.") else f"{root}.{state}"

    def moved(self, sealed: dict[str, Any], identity: dict[str, Any], leaves: list[str]) -> dict[str, Any]:
        """``sealed`` under the new definition, whose identity is given. ``leaves`` are ids of its active leaves.

        Worth something only without problems.
        """
        snapshot = sealed["snapshot"]
        active = self._active(leaves)
        order = [self.renamed(state) for state in (sealed["actors"][0].get("order") or ())]
        rest = {key: value for key, value in sealed.items() if key not in identity}
        made = {**identity, **rest}
        made["snapshot"] = {**snapshot, "value": self._value(active), "historyValue": self._history(snapshot)}
        if self._plan.context is not None:
            made["snapshot"]["context"] = self._plan.context(snapshot.get("context"))
        made["snapshot"]["children"] = self._children(snapshot.get("children", {}), active)
        made["actors"] = [self._actor(actor, order, active) for actor in sealed["actors"]]
        made["timers"] = self._timers(sealed, active)
        if self._plan.arm_timers:
            made["next"] = {**made["next"], "timer": made["next"]["timer"] + len(made["timers"]) - len(sealed["timers"])}
        return made

    # ------------------------------------------------------------------ states

    def renamed(self, state: str) -> str:
        """The new id of an old state."""
        prefix = state
        while prefix:
            if prefix in self._states:
                return self._states[prefix] + state[len(prefix) :]
            prefix, _, _ = prefix.rpartition(".")
        return state

    def _active(self, old_ids: list[str]) -> list[StateNode]:
        """The new configuration: the leaves, and what is around them."""
        found: dict[int, StateNode] = {}
        for old in [*old_ids, *self._plan.added]:
            new = self.renamed(old) if old in old_ids else self._full(old)
            node = self._by_id.get(new)
            if node is None:
                self.problems.append(f"/snapshot/value: state {old!r} is {new!r} now, which does not exist; map it in `states`")
            elif not node.is_leaf:
                self.problems.append(f"/snapshot/value: {new!r} has states inside now; map {old!r} to one of them")
            else:
                for one in (node, *node.proper_ancestors()):
                    found[one.index] = one
        active = [found[index] for index in sorted(found)]
        for node in active:
            self._check(node, found)
        return active

    def _check(self, node: StateNode, found: dict[int, StateNode]) -> None:
        inside = [child for child in node.children.values() if child.index in found]
        if node.type == "parallel":
            for child in node.real_children():
                if child.index not in found:
                    self.problems.append(f"/snapshot/value: region {child.id!r} is new; name the leaf it begins with in `added`")
        elif not node.is_leaf and len(inside) != 1:
            self.problems.append(f"/snapshot/value: {len(inside)} states of {node.id!r} would be active: {', '.join(c.id for c in inside)}")

    def _value(self, active: list[StateNode]) -> Any:
        if self.problems or not active:
            return None
        return thaw(self._program.intern(tuple(active)).value)

    def _history(self, snapshot: dict[str, Any]) -> dict[str, Any]:
        made = {}
        for key, states in snapshot.get("historyValue", {}).items():
            new_key = self.renamed(key)
            if new_key not in self._by_id:
                self.problems.append(f"/snapshot/historyValue: history state {key!r} is {new_key!r} now, which does not exist")
            members = []
            for state in states:
                new = self.renamed(state["id"])
                if new not in self._by_id:
                    self.problems.append(f"/snapshot/historyValue/{key}: state {state['id']!r} is {new!r} now, which does not exist")
                members.append({"id": new})
            made[new_key] = members
        return made

    # ---------------------------------------------------------------- children

    def _child_name(self, name: str) -> str:
        if name in self._plan.invokes:
            return self._plan.invokes[name]
        number, dot, state = name.partition(".")
        return f"{number}.{self.renamed(state)}" if dot and number.isdecimal() else name  # an invoke without an id

    def _children(self, children: dict[str, Any], active: list[StateNode]) -> dict[str, Any]:
        invokes = {invoke.id: invoke for node in active for invoke in node.invokes}
        made = {}
        for name, child in children.items():
            new = self._child_name(name)
            src = self._plan.sources.get(child["src"], child["src"])
            invoke = invokes.pop(new, None)
            known = src in self._machine.implementations.actors
            if invoke is None and any(new == one.id for node in self._machine.definition.nodes for one in node.invokes):
                self.problems.append(f"/snapshot/children/{name}: invoke {new!r} belongs to a state that would not be active")
            elif (invoke is not None and invoke.src != src) or not known:
                self.problems.append(f"/snapshot/children/{name}: its source {child['src']!r} is not that of the new definition; map it in `sources`")
            made[new] = {**child, "src": src}
        for name in invokes:
            self.problems.append(f"/snapshot/children: the new definition invokes {name!r} there, and a migration starts nothing; map to another state")
        return made

    def _actor(self, actor: dict[str, Any], order: list[str], active: list[StateNode]) -> dict[str, Any]:
        path = actor["path"]
        if path:
            return {**actor, "path": [self._child_name(path[0]), *path[1:]]}
        if not order:
            return actor
        ids = {node.id for node in active}
        kept = [state for state in order if state in ids]
        return {**actor, "order": [*kept, *(node.id for node in active if node.id not in kept)]}

    # ------------------------------------------------------------------ timers

    def _timers(self, sealed: dict[str, Any], active: list[StateNode]) -> list[dict[str, Any]]:
        wanted = {event.event_type: event for node in active for event in node.delayed}
        made = [self._timer(timer, wanted) for timer in sealed["timers"]]
        handle = sealed["next"]["timer"]
        for event_type, event in wanted.items():
            if not self._plan.arm_timers or not isinstance(event.delay, (int, float)):
                shown = event.delay if isinstance(event.delay, str) else js_number(event.delay)
                self.problems.append(f"/timers: `after` {shown} ({event_type}) does not run yet; say arm_timers, or map to another state")
                continue
            due = self._now + event.delay
            body = {"handle": handle, "source": 0, "target": 0, "event": {"type": event_type}, "id": event_type}
            made.append({**body, "delay": event.delay, "due": due})
            handle += 1
        return made

    def _timer(self, timer: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
        kind = timer["event"].get("type")
        if timer["source"] != 0 or not isinstance(kind, str) or not kind.startswith("xstate.after."):
            return timer
        delay, _, state = _split_after(kind, self._machine.id)
        new = f"xstate.after.{delay}.{self.renamed(state)}"
        if wanted.pop(new, None) is None:
            self.problems.append(f"/timers: {kind!r} runs, and no active state of the new definition has {new!r}")
        return {**timer, "event": {**timer["event"], "type": new}, "id": new if timer["id"] == kind else timer["id"]}


def _split_after(kind: str, machine: str) -> tuple[str, str, str]:
    """The delay and the state in the name of an ``after`` event."""
    rest = kind.removeprefix("xstate.after.")
    at = rest.find(f".{machine}")
    return (rest, "", "") if at < 0 else (rest[:at], ".", rest[at + 1 :])
