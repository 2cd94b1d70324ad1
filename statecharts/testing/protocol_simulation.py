"""The simulation as the case protocol watches and drives it."""

from __future__ import annotations

from typing import Any, Protocol

from ..adapters.engines.simulation import Simulation
from ..interpreter.actors import promise_failure, promise_result
from ..interpreter.deliveries import Begin, End, Receive
from ..interpreter.effects import ActorRef
from ..json_text import dumps
from ..values import UNDEFINED
from .protocol_values import js_string


class Watcher(Protocol):
    """What the simulation needs of its session."""

    simulation: ProtocolSimulation
    spec: Any
    handles: dict[str, Handle]
    microtasks: list[tuple[ActorRef, Any]]

    def trace_line(self, ref: ActorRef, text: str) -> None: ...


class Handle:
    """A started source that steps can drive."""

    def __init__(self, ref: ActorRef, kind: str) -> None:
        self.ref = ref
        self.kind = kind
        self.settled = False


class ProtocolSimulation(Simulation[Any]):
    """The simulation as the protocol watches it."""

    def __init__(self, session: Watcher, machine: Any, options: dict[str, Any], snapshot: Any) -> None:
        self.session = session
        session.simulation = self
        super().__init__(machine, session.spec.get("input", UNDEFINED), snapshot, **options)

    def _boot(self, input: Any, snapshot: Any, system_id: str | None) -> None:
        self.system.keep_ended = True  # a case may look at actors that are over, as JavaScript references do
        super()._boot(input, snapshot, system_id)

    def begin(self, delivery: Begin) -> None:
        path = self.path(delivery.actor)
        name = delivery.logic.source_name
        session = self.session
        if name in ("manual", "callback"):
            given = delivery.input
            session.trace_line(delivery.actor, "start" if given is UNDEFINED else f"start({dumps(given)})")
        elif name in ("observable", "eventObservable"):
            session.trace_line(delivery.actor, "start")
        if name in ("echo", "fail"):
            result = promise_result(delivery.input) if name == "echo" else promise_failure(delivery.input)
            session.microtasks.append((delivery.actor, result))
        else:
            session.handles[path] = Handle(delivery.actor, name)

    def end(self, delivery: End) -> None:
        cell = self.system.cell(delivery.actor)
        if cell is not None and cell.logic.kind != "promise":
            self.session.trace_line(delivery.actor, "stop")

    def _receive(self, delivery: Receive) -> None:
        self.session.trace_line(delivery.actor, f"recv({js_string(delivery.event.get('type', UNDEFINED))})")

    def deliver(self, ref: ActorRef | None, event: Any, source: ActorRef | None = None) -> None:
        """Send and run to rest."""
        self.system.send(event, ref, source)
        self._drive()
