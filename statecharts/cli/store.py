"""``statecharts store``: what an operator does with running machines. A command is imported when it is called for."""

from __future__ import annotations

from importlib import import_module

import click

from ..validation.nearest import nearest

_PLACES = {
    "migrate": "store_migrate:migrate",
    "start": "store_events:start",
    "send": "store_events:send",
    "show": "store_show:show_instance",
    "list": "store_list:list_instances",
    "log": "store_log:log",
    "verify": "store_log:verify",
    "effects": "store_effects:effects",
    "settle": "store_effects:settle",
    "retry": "store_effects:retry",
    "cancel": "store_orders:cancel",
    "suspend": "store_orders:suspend",
    "resume": "store_orders:resume",
    "dead": "store_dead:dead",
    "work": "store_work:work",
}


class Commands(click.Group):
    """Finds its commands in :data:`_PLACES`, so that nothing of the durable runtime is loaded before it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All of them, in the order of a day's work."""
        return list(_PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported."""
        place = _PLACES.get(cmd_name)
        if place is None:
            return None
        module, _, attribute = place.partition(":")
        found: click.Command = getattr(import_module(f"{__package__}.{module}"), attribute)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was asked for, or what is like it."""
        if args and not args[0].startswith("-") and args[0] not in _PLACES:
            near = nearest(args[0], _PLACES)
            hint = f"did you mean {near}?" if near else f"there are: {', '.join(_PLACES)}"
            ctx.fail(f"there is no command {args[0]!r} for a store; {hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    short_help="Look after the running machines in a store.",
    epilog="STATECHARTS_URL in the environment stands for --url.",
)
def store() -> None:
    """Look after the running machines in a store: start, send, look, repair, work."""
