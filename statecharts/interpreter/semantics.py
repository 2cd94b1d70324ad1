"""The rule book a document runs under, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Semantics:
    """The switches by which XState's behaviour is kept or corrected.

    ``name`` is what a user writes and what a saved snapshot remembers. The
    numbered corrections are described in ``docs/semantics.md``.
    """

    name: str
    stop_children_on_error: bool
    cancel_all_with_id: bool
    unknown_actor_is_error: bool
    spawn_without_id_uses_session: bool
    stopped_stays_stopped: bool
    unknown_delay_is_error: bool
    stale_reports_are_dropped: bool
    one_domain_per_transition: bool


XSTATE_EXACT: Final = Semantics("xstate-exact", False, False, False, False, False, False, False, False)
XSTATE: Final = Semantics("xstate", True, True, True, True, True, True, True, True)

BY_NAME: Final = {profile.name: profile for profile in (XSTATE, XSTATE_EXACT)}
