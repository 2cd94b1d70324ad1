"""The machine that all drive: two states, an update that counts, a timer, a call, and a context of some 200 bytes."""

from __future__ import annotations

from typing import Any

TYPES = ("GO", "BACK")
CHART: dict[str, Any] = {
    "id": "order",
    "initial": "waiting",
    "context": {
        "n": 0,
        "customer": {"id": "c-1042", "name": "Ada Lovelace", "email": "ada@example.org"},
        "lines": [{"sku": "A-17", "count": 2, "price": 12.5}, {"sku": "B-3", "count": 1, "price": 99.9}],
        "note": "leave it at the door",
    },
    "states": {
        "waiting": {
            "after": {"3600000": "calling"},
            "on": {"GO": {"target": "calling", "actions": "count"}},
        },
        "calling": {
            "invoke": {"id": "call", "src": "call"},
            "on": {"BACK": {"target": "waiting", "actions": "count"}},
        },
    },
}


def event_type(number: int) -> str:
    """The type of the ``number``-th event of an instance, from 0."""
    return TYPES[number % 2]
