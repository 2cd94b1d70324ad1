"""The envelope as JSON text, written and read without the objects in between.

That is for a lone running machine: no children, no timers, nothing that
waits. All others go through the objects (:mod:`.envelope`), with the same
text. As with :mod:`.text_reading`, a text that is not exactly as it is written
here is not read here.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..errors import UsageError
from ..json_text import dumps, scan
from ..machine import Machine
from . import envelope
from .program import program_of
from .snapshot import Snapshot
from .system import RUNNING, System
from .text_reading import UNREADABLE, parts_at
from .texts import BEFORE, running_text, seal_text, sealed_text

_BEHIND: Final = re.compile(
    r',"actors":\[\{"path":\[\],"session":0,"status":"running","mailbox":\[\],"sequence":(0|[1-9][0-9]{0,14})'
    r'(,"order":\[\])?\}\],"timers":\[\],"next":\{"session":(0|[1-9][0-9]{0,14}),"timer":(0|[1-9][0-9]{0,14})\}\}\Z'
)
_EXACT: Final = 2**53


Sealed = tuple[Snapshot[Any], float, int, int]
"""A lone running machine: its snapshot, when it was saved, and where the numbers of actors and timers go on."""


# ----------------------------------------------------------------- writing


def system_text(system: System) -> str:
    """The text of :func:`.envelope.seal`."""
    root = system.root
    snapshot = root.snapshot
    timers = system._timers
    if (
        isinstance(snapshot, Snapshot)
        and system.idle
        and root.status == RUNNING
        and root.open
        and not root.begun
        and not root.mailbox
        and (timers is None or not timers.pending)
        and (text := running_text(snapshot))
    ):
        handles = 0 if timers is None else timers.next_handle
        return sealed_text(snapshot, text, dumps(system.now), root.ref.session, system.next_session, handles)
    return dumps(envelope.seal(system))


# ----------------------------------------------------------------- reading


def sealed_in_text(machine: Machine[Any, Any], text: str) -> Sealed | None:
    """What ``text`` holds, or None when it is not exactly the text of an envelope of a lone running machine."""
    program = program_of(machine)
    seal = program.seal or seal_text(program)
    if not text.startswith(seal) or program.datamodel is not None:
        return None
    try:
        now, at = scan(text, len(seal))
    except UNREADABLE:
        return None
    if not text.startswith(BEFORE, at) or not _is_time(now):
        return None
    found = parts_at(program, text, at + len(BEFORE))
    behind = None if found is None else _BEHIND.match(text, found[3])
    if found is None or behind is None:
        return None
    (configuration, order), context, rest, _ = found
    sequence, is_rebuilt, session, timer = behind.groups()
    snapshot: Snapshot[Any] = Snapshot(
        configuration, order if is_rebuilt else None, context, rest, int(sequence)
    )
    return snapshot, float(now), int(session), int(timer)


def _is_time(now: Any) -> bool:
    return type(now) in (int, float) and -_EXACT <= now <= _EXACT


def require_lone(system: System, what: str) -> None:
    """Raise :class:`UsageError` when ``system`` needs a host to go on."""
    root = system.root
    if isinstance(root.snapshot, Snapshot) and root.snapshot._children:
        raise UsageError(f"{what} has children, which only a host can run; give it to simulate() or start()")
    if root.mailbox or (system._timers is not None and system._timers.pending):
        raise UsageError(
            f"{what} has timers or queued events, which only a host can keep; give it to simulate() or start()"
        )
