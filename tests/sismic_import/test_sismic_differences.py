"""Each difference has a chart that shows it, and a neighbour that does not have it and behaves alike.

The charts stand in ``differences/``. Their first lines say what to do
(``steps``) and what is seen (``kind``, see :class:`sismic_beside.Divergence`);
``# here`` marks the line on which the difference has to be reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from sismic_beside import compare

from statecharts.adapters.formats.sismic import SismicCode, read_definition

FOLDER = Path(__file__).parent / "differences"
CODES = sorted(path.name.partition(".")[0] for path in FOLDER.glob("*.shown.yaml"))


@dataclass(frozen=True)
class Case:
    """A chart with what its comments say."""

    text: str

    @classmethod
    def read(cls, code: str, which: str) -> Case:
        return cls((FOLDER / f"{code}.{which}.yaml").read_text(encoding="utf-8"))

    def told(self, key: str) -> str:
        """What the comment ``# key: …`` says."""
        return next(line.partition(": ")[2] for line in self.text.splitlines() if line.startswith(f"# {key}: "))

    @property
    def lines(self) -> list[int]:
        """The marked lines."""
        return [number for number, line in enumerate(self.text.splitlines(), 1) if line.endswith("# here")]

    @property
    def steps(self) -> list[tuple[str, float]]:
        """Events, and spans of time in seconds."""
        words = self.told("steps").split()
        return [("wait", float(word[4:])) if word.startswith("wait") else (word, 0) for word in words]


@pytest.mark.parametrize("code", CODES)
def test_a_difference_is_listed_at_its_line_and_can_be_seen(code: str) -> None:
    case = Case.read(code, "shown")
    imported = read_definition(case.text, trusted=True)
    mine = [problem for problem in imported.differences if problem.code == code]
    assert [problem.line for problem in mine] == case.lines, [str(problem) for problem in imported.differences]
    assert all(problem.severity == "warning" and problem.hint for problem in mine)
    seen = compare(case.text, imported, case.steps)
    assert seen is not None
    assert seen.kind == case.told("kind")


@pytest.mark.parametrize("code", CODES)
def test_its_neighbour_has_no_difference_and_behaves_alike(code: str) -> None:
    case = Case.read(code, "plain")
    imported = read_definition(case.text, trusted=True)
    assert [str(problem) for problem in imported.differences] == []
    assert compare(case.text, imported, case.steps) is None


def test_every_difference_has_a_case() -> None:
    about_what_does_not_run = {"clock-guard", "preamble-not-run", "contracts-not-checked"}
    codes = {code.slug for code in SismicCode if code.kind == "difference"}
    assert set(CODES) == codes - about_what_does_not_run
