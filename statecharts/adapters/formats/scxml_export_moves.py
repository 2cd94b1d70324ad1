"""Transitions that another SCXML engine takes differently: domains, order, events."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...events import descriptor_matches
from ...validation.outline import Node
from .scxml_chart import Chart
from .scxml_export_codes import ExportCode, Finding, Found
from .scxml_export_states import Arrow


def move_warnings(_chart: Chart, arrows: Sequence[Arrow]) -> Found:
    """Transitions that leave or enter other states elsewhere."""
    for arrow in arrows:
        plain = arrow.plain
        targets = arrow.targets
        reenter = bool(arrow.member("reenter"))
        if arrow.group == "always" and _may_come_back(arrow.node, targets or ()):
            yield Finding(
                ExportCode.ALWAYS_LOOP,
                arrow.pointer,
                "This `always` can end in the states it came from. XState then goes on only if the context changed; "
                "SCXML takes it again as long as its condition holds.",
            )
        if not targets:
            continue
        is_self = not reenter and all(target is arrow.node for target in targets)
        if is_self and arrow.node.kind == "compound":
            yield Finding(
                ExportCode.SELF_TARGET,
                arrow.pointer,
                f"SCXML cannot enter the children of {arrow.node.id!r} anew without naming one; the initial child "
                "is named, and actions of `initial` do not run.",
            )
        elif plain.targets is not None:
            theirs = _scxml_domain(arrow.node, targets, plain.is_internal)
            ours = _xstate_domain(arrow.node, targets, reenter)
            if ours is not theirs:
                yield Finding(
                    ExportCode.DOMAIN,
                    arrow.pointer,
                    f"XState leaves and enters what is {_within(ours)}, SCXML what is {_within(theirs)}: "
                    "its domain is never a parallel state.",
                )


def _may_come_back(source: Node, targets: Sequence[Node]) -> bool:
    """Whether ``source`` can be active again, or still, once a transition of it has been taken."""
    for place in map(_place, targets):
        around = [source, *source.ancestors()]
        if place not in around and source not in place.ancestors():
            meeting = next(each for each in place.ancestors() if each in around)
            if meeting.kind != "parallel":
                return False
    return True


def _within(node: Node | None) -> str:
    return f"inside {node.id!r}" if node is not None else "in the whole machine, itself included"


def _place(target: Node) -> Node:
    """Where a target leads at least: a history state stands for something below its parent."""
    return target.parent if target.kind == "history" and target.parent is not None else target


def _xstate_domain(source: Node, targets: Sequence[Node], reenter: bool) -> Node | None:
    if not reenter and all(each is source or source in each.ancestors() for each in targets):
        return source
    places = [*map(_place, targets), source]
    head, *tail = places
    for ancestor in head.ancestors():
        if all(ancestor in each.ancestors() for each in tail):
            return ancestor
    root = source if source.parent is None else list(source.ancestors())[-1]
    return None if reenter else root


def _scxml_domain(source: Node, targets: Sequence[Node], is_internal: bool) -> Node | None:
    """The least common compound ancestor (SCXML appendix D, getTransitionDomain)."""
    if is_internal and source.kind == "compound":
        return source
    for ancestor in source.ancestors():
        if ancestor.kind == "compound" and all(ancestor in each.ancestors() for each in targets):
            return ancestor
    return None


def _overlap(left: str, right: str) -> bool:
    """Whether some event matches both descriptors."""
    if "*" in (left, right):
        return True
    return descriptor_matches(left.removesuffix(".*"), right) or descriptor_matches(
        right.removesuffix(".*"), left
    )


def event_warnings(chart: Chart, arrows: Sequence[Arrow]) -> Found:
    """Events that are handled in another order, by others as well, or under another name elsewhere."""
    handlers = [arrow for arrow in arrows if arrow.group == "on"]
    yield from _parallel_handlers(handlers)
    longer: dict[str, str] = {}
    for arrow in handlers:
        tokens = [] if arrow.is_wildcard else arrow.key.split(".")
        for end in range(1, len(tokens)):
            longer.setdefault(".".join(tokens[:end]), arrow.key)
    for arrow in handlers:
        if not arrow.is_wildcard and arrow.key in longer:
            yield Finding(
                ExportCode.EXACT_DESCRIPTOR,
                arrow.pointer,
                f"In SCXML {arrow.key!r} is also taken for {longer[arrow.key]!r} and every other event that "
                "starts with it.",
            )
        plain = chart.event_name(arrow.key)
        if plain != arrow.key:
            yield Finding(
                ExportCode.EVENT_NAME,
                arrow.pointer,
                f"The event {arrow.key!r} is called {plain!r} in SCXML.",
            )
        elif arrow.key.startswith("xstate."):
            message = f"Other engines never raise {arrow.key!r}, an event of XState's own."
            yield Finding(ExportCode.EVENT_NAME, arrow.pointer, message)
    yield from _reordered(handlers)


def _parallel_handlers(handlers: Sequence[Arrow]) -> Found:
    """XState asks a parallel state, and those around it, only when no region handled the event."""
    by_node: dict[Node, list[Arrow]] = {}
    for arrow in handlers:
        by_node.setdefault(arrow.node, []).append(arrow)
    for inner in handlers:
        parallel = None
        for ancestor in inner.node.ancestors():
            if parallel is None and ancestor.kind == "parallel":
                parallel = ancestor
            for outer in by_node.get(ancestor, ()) if parallel is not None else ():
                if _overlap(outer.key, inner.key):
                    assert parallel is not None
                    yield Finding(
                        ExportCode.PARALLEL_HANDLER,
                        outer.pointer,
                        f"{inner.node.id!r} handles {inner.key!r} too. XState then does not ask {ancestor.id!r}; "
                        f"SCXML does for every other region of {parallel.id!r}, and takes both if they can be "
                        "taken together.",
                    )


def _reordered(handlers: Sequence[Arrow]) -> Found:
    for before, after in pairwise(handlers):
        if before.node is after.node and before.rank > after.rank:
            yield Finding(
                ExportCode.WILDCARD_ORDER,
                before.pointer,
                f"SCXML takes the first transition that matches, so {before.key!r} is written after "
                f"{after.key!r}, which XState prefers. Keep that order when you edit the text.",
            )
