"""Machines with effects, and a world that counts what is done to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from statecharts import Implementations, Machine, Runtime, current_call, load_machine

Open = Callable[..., Runtime]
"""Makes runtimes over one store."""

SENDING: dict[str, Any] = {
    "id": "mailer",
    "initial": "idle",
    "context": {"sent": None, "failed": None, "notes": 0},
    "states": {
        "idle": {"on": {"GO": "sending"}},
        "sending": {
            "invoke": {
                "id": "send",
                "src": "send",
                "onDone": {"target": "sent", "actions": "keep"},
                "onError": {"target": "failed", "actions": "keepError"},
            },
            "on": {"LEAVE": "idle", "NOTE": {"actions": "note"}},
        },
        "sent": {"entry": "tell", "on": {"AGAIN": "sending"}},
        "failed": {"on": {"GO": "sending"}},
    },
}


class World:
    """What was called, by key. ``behaviour`` is called in each call."""

    def __init__(self, behaviour: Callable[[], Any] = lambda: "ok") -> None:
        self.calls: Counter[str] = Counter()
        self.told: list[Any] = []
        self.behaviour = behaviour

    async def send(self, input: Any) -> Any:
        call = current_call()
        assert call is not None
        self.calls[call.key] += 1
        found = self.behaviour()
        return await found if hasattr(found, "__await__") else found

    def tell(self, context: Any) -> None:
        call = current_call()
        assert call is not None
        self.told.append((call.key, context["sent"]))


def mailer(world: World, document: dict[str, Any] | None = None, **policy: Any) -> Machine[Any, Any]:
    """The machine above, whose calls go to ``world``."""
    impl = Implementations()
    impl.actor("send")(world.send)
    impl.action("tell")(world.tell)

    @impl.update("keep")
    def keep(event: Any) -> dict[str, Any]:
        return {"sent": event["output"]}

    @impl.update("keepError")
    def keep_error(event: Any) -> dict[str, Any]:
        return {"failed": event["error"]}

    @impl.update("note")
    def note(context: Any) -> dict[str, Any]:
        return {"notes": context["notes"] + 1}

    impl.effect("send", **policy)
    return load_machine(SENDING if document is None else document, impl)
