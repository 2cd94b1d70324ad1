"""What must hold between the states of an SCXML document (sections 3.2 to 3.11)."""

from __future__ import annotations

from itertools import pairwise

from .scxml_codes import ScxmlCode
from .scxml_outline import Outline, Reference, StateElement
from .scxml_reading import Reading
from .scxml_vocabulary import NAME


def check_outline(reading: Reading, outline: Outline) -> None:
    """Ids, targets and initial states of one document; problems go to ``reading``."""
    root = outline.root
    if not any(state.kind != "history" for state in root.children):
        message = "The document has no state; <scxml> needs at least one <state>, <parallel> or <final>."
        reading.report(ScxmlCode.NO_STATES, root.element, root.pointer, message)
    by_id = _by_id(reading, outline)
    for reference in outline.references:
        _check_reference(reading, reference, by_id)


def _by_id(reading: Reading, outline: Outline) -> dict[str, StateElement]:
    by_id: dict[str, StateElement] = {}
    for state in outline.states:
        _check_id(reading, state)
        first = by_id.setdefault(state.id, state)
        if first is not state:
            message = (
                f"The id {state.id!r} is already that of the <{first.kind}> on line {first.element.line}."
            )
            reading.report(
                ScxmlCode.DUPLICATE_ID, state.element, state.pointer, message, "Rename one of the two."
            )
    return by_id


def _check_id(reading: Reading, state: StateElement) -> None:
    """An id is an XML name: an id with a space, say, could never be a target."""
    name = state.element.attributes.get("id")
    if name is not None and NAME.match(name) is None:
        message = f"{name!r} cannot be an id."
        hint = "An id starts with a letter or `_` and goes on with letters, digits, `_`, `-` and `.`."
        reading.report(ScxmlCode.BAD_ID, state.element, state.pointer, message, hint)


def _check_reference(reading: Reading, reference: Reference, by_id: dict[str, StateElement]) -> None:
    element, pointer = reference.element, reference.pointer
    if not reference.ids:
        attribute = "initial" if "initial" in element.attributes else "target"
        message = f"`{attribute}` of <{element.name}> is empty."
        reading.report(ScxmlCode.UNKNOWN_TARGET, element, pointer, message, "Name a state, or leave it out.")
    found = []
    for name in reference.ids:
        state = by_id.get(name)
        if state is None:
            guess = reading.suggest(name, by_id)
            hint = f"Did you mean {guess!r}?" if guess is not None else None
            message = f"There is no state with the id {name!r}."
            reading.report(ScxmlCode.UNKNOWN_TARGET, element, pointer, message, hint)
        elif _is_well_placed(reading, reference, state):
            found.append(state)
    _check_together(reading, reference, found)


def _is_well_placed(reading: Reading, reference: Reference, state: StateElement) -> bool:
    source = reference.source
    if reference.role == "initial":
        if source in state.ancestors():
            return True
        message = f"The initial state {state.id!r} is not inside {_shown(source)}."
        reading.report(
            ScxmlCode.UNKNOWN_INITIAL, reference.element, reference.pointer, message, _inside_hint(source)
        )
        return False
    if reference.role == "history":
        return _is_default(reading, reference, state)
    return True


def _is_default(reading: Reading, reference: Reference, state: StateElement) -> bool:
    """SCXML 3.10.2: defaults of a history lie below its parent; of a shallow one, they are its children."""
    history = reference.source
    parent = history.parent
    assert parent is not None
    if parent not in state.ancestors() or state is history:
        message = f"The default {state.id!r} of the history {history.id!r} is not inside {_shown(parent)}."
        reading.report(
            ScxmlCode.BAD_HISTORY, reference.element, reference.pointer, message, _inside_hint(parent)
        )
        return False
    if history.element.attributes.get("type", "shallow") == "shallow" and state.parent is not parent:
        message = f"The history {history.id!r} is shallow, and its default {state.id!r} is no child of {_shown(parent)}."
        hint = 'Name a child, or write `type="deep"`.'
        reading.report(ScxmlCode.DEEP_SHALLOW, reference.element, reference.pointer, message, hint)
    return True


def _check_together(reading: Reading, reference: Reference, states: list[StateElement]) -> None:
    """SCXML 3.11: with their ancestors the targets form a legal configuration.

    In document order it is enough to look at neighbours: where any two are in
    different children of a state, two neighbours are.
    """
    ordered = sorted(set(states), key=lambda state: state.order)
    for left, right in pairwise(ordered):
        meeting = _meeting(left, right)
        if meeting is not None and meeting.kind != "parallel":
            message = (
                f"{left.id!r} and {right.id!r} cannot be active together: "
                f"they are in different children of {_shown(meeting)}."
            )
            hint = "Targets of one transition lie in different regions of a <parallel>."
            reading.report(ScxmlCode.ILLEGAL_TARGETS, reference.element, reference.pointer, message, hint)


def _meeting(left: StateElement, right: StateElement) -> StateElement | None:
    """The state in whose different children the two lie; None when one lies in the other, or they are one."""
    above = {left, *left.ancestors()}
    if right in above or left in right.ancestors():
        return None
    return next(state for state in right.ancestors() if state in above)


def _shown(state: StateElement) -> str:
    return f"<{state.kind}> {state.id!r}" if state.parent is not None else "the document"


def _inside_hint(state: StateElement) -> str | None:
    names = [child.id for child in state.children if child.kind != "history"]
    if not names:
        return None
    shown = ", ".join(repr(name) for name in names[:6])
    return f"Its children are {shown}{', …' if len(names) > 6 else ''}."
