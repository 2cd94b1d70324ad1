"""Is the log what happened? The chain of hashes, the patches, and a replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import StatechartError
from ..json_text import dumps, loads
from ..values import UNDEFINED, freeze
from .chain import START, row_hash, salted
from .definitions import Hosted
from .patches import patched
from .payloads import Limits
from .rows import Instance, LogRow
from .stepping import Held, Stepper, begun, resumed

TAMPERED, CHANGED, ERASED, MISSING = "tampered", "implementation changed", "erased", "missing"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not fit, at ``version`` (0: the instance as a whole).

    ``kind``: ``tampered`` (rows do not fit each other or themselves),
    ``implementation changed`` (the same delivery leads elsewhere under other
    code), ``erased`` (a payload is gone on purpose, what follows from it cannot
    be computed) or ``missing`` (no machine here to replay with).
    """

    version: int
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """What was found. ``head`` is the newest hash: kept elsewhere, it proves that nothing was cut off."""

    instance: str
    versions: int
    replayed: int
    head: str
    findings: tuple[Finding, ...]

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found that should not be there; erased payloads are no fault."""
        return all(finding.kind == ERASED for finding in self.findings)


class Verifier:
    """Reads the log of one instance, row by row, and remembers what does not fit.

    With ``machines`` (by the hashes of their definitions) each delivery is also
    applied again.
    """

    def __init__(
        self, instance: Instance, machines: Mapping[str, Hosted] | None, limits: Limits, expected_head: str | None = None
    ) -> None:
        self._instance = instance
        self._machines = machines or {}
        self._limits = limits
        self._expected_head = expected_head
        self._previous = START
        self._version = 0
        self._sealed: Any = None
        self._is_known = True
        self._held: Held | None = None
        self._follows = machines is not None
        self._is_missing = False
        self._replayed = 0
        self._seen_head = expected_head is None
        self._findings: list[Finding] = []

    def read(self, rows: Iterable[LogRow]) -> None:
        """The next rows, in their order."""
        for row in rows:
            self._chain(row)
            if row.payload is None or row.salt is None:
                self._find(row.version, ERASED, "its payload was erased")
                self._is_known = self._follows = False
                continue
            if salted(row.salt, row.payload) != row.payload_hash:
                self._find(row.version, TAMPERED, "its payload is not what was hashed")
                self._is_known = self._follows = False
                continue
            payload = loads(row.payload)
            self._patch(row, payload)
            if self._follows:
                self._replay(row, payload)

    def report(self) -> Report:
        """All that was found, after the last row."""
        instance = self._instance
        if instance.version != self._version:
            self._find(0, TAMPERED, f"the instance has version {instance.version}, the log {self._version}")
        if instance.head != self._previous:
            self._find(0, TAMPERED, "the instance's newest hash is not that of the log's last row")
        if not self._seen_head:
            self._find(0, TAMPERED, "the hash that was kept elsewhere is not in the log: its end was cut off, or it was written anew")
        if self._is_known and self._version and instance.state is not None and dumps(self._sealed) != instance.state:
            self._find(0, TAMPERED, "the instance's state is not what the log's patches make")
        return Report(instance.id, self._version, self._replayed, self._previous, tuple(self._findings))

    # ------------------------------------------------------------------ inside

    def _find(self, version: int, kind: str, message: str) -> None:
        self._findings.append(Finding(version, kind, message))

    def _chain(self, row: LogRow) -> None:
        self._version += 1
        if row.version != self._version:
            self._find(row.version, TAMPERED, f"version {self._version} is not there")
            self._version = row.version
        if row.previous != self._previous:
            self._find(row.version, TAMPERED, "it does not follow the row before it")
        if row_hash(row) != row.hash:
            self._find(row.version, TAMPERED, "its members are not what was hashed")
        self._previous = row.hash
        self._seen_head = self._seen_head or row.hash == self._expected_head

    def _patch(self, row: LogRow, payload: dict[str, Any]) -> None:
        if not self._is_known:
            return
        try:
            self._sealed = patched(self._sealed, payload["patch"])
            text = dumps(self._sealed)
        except (KeyError, IndexError, TypeError, ValueError):
            text = ""
        assert row.salt is not None
        if salted(row.salt, text) != row.state_hash:
            self._find(row.version, TAMPERED, "its patch does not lead to the state that was hashed")
            self._is_known = False

    def _replay(self, row: LogRow, payload: dict[str, Any]) -> None:
        hosted = self._machines.get(row.definition)
        assert row.salt is not None
        if hosted is None:
            if not self._is_missing:
                self._find(row.version, MISSING, f"its machine ({row.definition[:12]}…) is not registered here, so it cannot be replayed")
            self._is_missing = True
            self._held = None
            return
        self._is_missing = False
        delivery, now = payload["delivery"], payload["now"]
        said = ""
        try:
            text = self._step(hosted, delivery, now)
        except StatechartError as error:
            text, said = "", f": {error}"
        if salted(row.salt, text) == row.state_hash:
            self._replayed += 1
            return
        self._follows = False
        if row.implementation != hosted.implementation:
            was, now_is = row.implementation or "no version", hosted.implementation or "no version"
            self._find(row.version, CHANGED, f"it was made by {was}, this is {now_is}; they lead to different states{said}")
        else:
            self._find(row.version, TAMPERED, f"applied again it leads to another state (or the code changed without a new version){said}")

    def _step(self, hosted: Hosted, delivery: dict[str, Any], now: int) -> str:
        if "start" in delivery:
            given = freeze(delivery["start"][0]) if delivery["start"] else UNDEFINED
            self._held, _ = begun(hosted.machine, given, now, self._limits, False)
        elif "fork" in delivery or "migrate" in delivery or self._held is None:  # where it goes on from is in the patch
            self._held = resumed(hosted.machine, dumps(self._sealed))
        elif "none" not in delivery:
            stepper = Stepper(self._held, now, self._limits, False)
            stepper.deliver(delivery)
            self._held, _ = stepper.rest()
        return self._held.text


def state_at(rows: Iterable[LogRow]) -> str:
    """The state text after the last of ``rows``, which are all from the first on. Raises :class:`StatechartError` for an erased one."""
    sealed: Any = None
    for row in rows:
        if row.payload is None:
            raise StatechartError(f"the payload of version {row.version} was erased; the states from there on cannot be made again")
        sealed = patched(sealed, loads(row.payload)["patch"])
    return dumps(sealed)
