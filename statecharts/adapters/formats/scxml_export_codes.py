"""Every code of a warning about an exported machine."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class ExportCode(Enum):
    """A construct that SCXML reads differently: ``slug`` as users see it and one line of ``meaning``."""

    PARALLEL_HANDLER = (
        "parallel-handler",
        "A parallel state or one around it handles an event that a region handles too.",
    )
    ALWAYS_ORDER = "always-order", "Eventless transitions in several regions, whose order differs."
    DOMAIN = "transition-domain", "A transition that leaves and enters more, or fewer, states."
    INITIAL_ACTIONS = "initial-actions", "Actions of `initial` that SCXML runs more often."
    ERROR_POLICY = "error-policy", "A failing guard, action or actor does not end the machine in SCXML."
    STOPPED_CHILDREN = "stopped-children", "A child that is stopped runs its exit actions in SCXML."
    COMPLETION = "completion", "A machine that ends by way of a done event, behind events raised before."
    ALWAYS_LOOP = "always-loop", "An `always` that may change nothing, which SCXML repeats."
    SELF_TARGET = "self-target", "A state that targets itself without `reenter`."
    EXACT_DESCRIPTOR = "exact-descriptor", "An event name that in SCXML also stands for longer ones."
    WILDCARD_ORDER = "wildcard-order", "Transitions written in another order, because SCXML goes by order."
    EVENT_NAME = "event-name", "An event that has another name in SCXML."
    NAMED_GUARD = "named-guard", "A guard that other engines have to be given."
    NAMED_ACTION = "named-action", "An action that other engines skip."
    NAMED_DELAY = "named-delay", "A delay that other engines have to be given."
    EXPRESSION = "foreign-expression", "An expression in a language that SCXML does not have."
    EMIT = "emit", "Emitted events do not exist in SCXML."
    SPAWN = "spawn", "Actors can only be invoked in SCXML."
    ACTOR_SOURCE = "actor-source", "An actor that other engines cannot start."
    ON_ERROR = "on-error", "SCXML has no event for the failure of an invoked actor."
    ON_SNAPSHOT = "on-snapshot", "SCXML has no event for the snapshots of an invoked actor."
    ROUTE = "route-lost", "SCXML has no routes."
    MAX_ITERATIONS = "max-iterations", "SCXML has no limit for a macrostep."
    SCHEMAS = "schemas-lost", "SCXML does not check values."
    CONTEXT_CODE = "context-lost", "A context that is not an object of values."
    HISTORY_DEFAULT = "history-default", "The default of a history state does not lie below its parent."

    def __init__(self, slug: str, meaning: str) -> None:
        self.slug = slug
        self.meaning = meaning


class Finding(NamedTuple):
    """One construct that was found: what it is, its JSON pointer in the machine, and what it means elsewhere."""

    code: ExportCode
    pointer: str
    message: str


Found = Iterator[Finding]
