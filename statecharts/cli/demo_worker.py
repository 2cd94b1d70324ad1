"""A worker of the demonstration, a process of its own, for it is going to be killed.

``python -m statecharts.cli.demo_worker STORE RECEIVER``
"""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any

from ..api import load_machine
from ..effect_policies import ProbeAnswer
from ..implementations import Implementations
from ..machine import Machine
from ..runtime import Runtime
from .day import find_day, implementations_beside
from .demo_receiver import look_up, post

LEASE = 1_200
"""ms without a sign of life after which an effect is somebody else's; a service takes a minute."""


def support_agent(receiver: str) -> Machine[Any, Any]:
    """The support agent, whose ``sendAnswer`` calls a receiver that knows keys and can be asked about them."""
    from ..adapters.engines.durable.calls import current_call

    file = find_day().with_name("machine.json")
    impl = Implementations().merged(implementations_beside(file))
    impl.version = "demo-1"

    @impl.actor("sendAnswer")
    def send_answer(input: dict[str, Any]) -> dict[str, Any]:
        call = current_call()
        assert call is not None
        return post(receiver, call.key, dict(input))

    def ask(key: str) -> ProbeAnswer:
        known = look_up(receiver, key)
        return ProbeAnswer("not_done") if known is None else ProbeAnswer("done", known)

    for quick in ("draftAnswer", "checkCompliance", "notifyApprover", "notifyReviewer", "reportFailure"):
        impl.effect(quick, idempotent=True, attempts=3, timeout=1_000)
    impl.effect("sendAnswer", key=lambda input: f"send:{input['requestKey']}", probe=ask, timeout=1_000)
    return load_machine(file, impl)


async def main(store: str, receiver: str) -> None:
    """Work until killed or told to stop."""
    async with Runtime.open(store, [support_agent(receiver)], lease=LEASE) as runtime:
        await runtime.run_worker(handle_signals=True, poll=0.1, grace=1)


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    asyncio.run(main(*sys.argv[1:3]))
