"""How the durable runtime calls the outside world for an actor or an action."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from .errors import UsageError

DONE, RUNNING, NOT_DONE, UNKNOWN = "done", "running", "not_done", "unknown"
"""What a probe may answer."""


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """What the receiver knows of a key. ``status``: ``done``, ``running``, ``not_done`` or ``unknown``; ``result`` with ``done``."""

    status: str
    result: Any = None

    def __post_init__(self) -> None:
        if self.status not in (DONE, RUNNING, NOT_DONE, UNKNOWN):
            raise UsageError(f"a probe answers done, running, not_done or unknown, not {self.status!r}")


Probe = Callable[[str], ProbeAnswer | Awaitable[ProbeAnswer]]


@dataclass(frozen=True, slots=True)
class EffectPolicy:
    """What is known of a call, so that nothing is silently done twice.

    ``key``: ``(input) -> str`` for an actor, ``(context, event, params) -> str``
    for an action; what the receiver can tell repetitions by. Without it the
    effect's own id is the key. ``idempotent``: the receiver honours the key, so
    a call may be repeated. ``not_done``: exceptions that say for certain that
    nothing happened. Only in those two cases is a call made again, ``attempts``
    times in all, after a pause of ``backoff`` ms that doubles up to
    ``max_backoff``; anything else that goes wrong once the call has begun ends
    as UNKNOWN. ``timeout`` (ms) is that of one call and must be shorter than
    the lease; ``deadline`` (ms) that of the effect from its birth. ``ordered``:
    actions of one instance run one after the other. ``probe``: asks the
    receiver what it knows of a key.
    """

    key: Callable[..., str] | None = None
    idempotent: bool = False
    not_done: tuple[type[BaseException], ...] = ()
    attempts: int = 1
    backoff: int = 1_000
    max_backoff: int = 300_000
    timeout: int = 30_000
    deadline: int | None = None
    ordered: bool = True
    probe: Probe | None = None

    def __post_init__(self) -> None:
        for name in ("attempts", "timeout", "backoff", "max_backoff"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise UsageError(f"{name} of an effect is a whole number of at least 1, not {value!r}")
        if self.deadline is not None and (type(self.deadline) is not int or self.deadline < 1):
            raise UsageError(f"deadline of an effect is a number of ms or None, not {self.deadline!r}")


NO_POLICY = EffectPolicy()
