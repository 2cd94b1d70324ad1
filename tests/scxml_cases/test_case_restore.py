"""Sessions saved before each timer and taken to their end by another process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from case_documents import inner, to_the_end, whole
from case_runs import CASES, PATIENCE, load_case
from test_scxml_cases import KNOWN

from statecharts import folder_resolver, load_machine, simulate

RESUME = CASES / "resume_in_process.py"
FAILING = {known.partition(" ")[0] for known in KNOWN}
TIMED = [
    path
    for path in sorted(CASES.glob("*.scxml"))
    if "delay" in path.read_text(encoding="utf-8") and path.stem.partition("-")[2] not in FAILING
]


def saved_states(path: Path) -> list[Any]:
    """The session, saved before each of its timers."""
    sim: Any = simulate(load_case(path))
    found: list[Any] = []
    for _ in range(PATIENCE):
        due = sim.clock.next_due()
        if sim.snapshot.status != "active" or due is None:
            break
        found.append(sim.save())
        sim.advance(max(0.0, due - sim.now))
    return found


def test_another_process_takes_them_to_their_end() -> None:
    given = [{"path": str(path), "saved": saved} for path in TIMED for saved in saved_states(path)]
    assert len(given) > 50
    done = subprocess.run(
        [sys.executable, str(RESUME)],
        input="\n".join(map(json.dumps, given)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout)
    assert [(each["path"], end) for each, end in zip(given, ends, strict=True) if end != "pass"] == []


def test_saving_does_not_change_the_session() -> None:
    for path in TIMED:
        sim = simulate(load_case(path))
        first = json.dumps(sim.save())
        assert json.dumps(sim.save()) == first
        assert sim.settle().atomic_states == ("pass",), path.stem


def test_children_of_children_by_source(tmp_path: Path) -> None:
    """By ``src``, in place and computed; the children name a third document, which has a timer."""
    by_source = '<invoke type="scxml" id="k" src="leaf.scxml"/><transition event="done.invoke.k" target="f"/>'
    middle = inner(f'<state id="s">{by_source}</state><final id="f"/>')
    leaf = '<state id="s"><onentry><send event="t" delay="9ms"/></onentry><transition event="t" target="f"/></state><final id="f"/>'
    top = f"""<datamodel><data id="doc">{middle}</data></datamodel>
      <state id="s"><invoke type="scxml" id="a" src="middle.scxml"/><transition event="done.invoke.a" target="t"/></state>
      <state id="t"><invoke type="scxml" id="b"><content>{middle}</content></invoke><transition event="done.invoke.b" target="u"/></state>
      <state id="u"><invoke type="scxml" id="c"><content expr="doc"/></invoke><transition event="done.invoke.c" target="pass"/></state>"""
    for name, text in {"leaf": inner(leaf), "middle": middle, "top": whole(top)}.items():
        (tmp_path / f"{name}.scxml").write_text(text, encoding="utf-8")
    machine = load_machine(tmp_path / "top.scxml", resolver=folder_resolver(tmp_path))
    for saving in (False, True):
        sim = to_the_end(machine, saving=saving)
        assert (sim.snapshot.atomic_states, sim.now) == (("pass",), 27)


def test_a_document_that_invokes_itself_comes_to_an_end(tmp_path: Path) -> None:
    text = inner('<state id="s"><invoke type="scxml" src="self.scxml"/></state>')
    (tmp_path / "self.scxml").write_text(text, encoding="utf-8")
    sim = simulate(
        load_machine(tmp_path / "self.scxml", resolver=folder_resolver(tmp_path)), max_events=5_000
    )
    assert sim.snapshot.status == "active"
