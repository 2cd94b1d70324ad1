"""Cases and what XState printed for them, as they lie in this folder.

`directed/<section>.json`   cases written by hand, each with a `why`
`recorded/<section>.jsonl`  their lines
`recorded/random.jsonl.gz`  generated cases, each with its lines
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DIRECTED = HERE / "directed"
RECORDED = HERE / "recorded"
RANDOM = RECORDED / "random.jsonl.gz"


@dataclass(frozen=True)
class Golden:
    name: str
    case: str
    lines: tuple[str, ...]


def as_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def sections() -> list[str]:
    return sorted(path.stem for path in DIRECTED.glob("*.json"))


def directed_cases(section: str) -> list[str]:
    """The cases of a section as the protocol reads them; the id names the section too."""
    written = json.loads((DIRECTED / f"{section}.json").read_text("utf-8"))
    return [
        as_line(
            {"id": f"{section}/{each['id']}", **{k: v for k, v in each.items() if k not in ("id", "why")}}
        )
        for each in written
    ]


def pair(cases: Iterable[str], lines: Iterable[str]) -> list[Golden]:
    """Each case with its lines."""
    by_case: dict[str, list[str]] = {}
    for line in lines:
        by_case.setdefault(json.loads(line)["case"], []).append(line)
    names = [(json.loads(case)["id"], case) for case in cases]
    return [Golden(name, case, tuple(by_case.get(name, ()))) for name, case in names]


def directed_goldens() -> list[Golden]:
    found: list[Golden] = []
    for section in sections():
        recorded = RECORDED / f"{section}.jsonl"
        lines = recorded.read_text("utf-8").split("\n")[:-1] if recorded.exists() else []
        found += pair(directed_cases(section), lines)
    return found


def random_goldens() -> list[Golden]:
    rows = gzip.decompress(RANDOM.read_bytes()).decode("utf-8").split("\n")[:-1] if RANDOM.exists() else []
    kept = [json.loads(row) for row in rows]
    return [Golden(json.loads(row["case"])["id"], row["case"], tuple(row["lines"])) for row in kept]


def write_directed(section: str, lines: Iterable[str]) -> None:
    RECORDED.mkdir(exist_ok=True)
    text = "".join(f"{line}\n" for line in lines)
    (RECORDED / f"{section}.jsonl").write_text(text, encoding="utf-8", newline="\n")


def write_random(goldens: Iterable[Golden]) -> None:
    """Same goldens, same bytes: the archive holds no time."""
    RECORDED.mkdir(exist_ok=True)
    rows = "".join(as_line({"case": each.case, "lines": each.lines}) + "\n" for each in goldens)
    RANDOM.write_bytes(gzip.compress(rows.encode("utf-8"), compresslevel=9, mtime=0))
