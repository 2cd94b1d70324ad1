"""Instances moved to another definition of their machine: one by one, each a version in its log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import SnapshotError, UnknownInstance, UsageError
from ..interpreter.envelope import identity
from ..json_text import dumps, loads
from .commits import Commit, Job, Loaded
from .controls import Order
from .decisions import Decider
from .definitions import Hosted
from .effects import named, owner_of
from .moves import MovePlan, Mover
from .payloads import checked_text
from .rows import ACTIVE, PENDING, DefinitionRow, EffectRow, Instance
from .stepping import Held, resumed
from .turns import Cause, Turn


@dataclass(frozen=True, slots=True)
class Move:
    """What a migration has decided about an instance: ``problems`` say why it cannot be moved."""

    instance: str
    problems: tuple[str, ...]
    states: tuple[str, ...] = ()


class Migration:
    """Moves instances of ``source`` (a stored definition) to ``target``, which this process can run.

    It runs no action, keeps ids, keys and what is known of events, and renames
    open effects. An instance that does not fit is left as it is. Killed half
    way, it is simply begun again: what has been moved is not of ``source`` any more.
    """

    def __init__(self, decider: Decider, source: DefinitionRow, target: Hosted, plan: MovePlan) -> None:
        if source.machine != target.machine.id:
            raise UsageError(f"instances of {source.machine!r} cannot become {target.machine.id!r}; a migration is between versions of one machine")
        if source.hash == target.hash:
            raise UsageError(f"both definitions of {source.machine!r} are the same ({source.hash[:12]}…)")
        self._decider = decider
        self._source = source
        self._target = target
        self._plan = plan
        self._changed_children = _changed_children(source.text, target.text)

    def job(self, namespace: str, instance: str, order: Order, *, dry_run: bool = False) -> Job:
        """A job that moves one instance (or only looks). Its answer is a :class:`Move`."""
        return Job(namespace, instance, lambda loaded: self._decide(loaded, instance, order, dry_run), needs_effects=True)

    def _decide(self, loaded: Loaded, name: str, order: Order, dry_run: bool) -> Commit:
        instance = loaded.instance
        if instance is None:
            raise UnknownInstance(f"there is no instance {name!r}")
        if instance.definition != self._source.hash:
            return Commit(Move(name, (f"its definition is {instance.definition[:12]}…, not {self._source.hash[:12]}…",)))
        problems = self._of_the_instance(instance, loaded.effects)
        assert instance.state is not None
        sealed = loads(instance.state)
        mover = Mover(self._target.machine, self._plan, loaded.now)
        leaves = loads(instance.configuration)
        moved = mover.moved(sealed, identity(self._target.machine), leaves)
        problems += mover.problems
        effects = [self._effect(row, problems) for row in loaded.effects]
        held = None if problems else self._held(moved, problems)
        if held is None or dry_run:
            states = () if held is None else held.states
            return Commit(Move(name, tuple(problems), states))
        turn = Turn(loaded, instance, self._target, self._as_it_was(held, sealed, instance), self._decider.limits, self._decider.entropy.salt)
        turn.change(definition=self._target.hash)
        delivery = {"migrate": {"from": self._source.hash, "to": self._target.hash}}
        turn.take(Cause("migrate", order.id, delivery, None, order.actor, order.reason), (held, ()))
        turn.commit.renamed = effects
        turn.commit.definition = self._target.row(loaded.now)
        return turn.finish(Move(name, (), held.states))

    def _as_it_was(self, held: Held, sealed: dict[str, Any], instance: Instance) -> Held:
        """What the patch and the timers are compared with: the old state, in which the new timers do not run yet."""
        handles = {timer["handle"] for timer in sealed["timers"]}
        timers = tuple(timer for timer in held.state.timers if timer.handle in handles)
        return Held(replace(held.state, timers=timers), sealed, instance.state or "", held.states)

    def _of_the_instance(self, instance: Instance, effects: tuple[EffectRow, ...]) -> list[str]:
        problems = []
        if instance.status != ACTIVE:
            problems.append(f"it is {instance.status}")
        if not self._plan.doubtful:
            for row in effects:
                if row.status != PENDING:
                    problems.append(f"effect {row.id} ({named(row.name)}) is {row.status}; settle it first, or say doubtful")
        return problems

    def _effect(self, row: EffectRow, problems: list[str]) -> EffectRow:
        path = [self._plan.sources.get(name, name) for name in loads(row.name)]
        name = dumps(path)
        try:
            owner, last = owner_of(self._target.machine, name)
            known = last in owner.implementations.actors or last in owner.implementations.actions
        except (KeyError, AttributeError):
            known = False
        if not known:
            problems.append(f"effect {row.id}: {named(row.name)!r} is not in the new definition; map it in `sources`")
        return replace(row, definition=self._target.hash, name=name)

    def _held(self, moved: dict[str, Any], problems: list[str]) -> Held | None:
        for child in moved["snapshot"].get("children", {}).values():
            if child["src"] in self._changed_children:
                problems.append(f"the definition of child machine {child['src']!r} has changed as well, while one is running; wait for its end")
        try:
            checked_text(moved, "the moved state", self._decider.limits.state, 200)
            held = resumed(self._target.machine, dumps(moved))
        except (SnapshotError, UsageError) as error:
            problems.append(str(error))
            return None
        return None if problems else held


def _changed_children(old: str, new: str) -> frozenset[str]:
    before, after = (loads(text).get("children", {}) for text in (old, new))
    return frozenset(name for name in before if _hash(before[name]) != _hash(after.get(name)))


def _hash(child: Mapping[str, Any] | None) -> Any:
    return None if child is None else child["hash"]
