"""What has to be reached (issue 5, "Done means" 7)."""

from __future__ import annotations

from collections.abc import Callable

from ..targets import Run, Target
from .peers import DBOS, FLOOR, MANY, OURS, SAFE, SINGLE, SQLITE, XSTATE_SM


def cpu(run: Run, peer: str, store: str, load: str) -> float | None:
    """µs of CPU an event, where it was measured."""
    found: float | None = run.get(f"{peer} | {store} | {load}", {}).get("median")
    return found


def times(upper: tuple[str, str, str], lower: tuple[str, str, str]) -> Callable[[Run], float | None]:
    """How many times ``lower``'s CPU ``upper``'s is."""

    def figure(run: Run) -> float | None:
        above, below = cpu(run, *upper), cpu(run, *lower)
        return None if above is None or not below else above / below

    return figure


def targets() -> list[Target]:
    """All of them."""
    made = [
        Target("floor", f"ours, {load}: times the floor's CPU", 2.0, times((OURS, SQLITE, load), (FLOOR, SQLITE, load)), False)
        for load in (SINGLE, MANY)
    ]
    for peer, theirs, wanted in ((XSTATE_SM, SAFE, 5.0), (DBOS, SINGLE, 20.0)):
        for load in (SINGLE, MANY):
            what = f"{peer}, {theirs}: times the CPU of ours, {load}"
            made.append(Target(peer, what, wanted, times((peer, SQLITE, theirs), (OURS, SQLITE, load))))
    return made
