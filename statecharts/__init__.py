"""Run XState machine JSON and SCXML in Python, each with its own semantics.

::

    from statecharts import Implementations, load_machine, simulate

    machine = load_machine("machine.json", Implementations())
    sim = simulate(machine)
    sim.send("START")

Everything here is imported on first use: ``import statecharts`` loads no
database, web framework, command line or expression engine.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if os.environ.get("STATECHARTS_PURE", "") not in ("", "0"):
    from . import _pure

    _pure.install()  # before any module that may be compiled is imported

from ._version import __version__

if TYPE_CHECKING:
    from .actions import (
        assign,
        cancel,
        emit,
        enqueue,
        forward_to,
        log,
        raise_,
        send_parent,
        send_to,
        spawn_child,
        stop_child,
    )
    from .adapters.engines.asyncio_host import Actor
    from .adapters.engines.durable.calls import Call, current_call
    from .adapters.engines.log_observer import LogObserver
    from .adapters.engines.simulation import Simulation
    from .api import DefinitionWarning, load_machine, simulate, start
    from .conversion import to_scxml
    from .durability.payloads import Limits
    from .durability.receipts import Receipt
    from .effect_policies import EffectPolicy, ProbeAnswer
    from .errors import (
        Busy,
        CommitUnknown,
        DefinitionError,
        ExecutionError,
        ImplementationError,
        InvalidTransition,
        MissingName,
        PayloadError,
        Problem,
        PurityError,
        SnapshotError,
        StatechartError,
        StoreError,
        StoreVersionError,
        UnknownInstance,
        UsageError,
    )
    from .guards import and_, not_, or_, state_in
    from .implementations import Implementations
    from .interpreter.actors import (
        from_callback,
        from_event_observable,
        from_observable,
        from_promise,
        from_transition,
    )
    from .interpreter.effects import ActorRef, Effect
    from .interpreter.program import memo_of
    from .interpreter.pure import initial_transition, restore_snapshot, transition
    from .interpreter.snapshot import EventOption, Snapshot, Step
    from .interpreter.system_state import SystemState, initial_system, step_system
    from .machine import Machine
    from .runtime import Runtime
    from .schemas import SchemaError
    from .sources import folder_resolver
    from .values import UNDEFINED, thaw

# where each name lives; imported when it is first asked for
_HOME = {
    "statecharts.actions": (
        "assign cancel emit enqueue forward_to log raise_ send_parent send_to spawn_child stop_child"
    ),
    "statecharts.adapters.engines.asyncio_host": "Actor",
    "statecharts.adapters.engines.log_observer": "LogObserver",
    "statecharts.adapters.engines.simulation": "Simulation",
    "statecharts.api": "DefinitionWarning load_machine simulate start",
    "statecharts.adapters.engines.durable.calls": "Call current_call",
    "statecharts.conversion": "to_scxml",
    "statecharts.durability.payloads": "Limits",
    "statecharts.durability.receipts": "Receipt",
    "statecharts.effect_policies": "EffectPolicy ProbeAnswer",
    "statecharts.errors": (
        "DefinitionError ExecutionError ImplementationError InvalidTransition MissingName Problem "
        "PurityError SnapshotError StatechartError StoreError UsageError "
        "Busy CommitUnknown PayloadError StoreVersionError UnknownInstance"
    ),
    "statecharts.guards": "and_ not_ or_ state_in",
    "statecharts.implementations": "Implementations",
    "statecharts.interpreter.actors": (
        "from_callback from_event_observable from_observable from_promise from_transition"
    ),
    "statecharts.interpreter.effects": "ActorRef Effect",
    "statecharts.interpreter.program": "memo_of",
    "statecharts.interpreter.pure": "initial_transition restore_snapshot transition",
    "statecharts.interpreter.snapshot": "EventOption Snapshot Step",
    "statecharts.interpreter.system_state": "SystemState initial_system step_system",
    "statecharts.machine": "Machine",
    "statecharts.runtime": "Runtime",
    "statecharts.schemas": "SchemaError",
    "statecharts.sources": "folder_resolver",
    "statecharts.values": "UNDEFINED thaw",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "UNDEFINED",
    "Actor",
    "ActorRef",
    "Busy",
    "Call",
    "CommitUnknown",
    "DefinitionError",
    "DefinitionWarning",
    "Effect",
    "EffectPolicy",
    "EventOption",
    "ExecutionError",
    "ImplementationError",
    "Implementations",
    "InvalidTransition",
    "Limits",
    "LogObserver",
    "Machine",
    "MissingName",
    "PayloadError",
    "ProbeAnswer",
    "Problem",
    "PurityError",
    "Receipt",
    "Runtime",
    "SchemaError",
    "Simulation",
    "Snapshot",
    "SnapshotError",
    "StatechartError",
    "Step",
    "StoreError",
    "StoreVersionError",
    "SystemState",
    "UnknownInstance",
    "UsageError",
    "__version__",
    "and_",
    "assign",
    "cancel",
    "current_call",
    "emit",
    "enqueue",
    "folder_resolver",
    "forward_to",
    "from_callback",
    "from_event_observable",
    "from_observable",
    "from_promise",
    "from_transition",
    "initial_system",
    "initial_transition",
    "load_machine",
    "log",
    "memo_of",
    "not_",
    "or_",
    "raise_",
    "restore_snapshot",
    "send_parent",
    "send_to",
    "simulate",
    "spawn_child",
    "start",
    "state_in",
    "step_system",
    "stop_child",
    "thaw",
    "to_scxml",
    "transition",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'statecharts' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
