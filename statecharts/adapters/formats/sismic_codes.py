"""Every code of a problem that reading a sismic file can report.

``ERROR`` codes stop the reading. ``DIFFERENCE`` codes name a behaviour that
this file has in sismic and not here. ``WARNING`` codes are harmless in both.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

Kind = Literal["error", "difference", "warning"]


class SismicCode(Enum):
    """A kind of problem: ``slug`` as users see it, its ``kind`` and one line of ``meaning``."""

    # reading the file
    YAML_SYNTAX = "yaml-syntax", "error", "The text is not YAML, or has a key twice."
    SISMIC_SHAPE = (
        "sismic-shape",
        "error",
        "A part of the file has another form than sismic's schema asks for.",
    )
    SISMIC_UNKNOWN_KEY = "sismic-unknown-key", "error", "A key that sismic's schema does not know."
    SISMIC_DUPLICATE_STATE = (
        "sismic-duplicate-state",
        "error",
        "Two states have one name; names are unique in a chart.",
    )
    SISMIC_UNKNOWN_STATE = (
        "sismic-unknown-state",
        "error",
        "A target, an `initial` or a `memory` names no such state.",
    )
    SISMIC_STRUCTURE = "sismic-structure", "error", "States are put together in a way that sismic cannot run."
    SISMIC_EVENT_NAME = "sismic-event-name", "error", "An event name that means something else to XState."
    SISMIC_CODE_SYNTAX = "sismic-code-syntax", "error", "A piece of code of a trusted file is not Python."
    SISMIC_VALUE = (
        "sismic-value",
        "error",
        "A variable of a trusted file holds something that a context cannot hold.",
    )
    SISMIC_CLOCK = (
        "sismic-clock",
        "error",
        "Code asks for the time (see `clock-guard`); a machine has no clock.",
    )
    SISMIC_ACTIVE = (
        "sismic-active",
        "error",
        "A guard of a trusted file gives `active()` a computed name, or asks for too many states at once.",
    )
    SISMIC_IMPORT = (
        "sismic-import",
        "error",
        "An action of a trusted file imports or defines what other code uses; only the preamble can do that.",
    )
    SISMIC_CONTRACT = (
        "sismic-contract",
        "error",
        "A condition asks what cannot be told at the place where it stands.",
    )
    SISMIC_REFUSED = "sismic-refused", "error", "Sismic itself refuses the file."
    SISMIC_IGNORED_KEY = (
        "sismic-ignored-key",
        "warning",
        "A key that sismic reads and does not use at this place.",
    )

    # which transition is taken
    EQUAL_PRIORITY = (
        "equal-priority",
        "difference",
        "Two transitions of one state may be enabled together. Sismic raises NonDeterminismError; here the first is taken.",
    )
    CONFLICTING_REGIONS = (
        "conflicting-regions",
        "difference",
        (
            "A transition leaves its region while another region takes one. Sismic raises ConflictingTransitionsError; "
            "here one of them wins."
        ),
    )
    EVENTLESS_ANCESTOR = (
        "eventless-ancestor",
        "difference",
        (
            "An eventless transition around regions that have their own. Sismic asks the outer state only if no region "
            "has an answer; here each leaf asks for itself."
        ),
    )
    EVENTLESS_REPEATS = (
        "eventless-repeats",
        "difference",
        (
            "An eventless transition that stays where it is and cannot make its guard false. Sismic repeats it for ever; "
            "here it runs once, or into the limit of steps if it changes a variable or sends."
        ),
    )
    # in which order things happen
    PARALLEL_ORDER = (
        "parallel-order",
        "difference",
        (
            "Two regions take a transition together. Sismic finishes one (deeper source first, then by name) before the "
            "other; here all exits come first, then all actions, then all entries."
        ),
    )
    REGION_ENTRY_ORDER = (
        "region-entry-order",
        "difference",
        "Regions with entry code. Sismic enters all regions, then what is in them; here region by region.",
    )
    REGION_EXIT_ORDER = (
        "region-exit-order",
        "difference",
        "Regions with exit code. Sismic leaves the deepest states of all regions first; here region by region.",
    )
    TIMER_ORDER = (
        "timer-order",
        "difference",
        (
            "Timers that may be due together. Sismic looks at states first and then at sent events; here each timer comes "
            "in the order in which it was set."
        ),
    )
    # what is entered and left
    ONE_REGION_ENTRY = (
        "one-region-entry",
        "difference",
        "A target inside an orthogonal state that is not active. Sismic enters that region only; here all of them.",
    )
    REGION_REENTRY = (
        "region-reentry",
        "difference",
        (
            "A transition that leaves and enters a whole region. Sismic leaves the other regions alone; here all regions "
            "are left and entered."
        ),
    )
    CROSS_REGION = (
        "cross-region",
        "difference",
        (
            "A transition from one region into another. Sismic ends up with two active states in one region; here all "
            "regions are left and entered."
        ),
    )
    FINAL_REGION = (
        "final-region",
        "difference",
        (
            "A final state that is itself a region of the root. Sismic leaves it and the root at once and goes on with the "
            "other regions; here it is a state like any other."
        ),
    )
    HISTORY_CODE = (
        "history-code",
        "difference",
        "A history state with code or a contract. Sismic enters and leaves it like a state; here it is never active.",
    )
    HISTORY_WITHOUT_MEMORY = (
        "history-without-memory",
        "difference",
        (
            "A history state without `memory`. Sismic fails when there is nothing to restore; here the initial state of "
            "its parent is entered."
        ),
    )
    HISTORY_FROM_INSIDE = (
        "history-from-inside",
        "difference",
        (
            "A transition to a deep history from deep inside its own parent. Sismic leaves the whole of it; here only as "
            "much as the remembered states ask for."
        ),
    )
    # code
    CLOCK_GUARD = (
        "clock-guard",
        "difference",
        (
            "Code that asks for more than whether a constant time since entry is over (`after(x)`, `time`, `idle` beside "
            "internal transitions). Sismic looks at its clock at every step; here there is none."
        ),
    )
    GUARD_MUTATES = (
        "guard-mutates",
        "difference",
        "A guard that changes a variable. In sismic the change stays; here a guard sees a copy.",
    )
    ACTIVE_IN_ACTION = (
        "active-in-action",
        "difference",
        "`active()` in entry or exit code about another region, which the same step may be entering or leaving.",
    )
    PREAMBLE_NOT_RUN = (
        "preamble-not-run",
        "difference",
        "A preamble that is more than literal values, in a file that is not trusted. The context has to be bound.",
    )
    CONTRACTS_NOT_CHECKED = (
        "contracts-not-checked",
        "difference",
        "The file has contracts. Sismic checks them; here they are checked when asked for.",
    )

    def __init__(self, slug: str, kind: Kind, meaning: str) -> None:
        self.slug = slug
        self.kind: Kind = kind
        self.meaning = meaning

    @property
    def severity(self) -> str:
        """What a problem with this code carries as ``severity``."""
        return "error" if self.kind == "error" else "warning"


def codes_table(kind: Kind) -> str:
    """The codes of one kind as a Markdown table, for ``docs/how-to/sismic.md``."""
    rows = [f"| `{code.slug}` | {code.meaning} |" for code in SismicCode if code.kind == kind]
    return "\n".join(["| code | meaning |", "|---|---|", *rows]) + "\n"
