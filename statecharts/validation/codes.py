"""Every code a :class:`~statecharts.errors.Problem` can carry, with its severity and meaning.

An *error* is something that cannot mean what its author wanted: XState would
drop it, ignore it, or fail on it, now or later. A *warning* is something that
has no effect and does no harm. The severity belongs to the code, so one code
is never both.

The reference page ``docs/reference/problems.md`` is :func:`problems_page`.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

Severity = Literal["error", "warning"]


class Code(Enum):
    """A kind of problem: ``slug`` as users see it, its ``severity`` and one line of ``meaning``."""

    # reading the text
    JSON_SYNTAX = "json-syntax", "error", "The text is not JSON."
    DUPLICATE_KEY = (
        "duplicate-key",
        "error",
        "One object has the same key twice; only the last would be read.",
    )
    # the document as a whole
    NOT_AN_OBJECT = "not-an-object", "error", "A machine is a JSON object."
    TOO_DEEP = "too-deep", "error", "States or values nest too deeply, or contain themselves."
    NON_STRING_KEY = "non-string-key", "error", "An object key is not a string."
    # keys and shapes
    WRONG_TYPE = "wrong-type", "error", "A value has a type that this key does not take."
    WRONG_ANNOTATION = (
        "wrong-annotation",
        "warning",
        "A description or version is not a string; it has no effect.",
    )
    NULL_VALUE = "null-value", "error", "`null` where XState crashes; leave the key out."
    NULL_IGNORED = "null-ignored", "warning", "`null` where XState reads it as absent."
    EMPTY_NAME = "empty-name", "error", "An id, a state key or a name is the empty string."
    MISSPELT_KEY = "misspelt-key", "error", "An unknown key that is close to a known one."
    MISPLACED_KEY = "misplaced-key", "error", "A known key at a place where it is ignored."
    UNKNOWN_KEY = "unknown-key", "warning", "A key nobody reads."
    FOREIGN_KEY = (
        "foreign-key",
        "warning",
        "A map of implementations inside the document; v5 machines do not read it.",
    )
    MISSING_MEMBER = "missing-member", "error", "An object lacks a member it cannot do without."
    STRAY_MEMBER = (
        "stray-member",
        "error",
        "Data beside `type` in an action or guard; only `params` reaches the function.",
    )
    # version 4
    V4_LEFTOVER = "v4-leftover", "error", "XState 4 spelling that version 5 ignores."
    V4_LEFTOVER_HARMLESS = (
        "v4-leftover-harmless",
        "warning",
        "An XState 4 setting whose absence changes nothing.",
    )
    V4_EVENT_NAME = "v4-event-name", "error", "An event name that only XState 4 sends."
    V4_ACTION = "v4-action", "error", "A built-in action that only XState 4 has."
    NULL_EVENT = "null-event", "error", 'Eventless transitions stand under `always`, not under `on: {"": …}`.'
    # states
    UNKNOWN_TYPE = "unknown-type", "error", "A state type that does not exist."
    TYPE_MISMATCH = "type-mismatch", "error", "The type of a state contradicts its children."
    DUPLICATE_ID = "duplicate-id", "error", "Two states have the same id; the first cannot be addressed."
    MISSING_INITIAL = (
        "missing-initial",
        "error",
        "A state with children does not say which one is entered first.",
    )
    UNKNOWN_INITIAL = "unknown-initial", "error", "`initial` does not name a direct child."
    INITIAL_WITHOUT_STATES = "initial-without-states", "error", "`initial` on a state without children."
    INITIAL_IGNORED = (
        "initial-ignored",
        "warning",
        "`initial` on a parallel state, which enters all its children.",
    )
    INITIAL_HISTORY_LOOP = (
        "initial-history-loop",
        "error",
        "`initial` names a history child that has no default.",
    )
    HISTORY_AT_ROOT = "history-at-root", "error", "The machine itself is a history state."
    UNKNOWN_HISTORY = "unknown-history", "error", "`history` is neither shallow nor deep."
    IGNORED_HISTORY = "ignored-history", "error", "`history` on a state that is not a history state."
    NEVER_RUNS = "never-runs", "error", "Something inside a history or final state that can never happen."
    NEVER_FIRES = (
        "never-fires",
        "warning",
        "A handler that can never be taken, because its event is never sent there.",
    )
    OUTPUT_IGNORED = (
        "output-ignored",
        "error",
        "`output` on a state that is neither final nor the machine itself.",
    )
    ROUTE_IGNORED = (
        "route-ignored",
        "error",
        "A `route` without an `id` of its own, or on the machine itself.",
    )
    # transitions
    UNKNOWN_TARGET = "unknown-target", "error", "A target names no state."
    ROOT_TARGET = "root-target", "error", "A target of the machine itself lacks its leading dot."
    AMBIGUOUS_TARGET = "ambiguous-target", "warning", "A target can be read in two ways."
    ILLEGAL_TARGETS = "illegal-targets", "error", "Targets of one transition cannot be active together."
    UNREACHABLE_TRANSITION = (
        "unreachable-transition",
        "warning",
        "A transition after one that is always taken.",
    )
    ENDLESS_ALWAYS = "endless-always", "error", "Eventless transitions that go round for ever."
    REPLACED_HANDLER = (
        "replaced-handler",
        "error",
        "Two handlers for one event in one state; only the last is kept.",
    )
    INFIX_WILDCARD = "infix-wildcard", "error", "A `*` that is not the whole last token matches nothing."
    EVENT_NEVER_SENT = "event-never-sent", "warning", "A handler for an event that never reaches it."
    DURATION_LIKE_DELAY = "duration-like-delay", "warning", "A delay name that looks like a duration."
    ODD_DELAY = "odd-delay", "warning", "A delay that is empty, negative, or longer than a timer can be."
    # actions, guards, actors
    UNKNOWN_BUILTIN = "unknown-builtin", "error", "An `xstate.` action or guard that does not exist."
    UNKNOWN_STATE = "unknown-state", "error", "A `stateIn` guard names a state that does not exist."
    BAD_EXPRESSION = "bad-expression", "error", "An `@expr` object is not well-formed."
    EXPRESSION_SYNTAX = "expression-syntax", "error", "An expression cannot be read in its language."
    EXPRESSION_LANGUAGE = (
        "expression-language",
        "error",
        "An expression is in a language that is not known here.",
    )
    BARE_INVOKE = "bare-invoke", "error", "An invoked actor is an object with `src`, not a name."
    DUPLICATE_INVOKE_ID = (
        "duplicate-invoke-id",
        "error",
        "Two invoked actors that can be active together share an id.",
    )
    DUPLICATE_SYSTEM_ID = (
        "duplicate-system-id",
        "error",
        "Two actors that can be active together share a systemId.",
    )
    # root extras
    CONTEXT_IS_CODE = (
        "context-is-code",
        "error",
        "The context is program text that an exporter could not turn into data.",
    )
    SCHEMA_SHAPE = "schema-shape", "error", "Something in `schemas` has the wrong form."
    SCHEMA_DIALECT = "schema-dialect", "error", "A `$schema` names a dialect that is not known."
    SCHEMA_INVALID = "schema-invalid", "error", "An entry of `schemas` is not a valid JSON Schema."
    SCHEMA_REFERENCE = "schema-reference", "error", "A `$ref` in `schemas` leads nowhere; nothing is fetched."
    # upgrading from version 4
    UPGRADE_UNSUPPORTED = (
        "upgrade-unsupported",
        "error",
        "A version 4 feature that cannot be rewritten for version 5.",
    )
    UPGRADE_REVIEW = "upgrade-review", "warning", "A rewrite whose behaviour a person should look at."

    def __init__(self, slug: str, severity: Severity, meaning: str) -> None:
        self.slug = slug
        self.severity: Severity = severity
        self.meaning = meaning

    @classmethod
    def of(cls, slug: str) -> Code:
        """The code with this slug."""
        return next(code for code in cls if code.slug == slug)


def problems_page() -> str:
    """The text of ``docs/reference/problems.md``."""
    lines = [
        "# Problems",
        "",
        "Every problem carries a code, a JSON pointer, a sentence and mostly a hint.",
        "Errors stop a machine from loading under the strict reading; warnings do not.",
        "",
        "| code | severity | meaning |",
        "|---|---|---|",
    ]
    for code in Code:
        meaning = code.meaning.replace("|", "\\|")
        lines.append(f"| `{code.slug}` | {code.severity} | {meaning} |")
    return "\n".join(lines) + "\n"
