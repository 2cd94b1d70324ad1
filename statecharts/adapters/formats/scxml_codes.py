"""Every code a problem of an SCXML document can carry.

An *error* breaks a rule of the W3C Recommendation; strict reading refuses it.
Some errors leave a document that can still be run one way only (an unknown
attribute, a delay that cannot be read): loose reading turns these into
warnings. A *fatal* one is refused by both.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

Weight = Literal["fatal", "error", "warning"]


class ScxmlCode(Enum):
    """A kind of problem: ``slug`` as users see it, its ``weight`` and one line of ``meaning``."""

    # reading the text
    XML_SYNTAX = "xml-syntax", "fatal", "The text is not well-formed XML."
    DOCTYPE = "doctype", "fatal", "A DOCTYPE; documents cannot define entities or name external ones."
    TOO_LARGE = "too-large", "fatal", "The text is longer than the limit."
    TOO_DEEP = "too-deep", "fatal", "Elements nest more deeply than the limit."
    NOT_SCXML = "not-scxml", "fatal", "The root element is not `scxml`."
    NO_NAMESPACE = "no-namespace", "warning", "The root element is in no namespace; it is read as SCXML's."
    WRONG_NAMESPACE = "wrong-namespace", "error", "The root element is not in the SCXML namespace."
    # elements and attributes
    UNKNOWN_ELEMENT = "unknown-element", "error", "An element that SCXML does not have."
    MISPLACED_ELEMENT = "misplaced-element", "error", "An element at a place where SCXML does not allow it."
    REPEATED_ELEMENT = "repeated-element", "error", "An element that may occur only once occurs again."
    MISSING_ELEMENT = "missing-element", "fatal", "An element lacks a child it cannot do without."
    UNKNOWN_ATTRIBUTE = "unknown-attribute", "error", "An attribute that the element does not have."
    MISSING_ATTRIBUTE = "missing-attribute", "fatal", "An element lacks an attribute it cannot do without."
    EXCLUSIVE = (
        "mutually-exclusive",
        "error",
        "Attributes or children that exclude each other are both there.",
    )
    STRAY_TEXT = "stray-text", "error", "Text where only elements may stand."
    BAD_VALUE = "bad-value", "error", "An attribute has a value that it does not take."
    BAD_ID = "bad-id", "error", "An id that is not an XML name, so that it cannot be a target."
    BAD_DELAY = "bad-delay", "error", "A delay that is not a duration."
    BARE_DELAY = "bare-delay", "warning", "A delay without a unit; it counts milliseconds."
    BAD_DESCRIPTOR = "bad-descriptor", "warning", "An event descriptor that no event can match."
    BAD_EVENT_NAME = "bad-event-name", "error", "An event name that is empty or holds a space."
    VERSION = "scxml-version", "warning", "The attribute `version` is not `1.0`."
    UNKNOWN_DATAMODEL = "unknown-datamodel", "error", "A datamodel that is not known here."
    BAD_ACTION = "bad-action", "fatal", "A named action without a type, or with params that are not JSON."
    # states and transitions
    NO_STATES = "no-states", "fatal", "The document has no state."
    DUPLICATE_ID = "duplicate-id", "fatal", "Two states have the same id."
    UNKNOWN_TARGET = "unknown-target", "fatal", "A target names no state."
    ILLEGAL_TARGETS = "illegal-targets", "fatal", "Targets of one transition cannot be active together."
    UNKNOWN_INITIAL = "unknown-initial", "fatal", "An initial state is not below the state that names it."
    INITIAL_WITHOUT_STATES = "initial-without-states", "error", "`initial` on a state without children."
    BAD_INITIAL = "bad-initial", "error", "The transition of `initial` has an event or a condition."
    BAD_HISTORY = "bad-history", "fatal", "A history state whose default does not lie below its parent."
    DEEP_SHALLOW = "deep-default", "warning", "A shallow history whose default is no child of its parent."
    HISTORY_CONDITION = "history-condition", "error", "The default of a history has an event or a condition."
    EMPTY_TRANSITION = "empty-transition", "warning", "A transition without event, condition and target."
    ROOT_TRANSITION = "root-transition", "warning", "A transition of the document itself; it is not read."
    # executable content
    BRANCH_ORDER = "branch-order", "fatal", "`elseif` or `else` after `else`."
    INTERNAL_DELAY = "internal-delay", "error", "A delay on an event for the internal queue."
    FINALIZE_SENDS = "finalize-sends", "error", "`finalize` sends or raises an event."

    # an exported XState machine that is read again
    BAD_EXTENSION = (
        "bad-extension",
        "fatal",
        "An attribute of `urn:statecharts` does not hold what it should.",
    )
    NOT_XSTATE = "not-xstate", "error", "Something in the text of an XState machine that XState cannot say."
    GUARD_FROM_COND = "guard-from-cond", "warning", "A new condition became the name of a guard."
    EDIT_NOT_READ = "edit-not-read", "warning", "A part of plain SCXML was changed that does not count here."

    def __init__(self, slug: str, weight: Weight, meaning: str) -> None:
        self.slug = slug
        self.weight: Weight = weight
        self.meaning = meaning
