"""The cases made from public bug reports, as they lie in the reference material."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from engines import SHARED

Fields = dict[str, Any]
START = -1


@dataclass(frozen=True)
class Reported:
    """One file. `expected` maps step numbers (START for the first line) to the fields a line must have."""

    name: str
    document: Fields

    @property
    def is_runnable(self) -> bool:
        """Whether the protocol can run it: it has no word for the n-th run of an actor."""
        return "case" in self.document or not self.counts_runs

    @property
    def counts_runs(self) -> bool:
        return any("run" in step for step in self.document.get("steps", []))

    @property
    def case(self) -> str:
        written = self.document.get("case")
        if written is None:
            kept = {key: self.document[key] for key in ("machine", "steps", "delays") if key in self.document}
            written = {"id": self.name, "clock": "exact", **kept}
        return json.dumps(written)

    @property
    def lines(self) -> dict[int, Fields]:
        """What XState prints, by step."""
        if "lines" in self.document:
            return {line["step"]: line for line in self.document["lines"]}
        found = {START: self.document["initial"]}
        return found | dict(enumerate(self.document["expect"]))

    @property
    def right(self) -> dict[int, Fields] | None:
        """Where XState is wrong: the fields that must be otherwise, by step."""
        written = self.document.get("right")
        if written is None:
            return None
        if "createError" in written:
            return {START: written}
        return {START if step == "initial" else int(step): fields for step, fields in written.items()}

    @property
    def may_be_refused(self) -> bool:
        """Whether the reason says that refusing the machine is right too."""
        return "refuse" in self.document.get("rightWhy", "").lower()


def reported() -> list[Reported]:
    folder = SHARED / "cases"
    return [
        Reported(path.stem, json.loads(path.read_text("utf-8"))) for path in sorted(folder.glob("*.json"))
    ]


def by_step(lines: list[str]) -> dict[int, Fields]:
    return {line["step"]: line for line in map(json.loads, lines)}


def mismatches(expected: Fields, line: Fields) -> list[str]:
    """The expected fields that the line has otherwise; the order of keys counts."""
    if "createError" in expected:
        return [] if "fatal" in line else [f"not refused: {line}"]
    found = []
    for name, want in expected.items():
        if name in ("started", "stopped"):
            continue  # promises leave no trace of it; tested through the simulation
        got = line.get(name)
        if name == "children" and isinstance(want, dict):
            want = list(want)
        if name == "error" and isinstance(got, dict) and isinstance(want, str):
            got = got.get("message")
        if json.dumps(want) != json.dumps(got):
            found.append(f"{name}: expected {json.dumps(want)}, got {json.dumps(got)}")
    return found
