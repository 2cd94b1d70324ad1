"""``statecharts store fork`` and ``migrate-instances``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from ..durability.moves import MovePlan
from ..errors import UsageError
from ..runtime import Runtime
from ..validation.nearest import nearest
from .files import read_json_file
from .loading import object_at
from .store_options import Target, order_options, store_options
from .store_session import in_store
from .store_views import say, show_receipt, show_table
from .terminal import write_json

PLAN = {"states": dict, "added": list, "invokes": dict, "sources": dict, "armTimers": bool, "doubtful": bool}
"""The members of a plan's file, and what they are."""


def _changing(name: str | None) -> Callable[[Any], Any] | None:
    if name is None:
        return None
    found = object_at(name, "--context")
    if not callable(found):
        raise UsageError(f"--context {name} is of type {type(found).__name__}; it has to be a function (context) -> context")
    made: Callable[[Any], Any] = found
    return made


@click.command(short_help="Start a new instance from a version of another.")
@click.argument("instance")
@click.argument("version", type=click.IntRange(min=1))
@click.argument("name")
@click.option("--context", metavar="MODULE:FUNCTION", help="Changes the context first: (context) -> context.")
@order_options
@store_options
def fork(target: Target, instance: str, version: int, name: str, context: str | None, actor: str, reason: str) -> int:
    """Start NAME from what INSTANCE was at VERSION. No effect is sent again: what was open is UNKNOWN in the new one."""
    change = _changing(context)

    async def body(runtime: Runtime) -> int:
        receipt = await runtime.fork(instance, version, name, change=change, actor=actor, reason=reason)
        return show_receipt(receipt, as_json=target.as_json)

    return in_store(target, body, uses_app=True)


@click.command(
    "migrate-instances",
    short_help="Move instances to another definition of their machine.",
    epilog="A plan is a JSON file with any of: " + ", ".join(PLAN) + ".",
)
@click.argument("machine")
@click.argument("instances", nargs=-1)
@click.option("--from", "source", metavar="HASH", required=True, help="The definition they are of: how its hash begins.")
@click.option("--plan", metavar="FILE", help="What of the old definition is what in the new one.")
@click.option("--context", metavar="MODULE:FUNCTION", help="Makes the new context of the old one.")
@click.option("--dry-run", is_flag=True, help="Only say what would become of each.")
@order_options
@store_options
def migrate_instances(
    target: Target,
    machine: str,
    instances: tuple[str, ...],
    source: str,
    plan: str | None,
    context: str | None,
    dry_run: bool,
    actor: str,
    reason: str,
) -> int:
    """Move INSTANCES (all of the definition, if none is named) to the definition of MACHINE that --app has.

    Each is moved for itself, or left as it is with what does not fit.
    """
    made = read_plan(None if plan is None else read_json_file(plan), plan or "", _changing(context))

    async def body(runtime: Runtime) -> int:
        moves = await runtime.migrate(
            machine, made, source=source, instances=instances or None, dry_run=dry_run, actor=actor, reason=reason
        )
        if target.as_json:
            for move in moves:
                write_json({"instance": move.instance, "states": list(move.states), "problems": list(move.problems)})
        elif moves:
            show_table(("instance", "states", "problems"), [(m.instance, ", ".join(m.states), "; ".join(m.problems)) for m in moves])
        stuck = sum(bool(move.problems) for move in moves)
        if not target.as_json:
            done = "would be moved" if dry_run else "moved"
            say(f"{len(moves) - stuck} {done}, {stuck} {'do' if stuck != 1 else 'does'} not fit")
        return 1 if stuck else 0

    return in_store(target, body, uses_app=True)


def read_plan(document: Any, file: str, context: Callable[[Any], Any] | None) -> MovePlan:
    """A plan as it stands in a file. Raises :class:`UsageError` naming the place of what is wrong."""
    if document is None:
        return MovePlan(context=context)
    if not isinstance(document, Mapping):
        raise UsageError(f"{file}: a plan is an object with any of {', '.join(PLAN)}")
    for key, value in document.items():
        kind = PLAN.get(key)
        if kind is None:
            near = nearest(str(key), PLAN)
            hint = f"did you mean {near}?" if near else f"it has {', '.join(PLAN)}"
            raise UsageError(f"{file} /{key}: a plan has no {key!r}; {hint}")
        if not isinstance(value, kind):
            raise UsageError(f"{file} /{key}: {key} is {_SHOWN[kind]}, not {type(value).__name__}")
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for name, member in members:
            if not isinstance(member, str):
                raise UsageError(f"{file} /{key}/{name}: a name is text, not {type(member).__name__}")
    return MovePlan(
        states=document.get("states", {}),
        added=tuple(document.get("added", ())),
        invokes=document.get("invokes", {}),
        sources=document.get("sources", {}),
        context=context,
        arm_timers=document.get("armTimers", False),
        doubtful=document.get("doubtful", False),
    )


_SHOWN = {dict: "an object of old names and new ones", list: "a list of states", bool: "true or false"}
