"""What every Python driver does the same way: check, warm up, repeat, and say so as one line of JSON.

A driver is a script of its own process. It gets the path of a task (JSON) and
prints its result (JSON) as the last line. It imports nothing of the harness but
this file, so that a peer's process holds the peer and nothing else.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

Task = dict[str, Any]
Result = dict[str, Any]


class CannotExpressError(Exception):
    """The peer has no way to say what the chart says; the message says what is missing."""


@dataclass
class Driven:
    """A running chart of a peer."""

    send: Callable[[Any], object]
    """The peer's own call that handles one event to the end."""
    leaves: Callable[[], Iterable[str]]
    """Paths of the active leaves below the root, as ``work.x.x1``."""
    context: Callable[[], Any] = lambda: None
    event: Callable[[str], Any] = str
    """What ``send`` takes, made of an event's type before the clock runs."""
    drive: Callable[[list[Any]], object] | None = None
    """The loop over the events, where it is another than calling ``send`` for each."""
    instance: Any = None
    """What has to be kept for the chart to go on running."""

    def run(self, events: list[Any]) -> None:
        """Handle all events."""
        if self.drive is not None:
            self.drive(events)
            return
        send = self.send
        for event in events:
            send(event)


Maker = Callable[[Task], Callable[[], Driven]]
"""Builds the task's chart once; what it returns makes one running instance of it after another."""


def measure_peer(task: Task, maker: Maker, no_agent: str = "not tried") -> Result:
    """What is measured of a peer: its events, or its memory.

    ``no_agent`` says why it cannot play the support agent's run (g).
    """
    if task["kind"] == "agent":
        raise CannotExpressError(no_agent)
    return (measure_memory if task["kind"] == "memory" else measure_events)(task, maker)


def measure_events(task: Task, maker: Maker) -> Result:
    """Microseconds of CPU per event, after the peer has shown that it goes through the right states.

    ``trail`` has the active leaves after each of the first events and, last, after
    the whole first pass; ``context`` what the chart's data is then. A peer that
    would take longer than ``longest`` seconds for a pass gets a shorter one, and
    ``events`` says how long it was.
    """
    types = chart_of(task)["events"]
    make = maker(task)
    checked = make()
    events = [checked.event(type_) for type_ in types]
    trail = []
    begun = process_time()
    for event in events[: task["trail"]]:
        checked.run([event])
        trail.append(sorted(checked.leaves()))
    each = (process_time() - begun) / task["trail"]
    count = min(len(types), max(task["trail"], int(task["longest"] / each)))
    checked.run(events[task["trail"] : count])
    trail.append(sorted(checked.leaves()))
    driven = make()
    events = [driven.event(type_) for type_ in types[:count]]
    samples = repeat(task, lambda: driven.run(events), count)
    return {"samples": samples, "trail": trail, "context": checked.context(), "events": count}


def measure_memory(task: Task, maker: Maker) -> Result:
    """Bytes the process grows by for an instance, over ``task["instances"]``; each has handled one event."""
    make = maker(task)
    event = chart_of(task)["events"][0]

    def instance() -> Any:
        driven = make()
        driven.run([driven.event(event)])
        return driven.instance

    return {"samples": [growth(instance, task["instances"])]}


def growth(instance: Callable[[], Any], count: int, kept: list[Any] | None = None) -> float:
    """Bytes the process grows by for each of ``count`` instances; ``kept`` gets them.

    Raises :class:`CannotExpressError` where the system does not tell.
    """
    kept = [] if kept is None else kept
    kept += [instance() for _ in range(100)]  # so that everything that is made once, is
    kept[:] = [None] * count
    gc.collect()
    before = resident_bytes()
    for index in range(count):
        kept[index] = instance()
    gc.collect()
    after = resident_bytes()
    if before is None or after is None:
        raise CannotExpressError("this system does not say how much memory a process has")
    return (after - before) / count


def repeat(task: Task, run: Callable[[], object], count: int) -> list[float]:
    """Microseconds of CPU per unit of work for each repetition of ``run``, which does ``count`` units.

    Warm is who has run for ``warmup`` seconds of CPU: XState's ``transition()``
    needs 40,000 events until its price stays what it is. The collector stays on:
    what a peer leaves behind is part of its price.
    """
    started = process_time()
    while process_time() - started < task["warmup"]:
        run()
    samples = []
    for _ in range(task["repetitions"]):
        before = process_time()
        run()
        samples.append((process_time() - before) * 1e6 / count)
    return samples


def chart_of(task: Task) -> dict[str, Any]:
    """``config`` and ``events`` of the task's chart, or whatever else was written for it."""
    return _charts(task["charts"])[task["chart"]]  # type: ignore[no-any-return]


@cache
def _charts(path: str) -> dict[str, Any]:
    return json.loads(Path(path).read_text("utf-8"))  # type: ignore[no-any-return]


def resident_bytes() -> int | None:
    """Memory of this process that is really there, in bytes; ``None`` where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return None
    import resource

    return pages * resource.getpagesize()


def answer(handle: Callable[[Task], Result]) -> None:
    """Do the task that the command line names and print the result."""
    task = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    try:
        result = handle(task)
    except CannotExpressError as reason:
        result = {"cannot": str(reason)}
    print(json.dumps(result))
