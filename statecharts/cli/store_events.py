"""``statecharts store start`` and ``send``: what comes from outside."""

from __future__ import annotations

from typing import Any

import click

from ..durability.stepping import Poisoned
from ..errors import UsageError
from ..runtime import Runtime
from ..validation.nearest import nearest
from ..values import UNDEFINED
from .store_options import Given, Target, json_value, store_options
from .store_session import in_store
from .store_views import show_receipt
from .typed import read_event, read_pair

_APP_NEEDED = "start needs the machine's Python: --app module:object names a Machine, a list of them, or a function that returns them"


def _sender(command: Any) -> Any:
    command = click.option("--actor", metavar="WHO", help="Who sends it; it is kept in the log.")(command)
    return click.option("--event-id", metavar="ID", help="The same id again changes nothing.")(command)


@click.command(short_help="Start a machine under a name.")
@click.argument("machine")
@click.argument("instance")
@click.option("--input", "input_", metavar="JSON", callback=json_value, help="The machine's input.")
@_sender
@store_options
def start(
    target: Target, machine: str, instance: str, input_: Given | None, event_id: str | None, actor: str | None
) -> int:
    """Start MACHINE under the name INSTANCE and print the receipt.

    The same start again is a duplicate; another start of a name that is taken is refused.
    """
    if target.app is None:
        raise UsageError(_APP_NEEDED)

    async def body(runtime: Runtime) -> int:
        known = runtime.registry.by_id
        if machine not in known:
            near = nearest(machine, known)
            hint = f"did you mean {near}?" if near else f"it has: {', '.join(sorted(known))}"
            raise UsageError(f"--app {target.app} has no machine {machine!r}; {hint}")
        given = UNDEFINED if input_ is None else input_.value
        try:
            receipt = await runtime.start(machine, instance, given, event_id=event_id, actor=actor)
        except Poisoned as error:
            raise UsageError(f"{instance} was not started: the code of machine {machine} raised {error}") from error
        return show_receipt(receipt, as_json=target.as_json)

    return in_store(target, body, uses_app=True)


@click.command(
    short_help="Send an event to an instance.",
    epilog="A value is JSON where it is JSON (n=1, ok=true, who='\"1\"'), else text. Without the machine in --app, "
    "the event is accepted, and a worker applies it.",
)
@click.argument("instance")
@click.argument("event")
@click.argument("pairs", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--data", metavar="JSON", callback=json_value, help="The event's data as a JSON object, instead of KEY=VALUE.")
@click.option("--to", metavar="PATH", help="The path of a machine below the root, such as child/grandchild.")
@_sender
@store_options
def send(
    target: Target,
    instance: str,
    event: str,
    pairs: tuple[str, ...],
    data: Given | None,
    to: str | None,
    event_id: str | None,
    actor: str | None,
) -> int:
    """Send EVENT to INSTANCE and print the receipt.

    Exit status 0 when it was applied or accepted, now or before; 1 when it was refused or is a dead letter.
    """
    made = _event(event, pairs, data)

    async def body(runtime: Runtime) -> int:
        receipt = await runtime.send(instance, made, event_id=event_id, actor=actor, to=to)
        return show_receipt(receipt, as_json=target.as_json)

    return in_store(target, body, uses_app=True)


def _event(event: str, pairs: tuple[str, ...], data: Given | None) -> dict[str, Any]:
    if pairs and data is not None:
        raise click.UsageError("give the event's data as KEY=VALUE or under --data, not both")
    if event.lstrip().startswith("{"):
        if pairs or data is not None:
            raise click.UsageError("an event written as JSON has its data in it; leave out KEY=VALUE and --data")
        return read_event(event)
    members = dict(map(read_pair, pairs)) if data is None else data.value
    if not isinstance(members, dict):
        raise click.UsageError("--data is a JSON object, such as '{\"ticketRef\": \"ticket://77\"}'")
    if "type" in members:
        raise click.UsageError("an event's type is its name; take `type` out of the data")
    return {"type": event, **members}
