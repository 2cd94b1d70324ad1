"""Compare the result lines of two runs of the case protocol, field by field and to the letter.

    python tests/differential/compare.py EXPECTED ACTUAL [--show N]

Each field is compared as the text that was printed, so the order of keys and the form of numbers count.
Two exceptions: of `fatal` only the presence counts (whoever cannot build a machine says so in his own words),
and in a case whose line says `overrun` nothing from that line on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_DECODER = json.JSONDecoder()
Fields = dict[str, str]


@dataclass(frozen=True)
class Difference:
    case: str
    step: str
    field: str
    expected: str | None
    actual: str | None

    def __str__(self) -> str:
        expected, actual = around(self.expected, self.actual)
        return f"case {self.case} step {self.step} {self.field}\n  expected {expected}\n  actual   {actual}"


def around(expected: str | None, actual: str | None, before: int = 80, after: int = 240) -> tuple[str, str]:
    """Both texts, cut to where they begin to differ."""
    texts = ["(nothing)" if text is None else text for text in (expected, actual)]
    same = 0
    while same < min(map(len, texts)) and texts[0][same] == texts[1][same]:
        same += 1
    start = max(0, same - before)
    cut = [("… " if start else "") + text[start : same + after] for text in texts]
    return cut[0], cut[1]


@dataclass
class Report:
    """What came of a comparison."""

    cases: int = 0
    lines: int = 0
    differences: list[Difference] = field(default_factory=list)
    overrun: set[str] = field(default_factory=set)

    @property
    def is_equal(self) -> bool:
        return self.cases > 0 and not self.differences

    @property
    def differing_cases(self) -> list[str]:
        return list(dict.fromkeys(difference.case for difference in self.differences))

    @property
    def overrun_share(self) -> float:
        return len(self.overrun) / self.cases if self.cases else 0.0

    def add(self, other: Report) -> None:
        self.cases += other.cases
        self.lines += other.lines
        self.differences += other.differences
        self.overrun |= other.overrun

    def summary(self, show: int = 3) -> str:
        """One line of figures, then the first difference of each of the first differing cases."""
        by_field = Counter(difference.field for difference in self.differences)
        head = (
            f"{self.cases - len(self.differing_cases)} of {self.cases} cases equal, {self.lines} lines, "
            f"{len(self.overrun)} overrun; differing fields: {dict(by_field)}"
        )
        first = {difference.case: difference for difference in reversed(self.differences)}
        shown = [str(first[case]) for case in self.differing_cases[:show]]
        return "\n".join([head, *shown])


def split(line: str) -> Fields:
    """The top-level members of an object, each value as the text it was written with."""
    fields: Fields = {}
    at = line.index("{") + 1
    while True:
        at = _skip(line, at, ", \t\r\n")
        if line[at] == "}":
            return fields
        name, at = _DECODER.raw_decode(line, at)
        at = _skip(line, at, ": \t")
        _, end = _DECODER.raw_decode(line, at)
        fields[name] = line[at:end]
        at = end


def _skip(text: str, at: int, blanks: str) -> int:
    while text[at] in blanks:
        at += 1
    return at


def by_case(lines: Iterable[str]) -> dict[str, list[Fields]]:
    """The lines of each case in their order, under the text of the case's id."""
    cases: dict[str, list[Fields]] = {}
    for line in lines:
        if line.strip():
            fields = split(line)
            cases.setdefault(fields["case"], []).append(fields)
    return cases


def compare(expected_lines: Iterable[str], actual_lines: Iterable[str]) -> Report:
    """Compare everything that may be compared."""
    expected, actual = by_case(expected_lines), by_case(actual_lines)
    report = Report(cases=len(expected))
    for case in [*expected, *(case for case in actual if case not in expected)]:
        _compare_case(report, case, expected.get(case, []), actual.get(case, []))
    return report


def _compare_case(report: Report, case: str, expected: list[Fields], actual: list[Fields]) -> None:
    for index in range(max(len(expected), len(actual))):
        want = expected[index] if index < len(expected) else None
        got = actual[index] if index < len(actual) else None
        if want is not None and "overrun" in want:
            report.overrun.add(case)
            return
        report.lines += 1
        step = (want or got or {}).get("step", "?")
        if want is None or got is None:
            which = "line missing" if got is None else "line too many"
            report.differences.append(Difference(case, step, which, _text(want), _text(got)))
            return
        report.differences += _compare_line(case, step, want, got)


def _compare_line(case: str, step: str, want: Fields, got: Fields) -> Iterator[Difference]:
    if "fatal" in want and "fatal" in got:
        want, got = {**want, "fatal": "true"}, {**got, "fatal": "true"}
    if want == got and list(want) == list(got):
        return
    if ("fatal" in want) != ("fatal" in got):
        yield Difference(case, step, "refusal", want.get("fatal"), got.get("fatal"))
        return
    for name in [*want, *(name for name in got if name not in want)]:
        if want.get(name) != got.get(name):
            yield Difference(case, step, name, want.get(name), got.get(name))
    if want.keys() == got.keys() and list(want) != list(got):
        yield Difference(case, step, "order of fields", str(list(want)), str(list(got)))


def _text(fields: Fields | None) -> str | None:
    return None if fields is None else ", ".join(f"{name}: {value}" for name, value in fields.items())[:300]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("expected", type=Path)
    parser.add_argument("actual", type=Path)
    parser.add_argument("--show", type=int, default=3, help="how many differing cases to print")
    options = parser.parse_args()
    read = [path.read_text("utf-8").split("\n") for path in (options.expected, options.actual)]
    report = compare(*read)
    print(report.summary(options.show))
    return 0 if report.is_equal else 1


if __name__ == "__main__":
    sys.exit(main())
