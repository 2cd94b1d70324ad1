"""Snapshots as JSON text, in XState's persisted form and in our envelope, written without the objects in between.

How it begins depends on the configuration alone and is kept with it, so what
is left to write is the context. The text is that of ``dumps(snapshot.to_xstate())``,
which is what ``JSON.stringify`` makes of it under Node. An envelope's is that of ``dumps(snapshot.save())``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..json_text import dumps
from ..values import UNDEFINED, FrozenDict

if TYPE_CHECKING:
    from .configuration import Configuration
    from .program import Program
    from .snapshot import History, Snapshot

ACTIVE_STATES: Final = '{"status":"active","value":'
HISTORY: Final = ',"historyValue":'
NO_HISTORY: Final = "{}"
CONTEXT: Final = ',"context":'
END: Final = ',"children":{}}'
BEFORE: Final = ',"running":true,"snapshot":'


def running_text(snapshot: Snapshot[Any]) -> str:
    """The text of a snapshot of a running XState machine without children; of any other, an empty one."""
    context = snapshot._context
    rest = snapshot._rest
    if not rest.is_active or rest.children or type(context) is not FrozenDict:
        return ""
    configuration = snapshot._configuration
    if (
        rest.output is not UNDEFINED
        or rest.error is not UNDEFINED
        or configuration.program.datamodel is not None
    ):
        return ""
    history = dumps(history_value(rest.history)) if rest.history else NO_HISTORY
    return (
        f"{configuration.text or states_text(configuration)}{HISTORY}{history}{CONTEXT}{dumps(context)}{END}"
    )


def sealed_text(
    snapshot: Snapshot[Any], text: str, now: str, session: int, next_session: int, next_timer: int
) -> str:
    """The envelope of a lone running machine around its ``text`` (:func:`.envelope.seal`)."""
    configuration, order, said = snapshot._configuration, snapshot._order, ""
    if not configuration.is_plain or (order is not None and order != configuration.nodes):
        from .envelope import saved_order

        order_said = saved_order(snapshot)
        if order_said is not None:
            said = f',"order":{dumps(order_said)}'
    return (
        f'{configuration.program.seal or seal_text(configuration.program)}{now}{BEFORE}{text},"actors":[{{"path":[],'
        f'"session":{session},"status":"running","mailbox":[],"sequence":{snapshot._sequence}{said}}}],"timers":[],'
        f'"next":{{"session":{next_session},"timer":{next_timer}}}}}'
    )


def seal_text(program: Program) -> str:
    """What comes before the time: which machine this is of. As long as the machine's id and version, and kept with it."""
    from .envelope import identity

    program.seal = seal = f'{dumps(identity(program.machine))[:-1]},"now":'
    return seal


def history_value(history: History) -> dict[str, Any]:
    """What history states remember, in XState's form."""
    return {key: [{"id": node.id} for node in nodes] for key, nodes in history.items()}


def states_text(configuration: Configuration) -> str:
    """How the text of a running snapshot begins: all up to what history states remember. Kept."""
    program = configuration.program
    if not program.memo.keeps:
        return ACTIVE_STATES + dumps(configuration.value)
    own = program.own(configuration)
    text = own.text
    if not text:
        text = ACTIVE_STATES + dumps(configuration.value)
        program.memo.charge(size_of(text))
        program.own(configuration).text = text
    return text


def size_of(text: str) -> int:
    """Bytes that keeping ``text`` takes, rounded up."""
    return 80 + (len(text) if text.isascii() else 4 * len(text))
