"""The case protocol once more, with the asyncio host underneath: real tasks for promises, observables and callbacks.

Time is a :class:`ManualClock`, so a case must ask the oracle for its exact
clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from loops import new_loop

from statecharts.adapters.engines.asyncio_clock import ManualClock, settle_loop
from statecharts.adapters.engines.asyncio_host import Actor
from statecharts.adapters.engines.asyncio_inbox import Arrival
from statecharts.interpreter.actors import CallbackLogic, ObservableLogic, PromiseLogic
from statecharts.interpreter.deliveries import Begin, Emitted, End
from statecharts.interpreter.effects import ActorRef
from statecharts.json_text import dumps, loads
from statecharts.testing.protocol import Session
from statecharts.testing.protocol_simulation import Handle
from statecharts.testing.protocol_values import js_string
from statecharts.values import UNDEFINED

TURNS = 8
"""Turns of the loop in which everything that is ready gets done."""


class Thrown(Exception):
    """A rejection with a JSON value, which JavaScript has and Python has not."""

    def __init__(self, value: Any) -> None:
        self.value = value


class LiveHandle(Handle):
    """A started source that steps drive through what its task waits for."""

    def __init__(self, ref: ActorRef, kind: str) -> None:
        super().__init__(ref, kind)
        self.settled_with: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.values: asyncio.Queue[Any] = asyncio.Queue()
        self.live = True
        self.send_back: Any = None


class ProtocolActor(Actor[Any]):
    """The asyncio host as a session watches it."""

    def __init__(self, session: HostSession, shown: Shown, options: dict[str, Any], snapshot: Any) -> None:
        self.session = session
        self.shown = shown
        self.is_muted = False
        first, most = options.pop("first_session"), options.pop("max_events")
        super().__init__(session.machine, session.spec.get("input", UNDEFINED), snapshot, **options)
        self.system.next_session = first
        self.system.max_events = most
        self.system.keep_ended = True

    def begin(self, delivery: Begin) -> None:
        name, ref, given = delivery.logic.source_name, delivery.actor, delivery.input
        handle = LiveHandle(ref, name)
        if name in ("manual", "callback"):
            self.trace(ref, "start" if given is UNDEFINED else f"start({dumps(given)})")
        elif name in ("observable", "eventObservable"):
            self.trace(ref, "start")
        if name not in ("echo", "fail"):
            self.session.handles[self.path(ref)] = handle
        super().begin(delivery._replace(logic=self.real(name, handle, given)))

    def real(self, name: str, handle: LiveHandle, given: Any) -> Any:
        """What the protocol's source of this name is in Python."""

        async def manual() -> Any:
            return await handle.settled_with

        async def echo() -> Any:
            await self.session.next_round()
            return given

        async def fail() -> Any:
            await self.session.next_round()
            raise Thrown(given)

        async def values() -> Any:
            try:
                while (item := await handle.values.get()) is not None:
                    if isinstance(item, Thrown):
                        raise item
                    yield item[0]
            finally:
                handle.live = False

        def callback(send_back: Any, receive: Any) -> None:
            handle.send_back = send_back
            receive(lambda event: self.trace(handle.ref, f"recv({js_string(event.get('type', UNDEFINED))})"))

        if name in ("observable", "eventObservable"):
            return ObservableLogic(values, name == "eventObservable")
        if name == "callback":
            return CallbackLogic(callback)
        return PromiseLogic({"manual": manual, "echo": echo, "fail": fail}[name])

    def end(self, delivery: End) -> None:
        cell = self.system.cell(delivery.actor)
        if cell is not None and cell.logic.kind != "promise":
            self.trace(delivery.actor, "stop")
        super().end(delivery)

    def trace(self, ref: ActorRef, text: str) -> None:
        if not self.is_muted:
            self.session.trace_line(ref, text)

    def failure_data(self, error: Exception) -> Any:
        return error.value if isinstance(error, Thrown) else error

    def emitted(self, delivery: Emitted) -> None:
        if delivery.actor.session == self.system.root.ref.session:
            self.shown.emitted_events.append(delivery.event)

    async def advance_by(self, ms: float) -> None:
        """Each timer at its own time; promises settle when all have fired, as under the oracle's clock."""
        clock = self.clock
        assert isinstance(clock, ManualClock)
        end = clock.now() + ms
        while clock.ring_next(end):
            while self._arrivals or self._running:
                if self._running:
                    await asyncio.sleep(0)
                else:
                    self._run()
        clock._now = end


