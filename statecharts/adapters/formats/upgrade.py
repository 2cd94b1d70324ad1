"""Rewriting an XState 4 machine as version 5, with version 4's behaviour.

What version 5 would do differently is written out: transitions that leave
and re-enter their source get ``reenter: true``, names and places of keys
change, built-in actions take their data form. Every change is listed, and so
is everything that no rewrite can carry over.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from statecharts.errors import Problem
from statecharts.validation.codes import Code
from statecharts.validation.report import token, tokens

from .upgrade_detect import is_version_4
from .upgrade_states import upgrade_states
from .upgrade_tree import Change, Draft

__all__ = ["Change", "Upgrade", "upgrade_document"]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The version 5 ``document``, what was changed, and what a person has to look at."""

    document: dict[str, Any]
    changes: tuple[Change, ...]
    problems: tuple[Problem, ...]


def upgrade_document(document: Mapping[str, Any], *, version: Literal[4, 5] | None = None) -> Upgrade:
    """``document`` as a version 5 machine; the argument is not changed.

    ``version`` says what the document is. Without it, a document counts as
    version 4 when something in it is written as only version 4 has it. Plain
    machines can be either; of those nothing is changed, and a problem says
    so when version 4 would have behaved differently.
    """
    if version == 4 or (version is None and is_version_4(document)):
        draft = Draft(document)
        upgraded = upgrade_states(draft)
        changes = tuple(
            replace(
                change,
                pointer=_existing(document, change.pointer),
                new_pointer=_existing(upgraded, change.new_pointer),
            )
            for change in draft.changes
        )
        return Upgrade(upgraded, changes, tuple(draft.problems))
    problems: tuple[Problem, ...] = ()
    if version is None:
        problems = _ambiguous(document)
    return Upgrade(copy.deepcopy(dict(document)), (), problems)


def _existing(document: Any, pointer: str) -> str:
    """``pointer``, or the nearest place above it that ``document`` has: later rewrites may have moved things."""
    found = ""
    value = document
    for part in tokens(pointer):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, (list, tuple)) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            break
        found += token(part)
    return found


def _ambiguous(document: Mapping[str, Any]) -> tuple[Problem, ...]:
    if _has_version_5_marks(document):
        return ()
    draft = Draft(document)
    upgrade_states(draft)
    if not draft.changes:
        return ()
    return (
        Problem(
            Code.UPGRADE_REVIEW.slug,
            draft.changes[0].pointer,
            "Nothing in this document says whether it is version 4 or 5, and the two differ here; nothing was changed.",
            "Say that it is version 4 if it is.",
            Code.UPGRADE_REVIEW.severity,
        ),
    )


_VERSION_5_KEYS = frozenset(
    {"guard", "reenter", "output", "input", "onSnapshot", "systemId", "params", "route"}
)


def _has_version_5_marks(document: Mapping[str, Any]) -> bool:
    stack: list[Any] = [document]
    seen: set[int] = set()
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Mapping):
            if any(key in _VERSION_5_KEYS or str(key).startswith("xstate.") for key in item):
                return True
            stack.extend(value for key, value in item.items() if key not in ("context", "meta"))
        elif isinstance(item, (list, tuple)):
            stack.extend(item)
    return False
