"""Documents that are plainly in order: read and built in one go.

Most documents have nothing wrong with them, and telling so takes less than
finding out what is wrong. :func:`accepted` walks the document once
(:mod:`.plainness`), lets it be built, which resolves every target, and asks
the definition what takes the whole tree to answer. Whatever is unusual is
left to :func:`~statecharts.validation.check_document`, which alone says what
is wrong: a document is accepted here only if that check would find nothing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from statecharts.definition import Definition, build_definition
from statecharts.nodes import StateNode

from .plainness import Doubt, Walk
from .report import Report
from .targets import can_coincide, clash


def accepted(document: Any, semantics: str, *, implementations_known: bool) -> Definition | None:
    """The definition of a document about which the full check has nothing to say; None when in doubt."""
    if type(document) is not dict:
        return None
    report = Report(document)
    walk = Walk(report, implementations_known)
    try:
        walk.document(document)
        if not report.is_empty:
            return None
        definition = build_definition(document, semantics=semantics)
    except Doubt:
        return None
    except Exception:  # whatever it is: read in full, the document fails of the same, or of what comes before it
        return None
    return definition if holds_together(definition, walk) else None


def holds_together(definition: Definition, walk: Walk) -> bool:
    """Whether nothing is wrong between the states of a document whose ``walk`` was without a doubt."""
    if len(definition.by_id) != len(definition.nodes):
        return False
    if walk.has_paths and walk.has_dotted_names:  # a path may be read as a name, or the other way round
        return False
    return not (
        (walk.has_histories and _is_history_astray(definition))
        or (walk.has_several_targets and _do_targets_clash(definition))
        or (walk.has_invokes and _do_actors_collide(definition))
        or (walk.has_unguarded_always and _may_go_round(definition))
    )


def _is_history_astray(definition: Definition) -> bool:
    """Whether some history state's default is nowhere, or itself."""
    return any(
        node.history_error is not None or node in (node.history_targets or ())
        for node in definition.nodes
        if node.type == "history"
    )


def _do_targets_clash(definition: Definition) -> bool:
    several = (t.targets for t in definition.transitions if t.targets is not None and len(t.targets) > 1)
    return any(clash([node for node in targets if node is not None]) is not None for targets in several)


def _do_actors_collide(definition: Definition) -> bool:
    """Whether two actors of one id, or one system id, can run at the same time."""
    uses: dict[tuple[str, str], list[StateNode]] = {}
    for node in definition.nodes:
        for invoke in node.invokes:
            uses.setdefault(("id", invoke.id), []).append(node)
            if invoke.system_id is not None:
                uses.setdefault(("systemId", invoke.system_id), []).append(node)
    return any(can_coincide(*pair) for nodes in uses.values() for pair in pairwise(nodes))


def _may_go_round(definition: Definition) -> bool:
    """Whether some eventless transition that is always taken leads to a state that has to move on as well.

    Without one there is no ring of them. With one there need not be; the full check knows.
    """
    always = [t for node in definition.nodes for t in node.always or () if t.guard is None]
    restless = {transition.source for transition in always}
    return any(
        any(node in restless for node in _entered(transition.targets[0]))
        if transition.targets
        else bool(transition.actions)
        for transition in always
        if transition.targets is None or len(transition.targets) < 2
    )


def _entered(target: StateNode | None) -> list[StateNode]:
    """What is active when ``target`` is entered by default, as far as there is only one way down."""
    while target is not None and target.type == "compound":
        targets = () if target.initial is None else target.initial.targets
        target = targets[0] if targets else None
    return [] if target is None else [target, *target.proper_ancestors()]
