"""Those who send events, who keep every answer they were given, and hold the runtime to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from sim_machines import EVENTS
from sim_receivers import Violation

from statecharts.durability.applying import Told
from statecharts.durability.commits import Commit
from statecharts.durability.receipts import ACCEPTED, APPLIED, DEAD, DUPLICATE, REFUSED, Receipt, read_receipt
from statecharts.durability.rows import InboxRow
from statecharts.durability.store import Store
from statecharts.errors import CommitUnknown, StoreError
from statecharts.json_text import dumps


@dataclass(slots=True)
class Sent:
    """An event and what was said of it."""

    instance: str
    told: Told
    answers: list[Receipt] = field(default_factory=list)


class Senders:
    """All of them. ``is_raced``: somebody else wrote while this was decided, so not all comparisons hold."""

    def __init__(self, database: Store, namespace: str, random: Random) -> None:
        self._database = database
        self._namespace = namespace
        self._random = random
        self._count = 0
        self.sent: list[Sent] = []
        self.is_raced = False

    def next(self, instances: dict[str, str]) -> tuple[Sent, str]:
        """Something to send to one of ``instances`` (machines by name), and what kind of thing it is."""
        random = self._random
        kind = random.random()
        old = [one for one in self.sent if one.told.event_id.startswith("e")]
        if old and kind < 0.16:
            return random.choice(old[-12:]), "an event once more"
        name = random.choice(list(instances))
        event = random.choice(EVENTS[instances[name]])
        if old and kind < 0.22:
            one = random.choice(old)
            body = dumps({"type": event.partition(">")[0], "value": -1})
            return Sent(one.instance, Told(one.told.event_id, body, "user")), "another event under a known id"
        event, _, target = event.partition(">")
        self._count += 1
        body = dumps({"type": event, "value": self._count})
        made = Sent(name, Told(f"e{self._count}", body, "user", target or None))
        self.sent.append(made)
        return made, {"NEVER": "an event that nobody takes", "POISON": "a poisoned event", "GROW": "an event that makes the state larger"}.get(event, "a new event")

    def stored(self, sent: Sent) -> InboxRow | None:
        """The row of an event in the database."""
        rows = self._database.inbox(self._namespace, sent.instance, event_id=sent.told.event_id)
        if len(rows) > 1:
            raise Violation(f"event {sent.told.event_id} is there {len(rows)} times")
        return rows[0] if rows else None

    def answered(self, sent: Sent, before: InboxRow | None, answer: Any, *, is_alone: bool) -> str:
        """What a sender does with an answer. Raises :class:`Violation` when it is not true."""
        row = self.stored(sent)
        if isinstance(answer, CommitUnknown):
            return "nobody knows"
        if isinstance(answer, StoreError):
            if before is None and row is not None and not self.is_raced:
                raise Violation(f"I2: event {sent.told.event_id} was said not to be written, and it is there: {answer}")
            return f"not written: {answer}"
        if isinstance(answer, Exception):
            raise Violation(f"event {sent.told.event_id} was answered with {answer!r}") from answer
        receipt = answer.answer if isinstance(answer, Commit) else answer
        if row is None:
            raise Violation(f"I2: event {sent.told.event_id} was answered with {receipt.outcome}, and it is not there")
        self._is_true(sent, row, receipt, is_alone and not self.is_raced)
        sent.answers.append(receipt)
        return str(receipt.outcome)

    def _is_true(self, sent: Sent, row: InboxRow, receipt: Receipt, is_exact: bool) -> None:
        is_same = (row.digest, row.target, row.body) == (sent.told.digest, sent.told.target, sent.told.text)
        if not is_same and (row.body, row.target) != (sent.told.text, sent.told.target):
            if receipt.outcome != REFUSED:
                raise Violation(f"another event under the id {row.event_id} was answered with {receipt.outcome}")
            return
        said = receipt.first if receipt.outcome == DUPLICATE else receipt
        if said is None or row.receipt is None:
            raise Violation(f"event {row.event_id} has no receipt")
        if is_exact and said != read_receipt(row.receipt):
            raise Violation(f"I2: event {row.event_id} was answered with {said}, and its row says {row.receipt}")

    def settle_accounts(self) -> None:
        """At the end: every answer was the truth, and still is."""
        for sent in self.sent:
            row = self.stored(sent)
            for receipt in sent.answers:
                if row is None or row.receipt is None:
                    raise Violation(f"I2: event {sent.told.event_id} was answered with {receipt.outcome}, and it is gone")
                said = receipt.first if receipt.outcome == DUPLICATE else receipt
                if said is None or said.outcome in (ACCEPTED, DEAD) or row.body != sent.told.text:
                    continue  # it has been applied since, or revived by a person
                if said.outcome == APPLIED and said.version != row.version:
                    raise Violation(f"event {row.event_id} was answered with version {said.version}, its row has {row.version}")
                if said != read_receipt(row.receipt):
                    raise Violation(f"I2: event {row.event_id} was answered with {said}, now its row says {row.receipt}")
