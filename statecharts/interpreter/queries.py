"""Questions about a snapshot that do not change anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..events import to_event
from ..nodes import StateNode, Transition
from .compiler import guard_name
from .snapshot import EventOption, Snapshot

if TYPE_CHECKING:
    from .selection import Selector

OVER = {"done": "is done", "error": "has failed", "stopped": "was stopped"}
INTERNAL = "xstate."


def next_transitions(snapshot: Snapshot[Any]) -> list[Transition]:
    """Every transition some active state declares, leaf first, each state once; guards are not asked.

    Per state in table order, then ``always`` (XState ``getNextTransitions``).
    """
    found: list[Transition] = []
    seen: set[str] = set()
    for leaf in snapshot.nodes:
        if not leaf.is_leaf:
            continue
        node: StateNode | None = leaf
        while node is not None:
            if node.id not in seen:
                seen.add(node.id)
                for transitions in node.transitions.values():
                    found.extend(transitions)
                found.extend(node.always or ())
            node = node.parent
    return found


def next_events(snapshot: Snapshot[Any]) -> tuple[EventOption, ...]:
    """Every event an active state names, innermost first: enabled now and, if not, who refused.

    Events that the machine's platform makes itself (``xstate.…``, in SCXML
    ``done.…`` and ``error.…``) are left out.
    """
    options: dict[str, EventOption] = {}
    is_session = snapshot._program.session_bindings is not None
    for leaf in snapshot._configuration.leaves:
        for node in (leaf, *leaf.proper_ancestors()):
            for descriptor in node.transitions:
                if descriptor not in options and not _is_platform(descriptor, is_session):
                    options[descriptor] = event_option(snapshot, to_event(descriptor))
    return tuple(options.values())


def _is_platform(descriptor: str, is_session: bool) -> bool:
    if is_session:
        return descriptor.partition(".")[0] in ("done", "error")
    return descriptor.startswith(INTERNAL)


def event_option(snapshot: Snapshot[Any], event: Any) -> EventOption:
    """Whether ``event`` would do something now, and why not."""
    configuration, context, kind = snapshot._configuration, snapshot._context, event["type"]
    if snapshot._status != "active":
        return EventOption(kind, False, (), f"the machine {OVER.get(snapshot._status, 'is not active')}")
    selection = snapshot._program.selection
    refused: list[str] = []
    selector = selection.selector(configuration, kind)
    try:
        found = selection.evaluate(selector, context, event, configuration) if selector else ()
        if not found and selector:
            _name_refusals(selector, refused)
    except Exception as error:
        return EventOption(kind, None, (), f"a guard needs the event's data: {error}")
    if any(t.targets is not None or t.actions for t in found):
        return EventOption(kind, True, (), None)
    if found:
        return EventOption(kind, False, (), f"forbidden in {found[0].source.id}")
    reason = f"guard {', '.join(refused)} said no" if refused else "no transition"
    return EventOption(kind, False, tuple(refused), reason)


def _name_refusals(selector: Selector, refused: list[str]) -> None:
    """The guards of all candidates: nothing was selected, so each of them said no."""
    for child in selector.children:
        _name_refusals(child, refused)
    for candidate in selector.candidates:
        transition = candidate.transition
        refused.append(guard_name(transition.guard) or f"(inline) at {transition.pointer}")
