"""An actor whose outside part has failed for good, told to the system by a host that runs it elsewhere."""

from __future__ import annotations

from typing import Any

from statecharts import load_machine
from statecharts.interpreter.system import System
from statecharts.values import freeze

DOCUMENT = {
    "id": "ear",
    "initial": "on",
    "context": {"error": None},
    "states": {
        "on": {"invoke": {"id": "line", "src": "line", "onError": {"target": "broken", "actions": "keep"}}, "on": {"OFF": "off"}},
        "off": {},
        "broken": {},
    },
}


def running() -> System:
    def line(send_back: Any) -> None:
        """Run by somebody else."""

    machine = load_machine(DOCUMENT, {"actors": {"line": line}, "updates": {"keep": lambda event: {"error": event["error"]}}})
    system = System(machine)
    system.boot()
    system.start()
    while system.run():
        pass
    return system


def test_its_parent_hears_of_the_error() -> None:
    system = running()
    ref = system.root.snapshot.children["line"]
    system.abort(ref, freeze({"name": "OSError", "message": "no line"}))
    while system.run():
        pass
    assert system.root.snapshot.value == "broken"
    assert system.root.snapshot.context["error"] == {"name": "OSError", "message": "no line"}


def test_one_that_is_over_cannot_fail() -> None:
    system = running()
    ref = system.root.snapshot.children["line"]
    system.send(freeze({"type": "OFF"}))
    while system.run():
        pass
    system.abort(ref, freeze({"name": "OSError", "message": "too late"}))
    assert system.idle and system.root.snapshot.value == "off"
