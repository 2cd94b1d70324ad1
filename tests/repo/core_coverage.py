"""Hold definition and interpreter to full branch coverage, and every exclusion to a reason.

Run after ``coverage run``; prints what is missing and exits 1.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = [
    "statecharts/interpreter/*",
    "statecharts/validation/*",
    *(f"statecharts/{path.name}" for path in sorted((ROOT / "statecharts").glob("*.py")) if path.name not in ("api.py", "runtime.py")),
]
PRAGMA = re.compile(r"pragma: no (?:cover|branch)(?P<reason>.*)")


def unexplained() -> list[str]:
    """Exclusions without a reason after them."""
    found = []
    for path in sorted((ROOT / "statecharts").rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = PRAGMA.search(line)
            if match and len(match["reason"].strip(" -:—")) < 8:
                found.append(f"{path.relative_to(ROOT)}:{number}: an exclusion needs its reason")
    return found


def main() -> int:
    """Report, and say whether all is covered."""
    faults = unexplained()
    print("\n".join(faults))
    report = subprocess.run(
        [
            sys.executable, "-m", "coverage", "report", "--skip-covered", "--show-missing", "--precision=2",
            "--fail-under=100", f"--include={','.join(CORE)}",
        ],
        cwd=ROOT,
        check=False,
    )  # fmt: skip
    return 1 if faults or report.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
