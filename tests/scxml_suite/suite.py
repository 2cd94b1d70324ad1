"""The SCXML test suites: where they come from, what is in them, how one test is run.

The documents come from an npm package at test time and are kept in a cache
folder; nothing of them is in this repository. ``python tests/scxml_suite/suite.py``
fetches them.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "@scion-scxml/test-framework@2.0.16"
INTEGRITY = "5rRd5CdFLUzmPaO43NSamBmhq6uW/0kUmUneEnqRSbAj0FiFVAINd1DfadUkdECT+xHLARCJZU7meQD4nqYyKw=="
ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("STATECHARTS_SUITE_CACHE", ROOT / ".cache" / "scxml-suite"))

def _numbers(text: str) -> frozenset[str]:
    return frozenset(text.split())


HTTP = _numbers("201 509 510 518 519 520 522 531 532 534 567 577")
MANUAL = _numbers("178 230 250 301 307 313 314 415")
OPTIONAL = _numbers("193 278 444 445 446 448 449 451 452 453 456 457 459 460 557 558 560 561 562 569 578")
PARTS = re.compile(r"test\d+sub\d+\Z")


class SuiteMissing(Exception):
    """The suites are neither cached nor to be had."""


def suite_folder() -> Path:
    """The folder with the test documents, fetched when it is not there yet. Raises :class:`SuiteMissing`."""
    given = os.environ.get("STATECHARTS_SUITE")
    if given:
        return Path(given)
    ready = CACHE / "package" / "test"
    if not ready.is_dir():
        fetch()
    return ready


def fetch() -> None:
    """Get the package with npm, check it, unpack it into the cache."""
    npm = shutil.which("npm")
    if npm is None:
        raise SuiteMissing("npm is not here, and it brings the SCXML test suites")
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([npm, "pack", PACKAGE, "--silent"], cwd=scratch, capture_output=True, text=True)
        archives = list(Path(scratch).glob("*.tgz"))
        if done.returncode or not archives:
            raise SuiteMissing(f"npm could not bring {PACKAGE}: {done.stderr.strip()[-300:]}")
        content = archives[0].read_bytes()
    if base64.b64encode(hashlib.sha512(content).digest()).decode() != INTEGRITY:
        raise SuiteMissing(f"{PACKAGE} is not what it was: its checksum differs")
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE.parent) as scratch:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            archive.extractall(scratch, filter="data")
        shutil.rmtree(CACHE, ignore_errors=True)
        shutil.copytree(scratch, CACHE)


class W3cTest(NamedTuple):
    """One document of the W3C's: its number (``403a``), and what it is."""

    number: str
    path: Path

    @property
    def kind(self) -> str:
        """``mandatory``, ``optional``, ``http`` or ``manual``."""
        if self.number in MANUAL:
            return "manual"
        if self.number in HTTP:
            return "http"
        return "optional" if self.number in OPTIONAL else "mandatory"


def w3c_tests(folder: Path) -> list[W3cTest]:
    """The W3C's documents that can be run by themselves, by number."""
    found = [W3cTest(_number(path), path) for path in (folder / "w3c-ecma").glob("test*.scxml")]
    kept = [test for test in found if not PARTS.search(f"test{test.number}") and "-" not in test.number]
    return sorted(kept, key=lambda test: (int(re.sub(r"\D", "", test.number)), test.number))


def _number(path: Path) -> str:
    return path.name.split(".")[0].removeprefix("test")


class ScionTest(NamedTuple):
    """One script of SCION's with its document."""

    name: str
    path: Path
    script: dict[str, Any]


# Two scripts encode that a parallel state may be the domain of a transition; the Recommendation's
# domain is compound. Their other block has what the Recommendation says.
LEGACY = ("more-parallel/test10", "more-parallel/test10b")


def scion_tests(folder: Path) -> list[ScionTest]:
    """SCION's own tests, by name."""
    found = []
    for script in sorted(folder.glob("*/*.json")):
        name = f"{script.parent.name}/{script.stem}"
        document = script.with_suffix(".scxml")
        if script.parent.name == "w3c-ecma" or not document.exists():
            continue
        content = json.loads(script.read_text(encoding="utf-8"))
        if name in LEGACY:
            content = content["legacySemantics"]
        found.append(ScionTest(name, document, content))
    return found


def title(path: Path) -> str:
    """The comment at the head of a document, as one line."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r"<!--(.*?)-->", text, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


if __name__ == "__main__":
    try:
        print(f"the SCXML test suites are in {suite_folder()}")
    except SuiteMissing as missing:
        print(f"{missing}: tests against them will be skipped", file=sys.stderr)
