"""The case protocol: JSON cases in, JSON result lines out, as the Node oracle prints them.

``python -m statecharts.testing.protocol [--strict]`` reads one case a line
on standard input. By default documents are read loosely and run as XState
5.33 in everything; ``--strict`` uses the strict reading and our numbered
corrections, and saves and restores through the envelope. The format is in
``docs/reference/protocol.md``.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..adapters.engines.clocks import ExactClock, JumpingClock
from ..errors import SnapshotError, StatechartError
from ..interpreter.actors import (
    OBSERVABLE_COMPLETED,
    observable_failure,
    observable_value,
    promise_failure,
    promise_result,
)
from ..interpreter.effects import ActorCreated, ActorRef, MicrostepTaken, StartActor
from ..interpreter.macrostep import initial_step, macrostep
from ..interpreter.program import program_of
from ..interpreter.snapshot import Snapshot
from ..interpreter.system import EventFlood
from ..json_text import dumps, loads
from ..values import UNDEFINED, freeze, js_ordered
from .protocol_machine import MachineBuilder, collect_events
from .protocol_pure import OracleScope, describe_effects
from .protocol_report import (
    context_at,
    error_message,
    json_error,
    next_transition_rows,
    or_null,
    query_bare,
    shown_value,
)
from .protocol_simulation import Handle, ProtocolSimulation
from .protocol_values import JsError, as_event, js_string

OPERATIONS = [
    "sendBack",
    "event",
    "advance",
    "resolve",
    "reject",
    "next",
    "complete",
    "fail",
    "childEvent",
    "stop",
    "persist",
    "restore",
    "pure",
    "pureInitial",
    "query",
]
MAX_EVENTS_PER_STEP = 2000
ROUNDS_AT_START, ROUNDS_AFTER_STEP, ROUNDS_AFTER_THROW = 12, 13, 1
_SESSION = re.compile(r"\bx:(\d+)\b")


class Session:
    """One case: a machine, its trace, and the steps done to it."""

    def __init__(self, spec: Mapping[str, Any], strict: bool) -> None:
        self.spec = spec
        self.strict = strict
        self.trace: list[str] = []
        self.handles: dict[str, Handle] = {}
        self.microtasks: list[tuple[ActorRef, Any]] = []
        self.saved: Any = UNDEFINED
        self.overrun = False
        self.next_session = 0
        self.inspection: list[Any] | None = None
        self.elapsed: float = 0
        self.simulation: ProtocolSimulation = None  # type: ignore[assignment] # set by boot()
        builder = MachineBuilder(spec, self.trace_line, strict)
        self.machine = builder.build(spec["machine"], spec.get("actors") or {})
        given = spec.get("canEvents")
        self.events: list[Any] = collect_events(spec["machine"]) if given is None else given

    # --------------------------------------------------------------- tracing

    def trace_line(self, ref: ActorRef, text: str) -> None:
        """Append to the trace, prefixed with the actor's path."""
        path = self.simulation.path(ref)
        self.trace.append(f"{path}|{text}" if path else text)

    def _logged(self, *parts: Any) -> None:
        self.trace.append(" ".join(part if isinstance(part, str) else dumps(part) for part in parts))

    def _inspected(self, event: Any) -> None:
        path = self.simulation.path
        shown: dict[str, Any] = {"type": event.type, "actor": path(event.actor)}
        if hasattr(event, "event"):
            shown["event"] = event.event.get("type", UNDEFINED)
        if hasattr(event, "source"):
            shown["source"] = None if event.source is None else path(event.source)
        snapshot = getattr(event, "snapshot", None)
        if snapshot is not None:
            shown["status"] = snapshot.status
            if snapshot.value is not UNDEFINED:
                shown["value"] = shown_value(snapshot)
        if hasattr(event, "action_type"):
            shown["action"] = event.action_type
        if hasattr(event, "transitions"):
            shown["transitions"] = list(event.transitions)
        if self.inspection is None:
            self.inspection = []
        self.inspection.append(shown)

    # ------------------------------------------------------------------ boot

    def boot(self, snapshot: Any) -> None:
        """A new actor, from its initial state or a snapshot, on a new clock.

        Under the strict reading time goes on across a restore, and a snapshot
        that does not fit leaves everything as it was.
        """
        before = (self.simulation, self.handles, self.microtasks)
        self.handles = {}
        self.microtasks = []
        clock = ExactClock if self.spec.get("clock") == "exact" else JumpingClock
        options = {
            "clock": clock(self.elapsed if self.strict else 0),
            "logger": self._logged,
            "inspect": self._inspected if self.spec.get("inspect") else None,
            "system_id": self.spec.get("systemId"),
            "first_session": self.next_session,
            "max_events": MAX_EVENTS_PER_STEP,
        }
        try:
            ProtocolSimulation(self, self.machine, options, snapshot)
        except SnapshotError:
            self.simulation, self.handles, self.microtasks = before
            raise

    def start(self) -> None:
        """Boot, and let promises settle."""
        given = self.spec.get("snapshot")
        self.boot(freeze(given) if given is not None else None)
        self.settle(ROUNDS_AT_START)

    def settle(self, rounds: int) -> None:
        """Turn the microtask queue: what was queued before a turn runs in it."""
        for _ in range(rounds):
            batch, self.microtasks = self.microtasks, []
            for ref, event in batch:
                cell = self.simulation.system.cell(ref)
                if cell is not None and cell.snapshot.status == "active":
                    self.simulation.deliver(ref, event, ref)

    # ----------------------------------------------------------------- steps

    def step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Do one step; returns the extra fields of its line."""
        self.simulation.system.events = 0
        extra: dict[str, Any] = {}
        operation = next((name for name in OPERATIONS if name in step), None)
        if operation is None:
            extra["threw"] = f"unknown step {dumps(step)}"
            rounds = ROUNDS_AFTER_THROW
        else:
            try:
                extra = getattr(self, f"_do_{operation}")(step) or {}
                rounds = ROUNDS_AFTER_STEP
            except EventFlood as error:
                self.overrun = True
                extra = {"threw": error_message(error)}
                rounds = ROUNDS_AFTER_THROW
            except Exception as error:
                extra = {"threw": error_message(error)}
                rounds = ROUNDS_AFTER_THROW
        try:
            self.settle(rounds)
        except EventFlood:
            self.overrun = True
        return extra

    def _do_event(self, step: Any) -> None:
        self.simulation.deliver(None, freeze(as_event(step["event"])))

    def _do_advance(self, step: Any) -> None:
        self.elapsed += step["advance"]
        self.simulation.clock.advance(step["advance"], self.simulation._fire)
        self.simulation.system.now = self.simulation.clock.now

    def _handle(self, actor: str, verb: str, *kinds: str) -> Handle:
        found = self.handles.get(actor)
        if found is None:
            for path, handle in self.handles.items():
                if path.rpartition("/")[2] == actor:
                    found = handle
        if found is None:
            raise JsError(f"no manual actor '{actor}'")
        if found.kind not in kinds:
            if verb in ("next", "complete", "error"):
                raise JsError(f"Cannot read properties of undefined (reading '{verb}')")
            raise JsError(f"this.handle(...).{verb} is not a function")
        return found

    def _settle_handle(self, handle: Handle, event: Any) -> None:
        if not handle.settled:
            handle.settled = True
            self.microtasks.append((handle.ref, event))

    def _do_resolve(self, step: Any) -> None:
        handle = self._handle(step["resolve"], "resolve", "manual")
        self._settle_handle(handle, promise_result(step.get("output", UNDEFINED)))

    def _do_reject(self, step: Any) -> None:
        handle = self._handle(step["reject"], "reject", "manual")
        error = (
            JsError(js_string(step["errorMessage"]))
            if "errorMessage" in step
            else step.get("error", UNDEFINED)
        )
        self._settle_handle(handle, promise_failure(error))

    def _do_sendBack(self, step: Any) -> None:
        handle = self._handle(step["sendBack"], "sendBack", "callback")
        cell = self.simulation.system.cell(handle.ref)
        if cell is not None and cell.parent is not None and cell.snapshot.status != "stopped":
            self.simulation.deliver(
                cell.parent.ref, freeze(as_event(step.get("event", UNDEFINED))), handle.ref
            )

    def _observable(self, actor: str, verb: str, event: Any) -> None:
        handle = self._handle(actor, verb, "observable", "eventObservable")
        cell = self.simulation.system.cell(handle.ref)
        if cell is not None:
            self.simulation.deliver(handle.ref, event, handle.ref)

    def _do_next(self, step: Any) -> None:
        handle = self._handle(step["next"], "next", "observable", "eventObservable")
        value = step.get("value", UNDEFINED)
        if handle.kind == "eventObservable":
            cell = self.simulation.system.cell(handle.ref)
            if cell is not None and cell.parent is not None:
                self.simulation.deliver(cell.parent.ref, freeze(value), handle.ref)
            return
        self._observable(step["next"], "next", observable_value(value))

    def _do_complete(self, step: Any) -> None:
        self._observable(step["complete"], "complete", OBSERVABLE_COMPLETED)

    def _do_fail(self, step: Any) -> None:
        self._observable(step["fail"], "error", observable_failure(step.get("error", UNDEFINED)))

    def _do_childEvent(self, step: Any) -> None:
        to = step["childEvent"]["to"]
        snapshot: Any = self.simulation.snapshot
        ref: ActorRef | None = None
        for name in to.split("/"):
            children = getattr(snapshot, "_children", None) or {}
            ref = children.get(name)
            if ref is None:
                raise JsError(f"no child '{to}'")
            cell = self.simulation.system.cell(ref)
            snapshot = None if cell is None else cell.snapshot
        self.simulation.deliver(ref, freeze(as_event(step["childEvent"].get("event", UNDEFINED))))

    def _do_stop(self, step: Any) -> None:
        self.simulation.stop()

    def _do_persist(self, step: Any) -> None:
        self.saved = self.simulation.save() if self.strict else self.simulation.to_xstate()

    def _do_restore(self, step: Any) -> None:
        given = step["restore"]
        document = self.saved if given is True else given
        self.next_session = self.simulation.system.next_session
        self.boot(None if document is UNDEFINED else freeze(document))

    def _do_pure(self, step: Any) -> dict[str, Any]:
        snapshot = self.simulation.snapshot
        if not isinstance(snapshot, Snapshot):
            raise JsError("Cannot read properties of undefined (reading 'getTransitionData')")
        scope = OracleScope(self.machine, self.simulation.system.next_session)
        try:
            taken = macrostep(program_of(self.machine), snapshot, freeze(as_event(step["pure"])), scope)
        finally:
            self.simulation.system.next_session = scope.next_session
        self.simulation.system.next_session = scope.next_session
        if taken.error is not None:
            raise taken.error
        return {"pure": self._pure(taken)}

    def _do_pureInitial(self, step: Any) -> dict[str, Any]:
        scope = OracleScope(self.machine, self.simulation.system.next_session)
        taken = initial_step(program_of(self.machine), self.spec.get("input", UNDEFINED), scope)
        self.simulation.system.next_session = scope.next_session
        return {"pure": self._pure(taken)}

    def _pure(self, taken: Any) -> dict[str, Any]:
        snapshot = taken.snapshot
        hidden = (ActorCreated, MicrostepTaken)
        effects = [
            effect
            for effect in taken.effects
            if not isinstance(effect, hidden) and not (isinstance(effect, StartActor) and effect.by_assign)
        ]
        return {
            "value": shown_value(snapshot),
            "status": snapshot.status,
            "context": snapshot.context,
            "actions": describe_effects(effects),
        }

    def _do_query(self, step: Any) -> dict[str, Any]:
        query = step["query"]
        snapshot: Any = self.simulation.snapshot
        if not isinstance(snapshot, Snapshot):
            return {"query": query_bare(query)}
        out: dict[str, Any] = {}
        if query.get("matches"):
            out["matches"] = [snapshot.matches(value) for value in query["matches"]]
        if query.get("hasTag"):
            out["hasTag"] = [snapshot.has_tag(tag) for tag in query["hasTag"]]
        if query.get("can"):
            out["can"] = [self._can(snapshot, event) for event in query["can"]]
        if query.get("meta"):
            out["meta"] = js_ordered(snapshot.meta)
        if query.get("nextTransitions"):
            out["nextTransitions"] = next_transition_rows(snapshot)
        if query.get("context"):
            out["context"] = [context_at(snapshot, path) for path in query["context"]]
        return {"query": out}

    def _can(self, snapshot: Any, event: Any) -> Any:
        try:
            found = snapshot._program.select(
                snapshot._configuration, snapshot._context, freeze(as_event(event))
            )
            return any(t.targets is not None or t.actions for t in found)
        except Exception as error:
            return {"$error": error_message(error)}

    # ----------------------------------------------------------------- lines

    def line(self, index: int, step: Mapping[str, Any] | None, extra: Mapping[str, Any]) -> str:
        """The result line after step ``index`` (-1: start)."""
        snapshot = self.simulation.snapshot
        report = self.spec.get("report") or {}
        operation = "init" if step is None else next((name for name in OPERATIONS if name in step), "?")
        is_machine = isinstance(snapshot, Snapshot)
        out: dict[str, Any] = {
            "case": self.spec.get("id"),
            "step": index,
            "op": operation,
            "value": shown_value(snapshot) if is_machine else None,
            "status": or_null(snapshot.status),
            "context": or_null(snapshot.context),
            "tags": list(snapshot.tags) if is_machine else [],
            "output": or_null(snapshot.output),
            "error": json_error(snapshot.error),
            "trace": self.trace,
            "emitted": self.simulation.emitted_events,
            "children": list(snapshot._children) if is_machine else [],
        }
        if report.get("can") is not False:
            events = self.events if is_machine else []
            can = {as_event(e)["type"]: self._can(snapshot, e) for e in events}
            out["can"] = js_ordered(can)
        if report.get("persisted") is not False:
            out["persisted"] = self._persisted()
        if self.overrun:
            out["overrun"] = True
        if self.inspection is not None:
            out["inspection"] = self.inspection
        out.update(extra)
        text = dumps(out)
        self.trace = []
        self.simulation.emitted_events.clear()
        self.inspection = [] if self.spec.get("inspect") else None
        return text

    def _persisted(self) -> Any:
        try:
            return self.simulation.to_xstate()
        except StatechartError as error:
            return {"$error": error_message(error)}


# --------------------------------------------------------------------- main


def run_case(text: str, strict: bool = False) -> Iterator[str]:
    """The result lines of one case."""
    try:
        spec = loads(text)
    except json.JSONDecodeError as error:
        yield dumps({"case": None, "step": -1, "op": "parse", "fatal": str(error)})
        return
    try:
        session = Session(spec, strict)
        session.start()
    except Exception as error:
        yield dumps({"case": spec.get("id"), "step": -1, "op": "create", "fatal": str(error)})
        return
    steps = spec.get("steps") or []
    last_only = (spec.get("report") or {}).get("lines") == "last"
    if not last_only or not steps:
        yield session.line(-1, None, {})
    for index, step in enumerate(steps):
        extra = session.step(step)
        if not last_only or index == len(steps) - 1:
            yield session.line(index, step, extra)


def run_lines(cases: Iterable[str], strict: bool = False) -> Iterator[str]:
    """The result lines of many cases (JSON texts)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in cases:
            if text.strip():
                yield from run_case(text, strict)


def main(arguments: list[str] | None = None) -> int:
    """Read cases on standard input, write lines on standard output."""
    given = sys.argv[1:] if arguments is None else arguments
    unknown = [argument for argument in given if argument not in ("--strict", "--interactive")]
    if unknown:
        sys.stderr.write(
            f"usage: python -m statecharts.testing.protocol [--strict] [--interactive]; not {unknown[0]}\n"
        )
        return 2
    sys.stdin.reconfigure(encoding="utf-8", errors="surrogatepass")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogatepass")  # type: ignore[union-attr]
    flush = "--interactive" in given
    for line in run_lines(sys.stdin, "--strict" in given):
        sys.stdout.write(line + "\n")
        if flush:
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