class Shown:
    """What a session asks of its simulation, answered by an actor in a loop."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.runner = runner
        self.emitted_events: list[Any] = []
        self.actor: ProtocolActor
        self.clock = self
        self.now: float = 0

    @property
    def system(self) -> Any:
        return self.actor.system

    @property
    def snapshot(self) -> Any:
        return self.actor.snapshot

    def path(self, ref: ActorRef) -> str:
        return self.actor.path(ref)

    def to_xstate(self) -> Any:
        return self.actor.to_xstate()

    def deliver(self, ref: ActorRef | None, event: Any, source: ActorRef | None = None) -> None:
        self.runner.run(self._deliver(ref, event, source))

    async def _deliver(self, ref: ActorRef | None, event: Any, source: ActorRef | None) -> None:
        if ref is None and isinstance(event.get("type"), str):
            await self.actor.send(event)
        else:
            await self.actor._process(Arrival(event, ref, source))

    def stop(self) -> None:
        self.runner.run(self.actor.stop())

    def _fire(self, timer: Any) -> None:
        raise NotImplementedError

    def advance(self, ms: float, _fire: Any) -> None:
        self.runner.run(self.actor.advance_by(ms))
        self.now = self.actor.clock.now()


class HostSession(Session):
    """One case, run by the asyncio host."""

    def __init__(self, spec: Any, runner: asyncio.Runner) -> None:
        super().__init__(spec, strict=False)
        self.runner = runner
        self.gates: list[asyncio.Future[None]] = []

    def boot(self, snapshot: Any) -> None:
        self.close()
        self.handles = {}
        shown = Shown(self.runner)
        self.simulation = shown  # type: ignore[assignment] # it is used like one
        options = {
            "clock": ManualClock(),
            "logger": self._logged,
            "inspect": self._inspected if self.spec.get("inspect") else None,
            "system_id": self.spec.get("systemId"),
            "first_session": self.next_session,
            "max_events": 2000,
        }
        shown.actor = ProtocolActor(self, shown, options, snapshot)
        self.runner.run(shown.actor.__aenter__())

    def close(self) -> None:
        """End the actor there was, unseen."""
        shown: Any = self.simulation
        if shown is not None:
            shown.actor.is_muted = True
            inspection = self.inspection
            self.runner.run(shown.actor.aclose())
            self.inspection = inspection

    async def next_round(self) -> None:
        """Where a promise that is resolved already waits for JavaScript's next round of microtasks."""
        gate = asyncio.get_running_loop().create_future()
        self.gates.append(gate)
        await gate

    def settle(self, rounds: int) -> None:
        self.runner.run(self._settle(rounds))

    async def _settle(self, rounds: int) -> None:
        """The oracle waits for so many rounds: of promises that start each other for ever it sees only those."""
        for _ in range(rounds):
            await settle_loop(TURNS)
            gates, self.gates = self.gates, []
            for gate in gates:
                if not gate.done():
                    gate.set_result(None)
            if not gates:
                return
        await settle_loop(TURNS)

    def _settle_handle(self, handle: Any, event: Any) -> None:
        if handle.settled or handle.settled_with.done():
            return
        handle.settled = True
        if event["type"].endswith("resolve"):
            handle.settled_with.set_result(event["data"])
        else:
            data = event["data"]
            handle.settled_with.set_exception(data if isinstance(data, Exception) else Thrown(data))
            handle.settled_with.exception()

    def _feed(self, actor: str, verb: str, item: Any) -> bool:
        handle: Any = self._handle(actor, verb, "observable", "eventObservable")
        if handle.live:
            handle.values.put_nowait(item)
        return bool(handle.live)

    def _do_sendBack(self, step: Any) -> None:
        handle: Any = self._handle(step["sendBack"], "sendBack", "callback")
        event = step.get("event", UNDEFINED)
        if isinstance(event, dict) and isinstance(event.get("type"), str):
            handle.send_back(event)
        else:
            super()._do_sendBack(step)

    def _do_next(self, step: Any) -> None:
        value = step.get("value", UNDEFINED)
        if not self._feed(step["next"], "next", (value,)):
            super()._do_next(step)

    def _do_complete(self, step: Any) -> None:
        if not self._feed(step["complete"], "complete", None):
            super()._do_complete(step)

    def _do_fail(self, step: Any) -> None:
        if not self._feed(step["fail"], "error", Thrown(step.get("error", UNDEFINED))):
            super()._do_fail(step)


def run_case(text: str, runner: asyncio.Runner) -> Iterator[str]:
    """The result lines of one case."""
    spec = loads(text)
    session = None
    try:
        session = HostSession(spec, runner)
        session.start()
    except Exception as error:
        if session is not None:
            session.close()
        yield dumps({"case": spec.get("id"), "step": -1, "op": "create", "fatal": str(error)})
        return
    try:
        yield session.line(-1, None, {})
        for index, step in enumerate(spec.get("steps") or []):
            extra = session.step(step)
            yield session.line(index, step, extra)
    finally:
        session.close()


def run_lines(cases: Iterable[str], kind: str = "asyncio") -> list[str]:
    """The result lines of many cases, in one event loop; no task may be left between two of them."""
    lines: list[str] = []
    with asyncio.Runner(loop_factory=lambda: new_loop(kind)) as runner:
        loop = runner.get_loop()
        loop.set_exception_handler(lambda _loop, _context: None)  # machines fail here as they should
        for case in cases:
            lines.extend(run_case(case, runner))
            left = asyncio.all_tasks(loop)
            assert not left, (case, left)
    return lines
