"""``statecharts store cancel``, ``suspend`` and ``resume``."""

from __future__ import annotations

import click

from ..runtime import Runtime
from .store_options import Target, order_options, store_options
from .store_session import in_store
from .store_views import show_receipt


def _ordered(target: Target, action: str, instance: str, actor: str, reason: str) -> int:
    async def body(runtime: Runtime) -> int:
        receipt = await getattr(runtime, action)(instance, actor=actor, reason=reason)
        return show_receipt(receipt, as_json=target.as_json)

    return in_store(target, body, uses_app=True)


@click.command(short_help="End an instance.")
@click.argument("instance")
@order_options
@store_options
def cancel(target: Target, instance: str, actor: str, reason: str) -> int:
    """End INSTANCE as it is: no exit actions; its timers and whatever nobody has begun are withdrawn."""
    return _ordered(target, "cancel", instance, actor, reason)


@click.command(short_help="Let an instance rest.")
@click.argument("instance")
@order_options
@store_options
def suspend(target: Target, instance: str, actor: str, reason: str) -> int:
    """Let INSTANCE rest: what comes is kept, timers wait, nothing new is called."""
    return _ordered(target, "suspend", instance, actor, reason)


@click.command(short_help="Let a suspended instance go on.")
@click.argument("instance")
@order_options
@store_options
def resume(target: Target, instance: str, actor: str, reason: str) -> int:
    """Let INSTANCE go on; a worker does what has waited."""
    return _ordered(target, "resume", instance, actor, reason)
