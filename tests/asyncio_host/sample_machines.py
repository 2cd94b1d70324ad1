"""Machines that several tests use."""

from __future__ import annotations

from typing import Any

from statecharts import Machine, load_machine


def toggle() -> Machine[Any, Any]:
    return load_machine(
        {
            "id": "toggle",
            "initial": "off",
            "context": {"count": 0},
            "states": {
                "off": {"on": {"TOGGLE": {"target": "on", "actions": "count"}}},
                "on": {"on": {"TOGGLE": {"target": "off", "actions": "count"}}},
            },
            "on": {"COUNT": {"actions": "count"}},
        },
        {"updates": {"count": lambda context: {"count": context["count"] + 1}}},
    )


def acting(action: Any, **more: Any) -> Machine[Any, Any]:
    """``GO`` runs ``action`` on its way from ``idle`` to ``gone``; ``BACK`` returns, ``COUNT`` counts, ``END`` ends."""
    return load_machine(
        {
            "id": "acting",
            "initial": "idle",
            "context": {"count": 0},
            "states": {
                "idle": {"on": {"GO": {"target": "gone", "actions": ["count", "act"]}}},
                "gone": {"on": {"BACK": "idle"}},
                "over": {"type": "final"},
            },
            "on": {"COUNT": {"actions": "count"}, "END": ".over", "ACT": {"actions": "act"}},
            "output": {"said": "bye"},
        },
        {
            "updates": {"count": lambda context: {"count": context["count"] + 1}},
            "actions": {"act": action},
            **more,
        },
    )


def invoking(actor: Any, *, kind: str = "actors", **keys: Any) -> Machine[Any, Any]:
    """``GO`` enters ``busy``, which invokes ``actor`` as ``work``; its end is kept in the context."""
    return load_machine(
        {
            "id": "invoking",
            "initial": "idle",
            "context": {"got": None, "values": []},
            "states": {
                "idle": {"on": {"GO": "busy"}},
                "busy": {
                    "invoke": {
                        "id": "work",
                        "src": "work",
                        "onDone": {"target": "done", "actions": "keepOutput"},
                        "onError": {"target": "failed", "actions": "keepError"},
                        **keys,
                    },
                    "on": {
                        "LEAVE": "idle",
                        "VALUE": {"actions": "keepValue"},
                        "SELF": {"target": "busy", "reenter": True},
                    },
                },
                "done": {"on": {"AGAIN": "busy"}},
                "failed": {"on": {"AGAIN": "busy"}},
            },
        },
        {
            "actors": {"work": actor},
            "updates": {
                "keepOutput": lambda context, event: {"got": event["output"]},
                "keepError": lambda context, event: {"got": str(event["error"])},
                "keepValue": lambda context, event: {"values": [*context["values"], event["value"]]},
            },
        },
    )
