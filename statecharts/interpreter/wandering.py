"""Events in configurations that are one of very many: go on by regions, and keep of them nothing but themselves.

A chart with eight regions of four states is seldom twice in the same of its
65,536 configurations. What an event does there is found by the few states
that matter for it (:mod:`.regions`), the next configuration by its bit set,
and the order of active nodes is a text in which a node changes its place
without a look at each of the others (:func:`.configuration.order_text`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..values import FrozenDict
from .configuration import Configuration, order_text
from .failures import failed
from .regions import Local
from .snapshot import Snapshot

if TYPE_CHECKING:
    from .regions import Answers, Regions

MOVE_SIZE: Final = 150
MOST_MOVES: Final = 256
"""Of one event type so many are kept; where there are more, they are found in two look-ups."""


def wander(snapshot: Snapshot[Any], event: FrozenDict, answers: Answers, regions: Regions) -> Any:
    """What :func:`.routes.leap` answers, for an event that only selects transitions."""
    configuration = snapshot._configuration
    mask = configuration.mask
    local = answers.moves.get(mask & answers.span)
    if local is None:
        found = _choose(snapshot, event, answers, regions)
        if not isinstance(found, Local):
            return found
        local = found
    updates = local.updates
    assert updates is not None
    after = mask & local.stays | local.enters
    program = configuration.program
    target = program.known.get(after)
    if target is None:
        target = program.configuration(after)
    if target.always:
        return None if program.session_bindings is not None else local.selected
    context = snapshot._context
    for update in updates:
        try:
            context = update.fresh(context, event)
        except Exception as error:
            return failed(snapshot, update, error)
    order = snapshot._order
    if not regions.keeps_order:
        order = None
    elif after != mask:
        if not isinstance(order, str):
            order = order_text(configuration.nodes if order is None else order)
        for node in local.left:
            order = order.replace(node, "")
        order += local.entered
    return Snapshot(target, order, context, snapshot._rest, snapshot._sequence + 1)


def _choose(snapshot: Snapshot[Any], event: FrozenDict, answers: Answers, regions: Regions) -> Any:
    """The one :class:`Local` to go by, if all of it is known; else what :func:`wander` answers."""
    configuration = snapshot._configuration
    program = configuration.program
    asked = configuration.mask & answers.mask
    selector = answers.selectors.get(asked)
    if selector is None:
        if asked:
            selector = regions.selector(configuration, event["type"])
        if selector is None:
            return None if configuration.always else _unmoved(snapshot)
    selected = selector.fixed
    is_session = program.session_bindings is not None
    if selected is None:
        if is_session:  # its conditions see more than context and event
            return None
        try:
            selected = program.selection.evaluate(selector, snapshot._context, event, configuration)
        except Exception as error:
            return failed(snapshot, None, error)
    if len(selected) == 1:
        local = regions.local(configuration, selected[0])
        if local is not None and local.updates is not None:
            if selector.fixed is not None:
                _keep(configuration, answers, local)
            return local
    return None if is_session else selected


def _unmoved(snapshot: Snapshot[Any]) -> Snapshot[Any]:
    """After an event that nobody takes."""
    return Snapshot(
        snapshot._configuration, snapshot._order, snapshot._context, snapshot._rest, snapshot._sequence + 1
    )


def _keep(configuration: Configuration, answers: Answers, local: Local) -> None:
    """Find ``local`` at once when the event comes again, wherever the same states of its region are active."""
    if local.span & ~answers.span:
        answers.span |= local.span  # before the moves: a key of more states is right among those of fewer
        answers.moves = {}
    if len(answers.moves) < MOST_MOVES:
        configuration.program.memo.charge(MOVE_SIZE + configuration.program.bits // 7)
        answers.moves[configuration.mask & answers.span] = local
