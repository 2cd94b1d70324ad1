"""What XState 4 wrote that version 5 ignores, and how version 5 says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .codes import Code
from .report import Report


@dataclass(frozen=True, slots=True)
class Leftover:
    """A version 4 key and its version 5 spelling."""

    hint: str
    harmless: bool = False


_UPGRADE: Final = " `statecharts upgrade` does this for you."

_STATE: Final = {
    "onEntry": Leftover("Version 5 spells it `entry`."),
    "onExit": Leftover("Version 5 spells it `exit`."),
    "activities": Leftover("Use `invoke` with a callback actor for each activity."),
    "parallel": Leftover('Version 5 writes `"type": "parallel"`.'),
    "delimiter": Leftover("Version 5 separates path segments with `.` only; rewrite the targets."),
    "strict": Leftover(
        'Version 5 has no `strict`; add `"on": {"*": …}` to catch events that nobody expects.'
    ),
    "services": Leftover("Version 5 calls them actors; bind them in Python by the name in `src`."),
    "schema": Leftover("Version 5 calls it `schemas`, or `types`.", harmless=True),
    "tsTypes": Leftover("It only steered TypeScript; remove it.", harmless=True),
    "predictableActionArguments": Leftover("Version 5 always behaves like this; remove it.", harmless=True),
    "preserveActionOrder": Leftover("Version 5 always behaves like this; remove it.", harmless=True),
}
_TRANSITION: Final = {
    "cond": Leftover("Version 5 spells it `guard`."),
    "in": Leftover(
        'Version 5 tests this with a `stateIn` guard: `{"type": "xstate.stateIn", "params": {"state": …}}`.'
    ),
    "internal": Leftover(
        "Version 5 transitions are internal unless they say `reenter: true`: remove `internal: true`, "
        "and write `reenter: true` for `internal: false`."
    ),
    "external": Leftover("Version 5 writes `reenter: true` for an external transition."),
}
_INVOKE: Final = {
    "data": Leftover("Version 5 spells it `input`."),
    "autoForward": Leftover(
        "Version 5 has no automatic forwarding; forward the events with `xstate.forwardTo`."
    ),
    "forward": Leftover("Version 5 has no automatic forwarding; forward the events with `xstate.forwardTo`."),
    "sync": Leftover("Version 5 follows a child's snapshots with `onSnapshot`."),
}
_TABLES: Final = {
    "a state": _STATE,
    "a machine": _STATE,
    "a transition": _TRANSITION,
    "an initial transition": _TRANSITION,
    "a route": _TRANSITION,
    "an invoked actor": _INVOKE,
}
_FINAL_DATA: Final = Leftover("Version 5 spells it `output`.")

_EVENT_PREFIXES: Final = (
    ("done.invoke.", "xstate.done.actor."),
    ("done.state.", "xstate.done.state."),
    ("error.platform.", "xstate.error.actor."),
)
_NEVER_SENT: Final = {
    "xstate.init": "The initial event selects no transition; use `entry`.",
    "xstate.stop": "A stopped actor takes no transition; do the cleaning up where the actor is stopped.",
    "xstate.update": "Version 5 sends `xstate.snapshot.<id>`; use `onSnapshot` of the invoked actor.",
    "error.execution": "XState has no such event: an action that raises ends the actor.",
    "error.communication": "XState has no such event: an action that raises ends the actor.",
}

V4_ACTIONS: Final = {
    "xstate.send": "Use `xstate.raise` for the machine itself and `xstate.sendTo` for another actor.",
    "xstate.choose": "Write the alternatives as guarded transitions, or bind an action made with `enqueue` in Python.",
    "xstate.pure": "Bind an action made with `enqueue` in Python.",
    "xstate.start": "Use `invoke`, or `xstate.spawnChild`.",
    "xstate.stop": "Version 5 spells it `xstate.stopChild`.",
    "xstate.invoke": "Use `invoke` of the state.",
    "xstate.error": "Version 5 cannot escalate by an action; bind an action that raises.",
    "xstate.update": "Version 5 follows a child's snapshots with `onSnapshot`.",
    "xstate.respond": "Version 5 sends back with `xstate.sendTo`.",
    "xstate.escalate": "Version 5 cannot escalate by an action; bind an action that raises.",
    "xstate.sendUpdate": "Version 5 follows a child's snapshots with `onSnapshot`.",
}


def report_leftover(report: Report, level: str, key: str, value: object, pointer: str, extra: str) -> bool:
    """Report ``key`` if version 4 had it at this level; whether it did."""
    if key == "data" and extra == "final":
        found: Leftover | None = _FINAL_DATA
    else:
        found = _TABLES.get(level, {}).get(key)
    if found is None:
        return False
    harmless = found.harmless or (key in ("strict", "parallel") and not value)
    if harmless:
        report.add(
            Code.V4_LEFTOVER_HARMLESS,
            pointer,
            f"`{key}` is an XState 4 setting; version 5 ignores it.",
            found.hint,
        )
    else:
        report.add(
            Code.V4_LEFTOVER, pointer, f"`{key}` is XState 4; version 5 ignores it.", found.hint + _UPGRADE
        )
    return True


def v5_event_name(name: str) -> str | None:
    """The version 5 name of an event that only version 4 sends, or None."""
    for old, new in _EVENT_PREFIXES:
        if name.startswith(old) and len(name) > len(old):
            return new + name[len(old) :]
    if name.startswith("xstate.after(") and ")" in name:
        delay, _, rest = name[len("xstate.after(") :].partition(")")
        if rest.startswith(("#", ".")) and len(rest) > 1:
            return f"xstate.after.{delay}.{rest[1:]}"
    return None


def check_event_name(report: Report, name: str, pointer: str) -> None:
    """Report a descriptor that names an event version 5 never sends."""
    renamed = v5_event_name(name)
    if renamed is not None:
        report.add(
            Code.V4_EVENT_NAME,
            pointer,
            f"Version 5 never sends `{name}`; that is XState 4's name.",
            f"Version 5 sends `{renamed}`; its data is in `output` or `error`.{_UPGRADE}",
        )
    elif name in _NEVER_SENT:
        report.add(Code.EVENT_NEVER_SENT, pointer, f"`{name}` never selects a transition.", _NEVER_SENT[name])
