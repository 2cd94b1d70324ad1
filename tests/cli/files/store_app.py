"""Machines for the transcripts of `statecharts store`."""

from pathlib import Path
from typing import Any

from machines.support_agent.implementations import impl
from statecharts import Implementations, load_machine

HERE = Path(__file__).parent
support = load_machine(HERE / "machines" / "support_agent" / "machine.json", impl)


async def _broken_send(input: Any) -> Any:
    raise ConnectionError("the line went dead")


broken = support.provide({"actors": {"sendAnswer": _broken_send}})

counting = Implementations()
counting.version = "counter 1"


@counting.update("add")
def add(context: Any, event: Any) -> Any:
    return {"n": context["n"] + event["by"]}


@counting.guard("isOpen")
def is_open(context: Any) -> bool:
    return bool(context["n"] > 0)


@counting.action("ring")
def ring() -> None:
    raise RuntimeError("no bell")


COUNTER = {
    "id": "counter",
    "context": {"n": 0},
    "initial": "on",
    "invoke": {"src": "child", "id": "door"},
    "states": {
        "on": {
            "on": {
                "ADD": {"actions": "add"},
                "RING": {"actions": "ring"},
                "OFF": {"guard": "isOpen", "target": "off"},
            },
        },
        "off": {"type": "final"},
    },
}
CHILD = {"id": "door", "initial": "shut", "states": {"shut": {"on": {"OPEN": "open"}}, "open": {}}}
counter = load_machine(COUNTER, counting).provide({"actors": {"child": load_machine(CHILD)}})
newer = load_machine({**COUNTER, "version": "2"}, counting).provide({"actors": {"child": load_machine(CHILD)}})


def machines() -> list[Any]:
    return [support, counter]


def failing() -> Any:
    raise KeyError("DATABASE")


nothing: list[Any] = []
number = 7
unbound = load_machine(COUNTER)


def _no_context() -> Any:
    raise KeyError("customer")


stillborn = load_machine({"id": "stillborn"}, {"context": _no_context})


herald = load_machine(
    {
        "id": "herald",
        "entry": {"type": "statecharts.sendToInstance", "params": {"instance": "nobody", "event": {"type": "HELLO"}}},
    }
)
