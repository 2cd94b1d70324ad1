"""What every in-process host does with a system's deliveries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import UsageError
from ...events import to_event
from ...interpreter.deliveries import (
    Arm,
    Begin,
    Completed,
    Delivery,
    Disarm,
    Emitted,
    End,
    Failed,
    Inspected,
    Perform,
    Published,
    Receive,
)
from ...interpreter.effects import ActorRef, LogMessage, RunAction, record
from ...interpreter.snapshot import Step
from ...interpreter.system import Cell, System
from ...native import mypyc_attr

Sends = list[tuple[ActorRef | None, ActorRef | None, Any]]


class CallbackRun:
    """A running callback actor: its receivers and its clean-up."""

    __slots__ = ("cleanup", "receivers")

    def __init__(self) -> None:
        self.cleanup: Callable[[], Any] | None = None
        self.receivers: list[Callable[[Any], Any]] = []


@mypyc_attr(allow_interpreted_subclasses=True)
class Driver(ABC):
    """Performs deliveries one by one. Hosts say how work is started and stopped and what is shown."""

    __slots__ = ("__weakref__", "_callbacks", "_sends", "schemas", "system")

    def __init__(self, system: System) -> None:
        self.system = system
        system.root_only = True
        self.schemas = system.machine.schemas
        self._callbacks: dict[int, CallbackRun] | None = None
        self._sends: Sends | None = None

    @property
    def callbacks(self) -> dict[int, CallbackRun]:
        """Running callback actors by session."""
        if self._callbacks is None:
            self._callbacks = {}
        return self._callbacks

    def handle(self, delivery: Delivery) -> Any:
        """Do what ``delivery`` asks for; what an action returned is returned."""
        if type(delivery) is Published:  # half of all
            self.published(delivery)
            return None
        return _HANDLERS[type(delivery)](self, delivery)

    # what a host says
    @abstractmethod
    def begin(self, delivery: Begin) -> None:
        """Start the outside part of an actor."""

    @abstractmethod
    def end(self, delivery: End) -> None:
        """Stop the outside part of an actor."""

    @abstractmethod
    def arm(self, timer: Any) -> None:
        """A timer was set."""

    @abstractmethod
    def disarm(self, timer: Any) -> None:
        """A timer was cancelled."""

    def log(self, ref: ActorRef, value: Any, label: Any) -> None:
        """A ``log`` action ran."""

    def emitted(self, delivery: Emitted) -> None:
        """An actor emitted an event."""

    def published(self, delivery: Published) -> None:
        """The root has a new snapshot."""

    def completed(self, delivery: Completed) -> None:
        """An actor is over."""

    def failed(self, delivery: Failed) -> None:
        """An actor died."""

    def inspected(self, event: Any) -> None:
        """An inspection event."""

    # ------------------------------------------------------------- schemas

    def checked_event(self, event: str | Mapping[str, Any], data: Mapping[str, Any]) -> Any:
        """An event from outside, frozen. Raises :class:`SchemaError` when the document's schema refuses it."""
        made = to_event(event, data)
        if self.schemas:
            self.schemas.check_event(made)
        return made

    def checked_input(self, given: Any) -> Any:
        """The machine's input, checked like an event."""
        if self.schemas:
            self.schemas.check_input(given)
        return given

    def checked_output(self, source: Any, result: Any) -> Any:
        """What an actor of this source returned; a result its schema refuses is an error of the actor."""
        if self.schemas and isinstance(source, str):
            self.schemas.check_actor_output(source, result)
        return result

    def check_start(self) -> None:
        """The first context, and the output of a machine that is done at once."""
        snapshot = self.system.root.snapshot
        if self.schemas and snapshot.status == "active":
            self.schemas.check_context(snapshot.context)

    # ---------------------------------------------------------------- doing

    def drive(self) -> None:
        """Run the system to rest, performing what it asks for."""
        system = self.system
        listener_failure: Exception | None = None
        try:
            while batch := system.run():
                listener_failure = self.perform(batch) or listener_failure
        except Exception:
            raise
        except BaseException:  # an interrupt in a guard or an update, too, leaves no half step
            system.roll_back()
            raise
        if listener_failure is not None:
            raise listener_failure

    def perform(self, batch: list[Delivery]) -> Exception | None:
        """Perform one batch; an exception of the machine's own code ends it and is told to the system.

        A listener's exception is not the machine's: the batch goes on, and
        the first such exception is returned, to be raised at rest.
        """
        listener_failure: Exception | None = None
        for delivery in batch:
            try:
                self.handle(delivery)
            except Exception as error:
                if not isinstance(delivery, (Perform, Begin, End, Receive)):
                    listener_failure = listener_failure or error
                    continue
                self._flush_sends()
                self.system.fail(delivery, error)
                return listener_failure
            except BaseException:  # an interrupt is nobody's onError: the step did not happen
                if isinstance(delivery, Perform):
                    self.system.roll_back()
                self._flush_sends()
                raise
        if self._sends:
            self._flush_sends()
        return listener_failure

    def follow(self, event: Any, step: Step) -> Any:
        """Perform the actions of ``step``, to which :meth:`System.go_on` led the idle root.

        ``True`` when all is done then, but for the deliveries that the system
        has ready and for showing the snapshot; else the agenda goes on. A host that has to wait for what an
        action returned gets it back, and has the rest of the actions in
        :meth:`postpone`.
        """
        system = self.system
        ref = system.root.ref
        for effect in step.effects:
            if not ((type(effect) is RunAction and effect.function is not None) or type(effect) is LogMessage):
                continue
            delivery = record(Perform, (ref, effect))
            try:
                result = self._perform(delivery)
            except Exception as error:
                system.hand_over(event, step)
                self._flush_sends()
                system.fail(delivery, error)
                return False
            except BaseException:
                system.hand_over(event, step)
                system.roll_back()
                self._flush_sends()
                raise
            if result is not None:
                self.postpone(system.hand_over(event, step, delivery))
                return result
        if self._sends:
            self._flush_sends()
        return system.settle(event, step)

    def postpone(self, deliveries: list[Delivery]) -> None:
        """Perform these later, for something has to be waited for (only hosts that wait are asked)."""

    def _flush_sends(self) -> None:
        if self._sends:
            sends, self._sends = self._sends, None
            self.system.send_all(sends)

    def post_send(self, source: ActorRef | None, target: ActorRef | None, event: Any) -> None:
        """A callback actor's code sent something; it is delivered when that code returns."""
        if self._sends is None:
            self._sends = []
        self._sends.append((source, target, event))

    def post_emit(self, ref: ActorRef, event: Any) -> None:
        """An outside actor's code emitted something."""
        self.system.emit(ref, event)

    def _perform(self, delivery: Perform) -> Any:
        """Run an inline effect; returns what the action returned (an awaitable, if it is async)."""
        effect = delivery.effect
        if isinstance(effect, RunAction):
            assert effect.function is not None
            return effect.function(
                effect.context, effect.event, effect.params, delivery.actor, self.system.view
            )
        self.log(delivery.actor, effect.value, effect.label)
        return None

    # ------------------------------------------------------------ callbacks

    def begin_callback(self, delivery: Begin) -> None:
        """Call a callback actor's function with what it may use."""
        ref = delivery.actor
        cell = self.system.cell(ref)
        run = self.callbacks[ref.session] = CallbackRun()

        def send_back(event: str | Mapping[str, Any], **data: Any) -> None:
            self.from_actor(cell, to_event(event, data))

        def emit(event: str | Mapping[str, Any], **data: Any) -> None:
            self.post_emit(ref, to_event(event, data))

        view = self.system.view
        result = delivery.logic.call(delivery.input, ref, view, emit, send_back, run.receivers.append)
        if result is not None and not callable(result):
            raise UsageError("a callback actor returns its clean-up function, or None")
        run.cleanup = result

    def from_actor(self, cell: Cell | None, event: Any) -> None:
        """An actor's own code sends an event to its parent."""
        if cell is None or cell.snapshot.status == "stopped" or cell.parent is None:
            return
        self.post_send(cell.ref, cell.parent.ref, event)

    def end_callback(self, ref: ActorRef) -> bool:
        """Call the clean-up of a callback actor; false when ``ref`` is none."""
        run = None if self._callbacks is None else self._callbacks.pop(ref.session, None)
        if run is None:
            return False
        run.receivers.clear()
        if run.cleanup is not None:
            run.cleanup()
        return True

    def _receive(self, delivery: Receive) -> None:
        run = self.callbacks.get(delivery.actor.session)
        for receiver in list(run.receivers) if run else ():
            receiver(delivery.event)

    # ------------------------------------------------------------ addresses

    def path(self, ref: ActorRef) -> str:
        """Ids from below the root down to ``ref``, joined with ``/``; empty for the root."""
        ids: list[str] = []
        cell = self.system.cell(ref)
        if cell is None:
            return ref.id
        while cell.parent is not None:
            ids.append(cell.ref.id)
            cell = cell.parent
        return "/".join(reversed(ids))

    def find(self, path: str) -> Cell | None:
        """The actor at a path of child ids, as the parents know them now."""
        cell: Cell | None = self.system.root
        for name in path.split("/"):
            children = getattr(cell.snapshot, "_children", None) if cell is not None else None
            ref = None if children is None else children.get(name)
            if ref is None:
                return None
            cell = self.system.cell(ref)
        return cell


_HANDLERS: dict[type, Callable[[Driver, Any], Any]] = {
    Perform: lambda host, delivery: host._perform(delivery),
    Begin: lambda host, delivery: host.begin(delivery),
    End: lambda host, delivery: host.end(delivery),
    Receive: lambda host, delivery: host._receive(delivery),
    Emitted: lambda host, delivery: host.emitted(delivery),
    Arm: lambda host, delivery: host.arm(delivery.timer),
    Disarm: lambda host, delivery: host.disarm(delivery.timer),
    Published: lambda host, delivery: host.published(delivery),
    Completed: lambda host, delivery: host.completed(delivery),
    Failed: lambda host, delivery: host.failed(delivery),
    Inspected: lambda host, delivery: host.inspected(delivery.event),
}
