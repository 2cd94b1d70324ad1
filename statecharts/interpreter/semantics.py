"""The rule book a document runs under, as a frozen value.

Eight switches hold what XState and SCXML decide differently while a machine
runs; everything else that differs is lowered when a document is read
(:mod:`statecharts.definition`, :mod:`statecharts.scxml_definition`). A child
runs under the rule book of its own document.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class Semantics:
    """How a machine behaves. ``name`` is what a user writes and what a saved snapshot remembers.

    The switches between the rule books (SCXML's clause in brackets):

    ``selects_per_leaf``
        Each active leaf asks itself and its ancestors (selectTransitions),
        rather than each region itself, and what is around it only if no
        region had an answer.
    ``leaves_in_document_order``
        Leaves answer in document order, rather than in the order in which
        they became active.
    ``domain_is_compound``
        The transition domain is never parallel (getTransitionDomain).
    ``defaults_run_initial``
        Every compound entered by default runs the content of its ``initial``
        (addDescendantStatesToEnter); XState does so for some.
    ``errors_are_events``
        A failing expression ends its block and raises ``error.execution``
        (§3.12.2), rather than ending the actor.
    ``stop_runs_exits``
        An actor that is stopped runs its exit actions (exitInterpreter).
    ``completes_after_macrostep``
        A top-level final state ends the session when the step is over
        (mainEventLoop), rather than inside it with a done event for the root.
    ``eventless_until_none``
        Eventless transitions are tried until none is enabled, even when one
        changed nothing.

    The others are numbered corrections of XState (``docs/semantics.md``).
    """

    name: str
    stop_children_on_error: bool = True
    cancel_all_with_id: bool = True
    unknown_actor_is_error: bool = True
    spawn_without_id_uses_session: bool = True
    stopped_stays_stopped: bool = True
    unknown_delay_is_error: bool = True
    stale_reports_are_dropped: bool = True
    one_domain_per_transition: bool = True
    selects_per_leaf: bool = False
    leaves_in_document_order: bool = False
    domain_is_compound: bool = False
    defaults_run_initial: bool = False
    errors_are_events: bool = False
    stop_runs_exits: bool = False
    completes_after_macrostep: bool = False
    eventless_until_none: bool = False


XSTATE: Final = Semantics("xstate")
XSTATE_EXACT: Final = Semantics("xstate-exact", False, False, False, False, False, False, False, False)
SCXML: Final = replace(
    XSTATE,
    name="scxml",
    stale_reports_are_dropped=False,  # done.invoke counts, even when its state has been left since
    selects_per_leaf=True,
    leaves_in_document_order=True,
    domain_is_compound=True,
    defaults_run_initial=True,
    errors_are_events=True,
    stop_runs_exits=True,
    completes_after_macrostep=True,
    eventless_until_none=True,
)

BY_NAME: Final = {profile.name: profile for profile in (XSTATE, XSTATE_EXACT, SCXML)}
