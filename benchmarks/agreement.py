"""Whether a peer went where we went. A figure of one that did not is no figure."""

from __future__ import annotations

from typing import Any

from .agent_run import agent_run
from .processes import Result


def disagreement(result: Result, reference: Result, has_context: bool) -> str | None:
    """What differs between two passes over the same events; ``None`` when nothing does.

    A peer that was given fewer events is compared where both have been.
    """
    if "trail" not in result or "trail" not in reference:
        return None
    whole = result["events"] == reference["events"]
    ours, theirs = reference["trail"], result["trail"]
    last = len(theirs) - 1
    for number, (expected, reached) in enumerate(zip(ours, theirs, strict=True)):
        if expected != reached and (number < last or whole):
            where = "at the end" if number == last else f"after event {number + 1}"
            return f"{where} it is in {reached}, ours in {expected}"
    if has_context and whole and result["context"] != reference["context"]:
        return f"its context is {result['context']}, ours {reference['context']}"
    return None


def wrong_end(result: Result) -> str | None:
    """What is wrong with the end of the support agent's run."""
    expected: Any = agent_run()["end"]
    return None if result.get("end", expected) == expected else f"it ended with {result['end']}"
