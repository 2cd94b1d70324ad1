"""The charts that are driven: one definition each, as XState JSON, for every peer.

Node and we load the JSON as it is. The other peers get it through their driver,
which builds their own form from it, so that nobody runs another chart by accident.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

Config = dict[str, Any]
SEED = 20_260_401
DRAWN = 20_000
"""How many events of (i) are drawn; the same ones for every peer."""


@dataclass(frozen=True)
class Chart:
    """A chart and the events it is driven with, over and over."""

    name: str
    title: str
    config: Config
    cycle: list[str] = field(repr=False)

    def events(self, count: int) -> list[str]:
        """The first ``count`` events: the cycle, repeated."""
        rounds, rest = divmod(count, len(self.cycle))
        return self.cycle * rounds + self.cycle[:rest]


def flat_toggle() -> Chart:
    """(a)."""
    states = {"off": {"on": {"T": "on"}}, "on": {"on": {"T": "off"}}}
    return Chart("a", "flat toggle", {"id": "a", "initial": "off", "states": states}, ["T"])


def counting_toggle() -> Chart:
    """(b): ``isOpen`` and ``increment`` are functions of the host's language."""

    def toggle_to(target: str) -> Config:
        return {"on": {"T": {"target": target, "guard": "isOpen", "actions": "increment"}}}

    states = {"off": toggle_to("on"), "on": toggle_to("off")}
    config = {"id": "b", "initial": "off", "context": {"n": 0}, "states": states}
    return Chart("b", "toggle with guard and context increment", config, ["T"])


def deep_reentry() -> Chart:
    """(c): six levels; the event on the topmost leaves and enters all of them."""
    node: Config = {}
    for level in range(6, 1, -1):
        node = {"initial": f"l{level}", "states": {f"l{level}": node}}
    node["on"] = {"R": {"target": "l1", "reenter": True}}
    config = {"id": "c", "initial": "l1", "states": {"l1": node}}
    return Chart("c", "depth-6 hierarchy, re-entered from the top", config, ["R"])


def eight_regions() -> Chart:
    """(d)"""
    return Chart("d", "8 regions, one event moves all", toggling_regions("d", 8), ["GO"])


def toggling_regions(name: str, count: int) -> Config:
    """``count`` regions of two states that all move on ``GO``."""
    regions: Config = {
        f"r{n}": {"initial": "s0", "states": {"s0": {"on": {"GO": "s1"}}, "s1": {"on": {"GO": "s0"}}}}
        for n in range(count)
    }
    return {"id": name, "type": "parallel", "states": regions}


def join() -> Chart:
    """(e)"""
    config = {
        "id": "e",
        "initial": "work",
        "states": {
            "work": {
                "type": "parallel",
                "onDone": "idle",
                "states": {
                    "x": {"initial": "x1", "states": {"x1": {"on": {"A": "x2"}}, "x2": {"type": "final"}}},
                    "y": {"initial": "y1", "states": {"y1": {"on": {"B": "y2"}}, "y2": {"type": "final"}}},
                },
            },
            "idle": {"on": {"R": "work"}},
        },
    }
    return Chart("e", "two regions, join, and back", config, ["A", "B", "R"])


def history() -> Chart:
    """(f): two rounds of the cycle come back to the start, so both children are remembered."""
    config = {
        "id": "f",
        "initial": "on",
        "states": {
            "on": {
                "initial": "x",
                "on": {"OFF": "off"},
                "states": {"x": {"on": {"N": "y"}}, "y": {"on": {"N": "x"}}, "h": {"type": "history"}},
            },
            "off": {"on": {"ON": "on.h"}},
        },
    }
    return Chart("f", "shallow-history cycle", config, ["N", "OFF", "ON"])


def wide(name: str, groups: int, leaves: int) -> Config:
    """``groups`` compound states of ``leaves`` states each: ``groups * (leaves + 1)`` states.

    ``NEXT`` steps through all leaves of all groups and round again, ``BACK`` to the
    one before, ``SKIP`` leaves a group for the next.
    """

    def neighbour(group: int, leaf: int, step: int) -> str:
        at = (group * leaves + leaf + step) % (groups * leaves)
        return f"#{name}.g{at // leaves}.s{at % leaves}" if at // leaves != group else f"s{at % leaves}"

    def leaf_state(group: int, leaf: int) -> Config:
        return {"on": {"NEXT": neighbour(group, leaf, 1), "BACK": neighbour(group, leaf, -1)}}

    states: Config = {
        f"g{group}": {
            "initial": "s0",
            "on": {"SKIP": f"g{(group + 1) % groups}"},
            "states": {f"s{leaf}": leaf_state(group, leaf) for leaf in range(leaves)},
        }
        for group in range(groups)
    }
    return {"id": name, "initial": "g0", "states": states}


def ten_thousand() -> Chart:
    """(h): 100 compound states and 9,900 leaves, every one of which is visited."""
    return Chart("h", "all states of a 10,000-state chart", wide("h", 100, 99), ["NEXT"] * 9_900)


def independent_regions() -> Chart:
    """(i): 4^8 configurations; each region turns by one (``A``) or by two (``B``) on its own events."""

    def region(number: int) -> Config:
        states = {
            f"s{n}": {"on": {f"A{number}": f"s{(n + 1) % 4}", f"B{number}": f"s{(n + 2) % 4}"}}
            for n in range(4)
        }
        return {"initial": "s0", "states": states}

    config = {"id": "i", "type": "parallel", "states": {f"r{n}": region(n) for n in range(8)}}
    types = [f"{letter}{number}" for number in range(8) for letter in "AB"]
    drawn = random.Random(SEED).choices(types, k=DRAWN)
    return Chart("i", "8 regions x 4 states, random events", config, drawn)


def acting_toggle() -> Chart:
    """(j): ``note`` is a function of the host's language, run at exit, on the way and at entry."""
    states = {
        "off": {"exit": "note", "on": {"T": {"target": "on", "actions": "note"}}},
        "on": {"entry": "note", "on": {"T": "off"}},
    }
    return Chart("j", "toggle with three actions every other time", {"id": "j", "initial": "off", "states": states}, ["T"])


def timed_toggle() -> Chart:
    """(k): a timer is set and cancelled again."""
    states = {"off": {"on": {"T": "on"}}, "on": {"after": {"60000": "off"}, "on": {"T": "off"}}}
    return Chart("k", "toggle with a timer that never rings", {"id": "k", "initial": "off", "states": states}, ["T"])


def all_charts() -> dict[str, Chart]:
    """Every chart that is driven by events alone, by name: (a) to (k) without (g)."""
    made = (
        flat_toggle(), counting_toggle(), deep_reentry(), eight_regions(), join(),
        history(), ten_thousand(), independent_regions(), acting_toggle(), timed_toggle(),
    )  # fmt: skip
    return {chart.name: chart for chart in made}


def built_configs() -> dict[str, Config]:
    """What is built from a dict: 1,010 and 10,000 states."""
    return {"1010": wide("w", 10, 100), "10000": wide("w", 100, 99)}
