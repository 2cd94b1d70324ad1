"""Run XState machine JSON in Python with XState's own semantics.

::

    from statecharts import Implementations, load_machine, simulate

    machine = load_machine("machine.json", Implementations())
    sim = simulate(machine)
    sim.send("START")

Everything here is imported on first use: ``import statecharts`` loads no
database, web framework, command line or expression engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

_HOME = {
    "statecharts.actions": (
        "assign cancel emit enqueue forward_to log raise_ send_parent send_to spawn_child stop_child"
    ),
    "statecharts.api": "DefinitionWarning load_machine simulate start",
    "statecharts.errors": (
        "DefinitionError ExecutionError ImplementationError InvalidTransition MissingName Problem PurityError "
        "SnapshotError StatechartError StoreError UsageError"
    ),
    "statecharts.guards": "and_ not_ or_ state_in",
    "statecharts.implementations": "Implementations",
    "statecharts.machine": "Machine",
    "statecharts.interpreter.actors": (
        "from_callback from_event_observable from_observable from_promise from_transition"
    ),
    "statecharts.interpreter.effects": "ActorRef Effect",
    "statecharts.interpreter.pure": "initial_transition transition",
    "statecharts.interpreter.snapshot": "EventOption Snapshot Step",
    "statecharts.interpreter.system_state": "SystemState step_system",
    "statecharts.adapters.engines.simulation": "Simulation",
    "statecharts.adapters.engines.asyncio_host": "Actor",
    "statecharts.values": "UNDEFINED thaw",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = ["__version__", *sorted(_MODULE_OF)]  # noqa: PLE0604 - names are strings, made above

if TYPE_CHECKING:
    from .actions import (
        assign as assign,
    )
    from .actions import (
        cancel as cancel,
    )
    from .actions import (
        emit as emit,
    )
    from .actions import (
        enqueue as enqueue,
    )
    from .actions import (
        forward_to as forward_to,
    )
    from .actions import (
        log as log,
    )
    from .actions import (
        raise_ as raise_,
    )
    from .actions import (
        send_parent as send_parent,
    )
    from .actions import (
        send_to as send_to,
    )
    from .actions import (
        spawn_child as spawn_child,
    )
    from .actions import (
        stop_child as stop_child,
    )
    from .adapters.engines.simulation import Simulation as Simulation
    from .api import DefinitionWarning as DefinitionWarning
    from .api import load_machine as load_machine
    from .api import simulate as simulate
    from .errors import (
        DefinitionError as DefinitionError,
    )
    from .errors import (
        ExecutionError as ExecutionError,
    )
    from .errors import (
        ImplementationError as ImplementationError,
    )
    from .errors import (
        InvalidTransition as InvalidTransition,
    )
    from .errors import (
        MissingName as MissingName,
    )
    from .errors import (
        Problem as Problem,
    )
    from .errors import (
        PurityError as PurityError,
    )
    from .errors import (
        SnapshotError as SnapshotError,
    )
    from .errors import (
        StatechartError as StatechartError,
    )
    from .errors import (
        StoreError as StoreError,
    )
    from .errors import (
        UsageError as UsageError,
    )
    from .guards import and_ as and_
    from .guards import not_ as not_
    from .guards import or_ as or_
    from .guards import state_in as state_in
    from .implementations import Implementations as Implementations
    from .interpreter.actors import (
        from_callback as from_callback,
    )
    from .interpreter.actors import (
        from_event_observable as from_event_observable,
    )
    from .interpreter.actors import (
        from_observable as from_observable,
    )
    from .interpreter.actors import (
        from_promise as from_promise,
    )
    from .interpreter.actors import (
        from_transition as from_transition,
    )
    from .interpreter.effects import ActorRef as ActorRef
    from .interpreter.effects import Effect as Effect
    from .interpreter.pure import initial_transition as initial_transition
    from .interpreter.pure import transition as transition
    from .interpreter.snapshot import EventOption as EventOption
    from .interpreter.snapshot import Snapshot as Snapshot
    from .interpreter.snapshot import Step as Step
    from .machine import Machine as Machine
    from .values import UNDEFINED as UNDEFINED
    from .values import thaw as thaw


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'statecharts' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
