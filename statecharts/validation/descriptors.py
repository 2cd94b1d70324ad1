"""Event descriptors: the keys of ``on``."""

from __future__ import annotations

from .codes import Code
from .leftovers import check_event_name
from .outline import Node, Outline
from .report import Report

_DONE_STATE = "xstate.done.state."


def check_descriptor(report: Report, outline: Outline, node: Node, name: str, pointer: str) -> None:
    """Report a descriptor that no event matches, or that version 5 refuses."""
    if not name:
        report.add(
            Code.NULL_EVENT,
            pointer,
            'The event "" was XState 4\'s way of writing an eventless transition; version 5 refuses it.',
            "Move the transition to `always` of the same state.",
        )
        return
    if "*" in name and name != "*" and not (name.endswith(".*") and name.count("*") == 1):
        report.add(
            Code.INFIX_WILDCARD,
            pointer,
            f"`{name}` matches no event: a wildcard is `*` alone, or the last token, as in `a.b.*`.",
            _wildcard_hint(name),
        )
        return
    check_event_name(report, name, pointer)
    if name.startswith(_DONE_STATE) and name != f"{_DONE_STATE}*":
        wanted = name[len(_DONE_STATE) :]
        if wanted not in outline.ids and "*" not in wanted:
            report.add(
                Code.EVENT_NEVER_SENT,
                pointer,
                f'`{name}` is never sent: no state has the id "{wanted}".',
                "Use `onDone` of the state, or its id.",
            )


def _wildcard_hint(name: str) -> str:
    head = name.split("*", 1)[0]
    tokens = head.split(".")
    prefix = ".".join(tokens[:-1])
    return f"Use `{prefix}.*` and a guard." if prefix else "Use `*` and a guard."
