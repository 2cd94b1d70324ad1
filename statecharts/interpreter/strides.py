"""Strides: whole macrosteps that are known before they are taken.

A stride follows the microsteps from a configuration to the next rest, with
the planner's plans, as long as nothing on the way is open: no guard, no
child, no end of the machine (:mod:`.ways` finds it). What it keeps is the
outcome: where it leads, which updates of the context run with which event,
what history is remembered, how the order of active nodes changes. One with
effects is a :class:`.courses.Course`.
"""

from __future__ import annotations

from typing import Final

from .configuration import Configuration, KeptOrder, Order
from .planner import Plan
from .updates import Update

STRIDE_SIZE: Final = 260
"""Bytes of a stride and its place in a dict: an estimate, rounded up."""
FIXED: Final = 0
"""The kind of a stride that an event takes whatever guards and history say."""


class Stride:
    """A macrostep to its end.

    ``target``: where it leads. ``updates``: updates of the context, in order
    (those that see another event than the one that came in are
    :class:`.updates.Later`). ``records``:
    what history states remember from now on, or ``None``. ``moves``: the
    microsteps that change the order of active nodes (with the configurations
    they start from); none when that order need not be kept. ``asks``: the
    history states whose memory this stride goes by. ``kind`` is for
    :mod:`.routes`. What an event looks at stands in few places on purpose:
    a large chart does not fit into the processor's cache.
    """

    __slots__ = ("asks", "is_move", "keeps_order", "kind", "moves", "records", "target", "updates")

    def __init__(self, target: Configuration, kind: int = FIXED) -> None:
        self.kind = kind
        self.target = target
        self.is_move = False
        self.updates: tuple[Update, ...] = ()
        self.records: dict[str, Order] | None = None
        self.moves: tuple[tuple[Plan, Configuration], ...] = ()
        self.keeps_order = False
        self.asks: tuple[str, ...] = ()

    def order_after(self, order: KeptOrder) -> KeptOrder:
        """The order of active nodes after it, where it has to be kept."""
        for plan, before in self.moves:
            order = plan.order_after(order, before)
        return order

    @property
    def size(self) -> int:
        """Bytes that keeping it takes: an estimate, rounded up."""
        return STRIDE_SIZE
