"""What a person or a script can do to a running machine, as values."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..values import UNDEFINED
from .durations import span
from .readable import readable

SEND, ADVANCE, SETTLE, STOP = "send", "advance", "settle", "stop"
RESOLVE, REJECT, FEED, COMPLETE, BREAK_OFF = "resolve", "reject", "feed", "complete", "break_off"
RUN, SEND_BACK, SEND_TO = "run", "send_back", "send_to"
TO_ACTOR = (RESOLVE, REJECT, FEED, COMPLETE, BREAK_OFF, RUN, SEND_BACK, SEND_TO)
WITH_VALUE = (RESOLVE, REJECT, FEED, BREAK_OFF, SEND_BACK, SEND_TO)


class Doing(NamedTuple):
    """One thing done: the name of a method of the simulation, the actor it is about, and a value."""

    verb: str
    actor: str | None = None
    value: Any = UNDEFINED

    def to_json(self) -> dict[str, Any]:
        """As in a steps file."""
        if self.verb in (SETTLE, STOP):
            return {self.verb: True}
        if self.verb in (SEND, ADVANCE):
            return {self.verb: self.value}
        members = {self.verb: self.actor}
        if self.value is not UNDEFINED:
            members[VALUE_KEY[self.verb]] = self.value
        return members

    def __str__(self) -> str:
        if self.verb == SEND:
            return event_text(self.value)
        if self.verb == ADVANCE:
            return f"{span(self.value)} pass"
        if self.verb in (SETTLE, STOP):
            return {SETTLE: "time passes until nothing is due", STOP: "the machine is stopped"}[self.verb]
        words = _WORDS[self.verb].format(self.actor)
        if self.value is UNDEFINED:
            return words
        shown = event_text(self.value) if self.verb in (SEND_BACK, SEND_TO) else readable(self.value)
        return f"{words} {shown}"


VALUE_KEY = {
    RESOLVE: "output",
    REJECT: "error",
    FEED: "value",
    BREAK_OFF: "error",
    SEND_BACK: "event",
    SEND_TO: "event",
}
_WORDS = {
    RESOLVE: "{} resolves",
    REJECT: "{} fails",
    FEED: "{} yields",
    COMPLETE: "{} completes",
    BREAK_OFF: "{} breaks off",
    RUN: "{} is run",
    SEND_BACK: "{} sends back",
    SEND_TO: "{} is sent",
}


def event_text(event: Any) -> str:
    """An event as it is typed at the prompt: ``START ticketRef="ticket://77"``."""
    members = " ".join(f"{key}={readable(value)}" for key, value in event.items() if key != "type")
    return f"{event['type']} {members}".rstrip()
