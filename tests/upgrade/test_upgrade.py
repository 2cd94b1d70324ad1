"""Version 4 machines, upgraded, do under XState 5 what they did under XState 4."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from statecharts.adapters.formats.upgrade import Upgrade, upgrade_document
from statecharts.validation import check_document
from statecharts.validation.report import tokens

HERE = Path(__file__).resolve().parent
MACHINES = sorted((HERE / "machines").glob("*.json"))
RANDOM_SEED = 20_000
RANDOM_CASES = 600


def load(file: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return made


def drive(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the driver prints for ``cases``; skips when it cannot be run here."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if not (HERE / "node_modules").is_dir():
        pytest.skip("the npm packages are missing: run `npm ci` in tests/upgrade")
    done = subprocess.run(
        [node, "driver.mjs"],
        cwd=HERE,
        input="\n".join(map(json.dumps, cases)),
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "NODE_ENV": "production"},
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(cases)
    return lines


def comparable(result: dict[str, Any]) -> list[Any]:
    """Values without their key order; actors in a list of their own, since the versions time their stops differently."""
    assert "error" not in result, result
    return [
        {
            "value": json.dumps(line["value"], sort_keys=True),
            "context": line["context"],
            "done": line["done"],
            "actions": [entry for entry in line["trace"] if not entry.startswith(("start ", "stop "))],
            "actors": [entry for entry in line["trace"] if entry.startswith(("start ", "stop "))],
        }
        for line in result["lines"]
    ]


def pair(machine: Any, upgraded: Any, steps: Any) -> list[dict[str, Any]]:
    return [
        {"version": 4, "machine": machine, "steps": steps},
        {"version": 5, "machine": upgraded, "steps": steps},
    ]


def errors(document: Any) -> list[str]:
    return [str(problem) for problem in check_document(document) if problem.severity == "error"]


def resolves(document: Any, pointer: str) -> bool:
    value = document
    for part in tokens(pointer):
        try:
            value = value[part] if isinstance(value, dict) else value[int(part)]
        except (KeyError, IndexError, ValueError, TypeError):
            return False
    return True


def test_there_are_enough_machines() -> None:
    assert len(MACHINES) >= 24


@pytest.mark.node
def test_machines_behave_as_under_version_4() -> None:
    cases = [load(file) for file in MACHINES]
    upgrades = [upgrade_document(case["machine"]) for case in cases]
    results = drive(
        [
            line
            for case, upgrade in zip(cases, upgrades, strict=True)
            for line in pair(case["machine"], upgrade.document, case["steps"])
        ]
    )
    for index, file in enumerate(MACHINES):
        four, five = comparable(results[2 * index]), comparable(results[2 * index + 1])
        assert len(four) == len(cases[index]["steps"]) + 1
        assert five == four, file.name


@pytest.mark.node
def test_random_machines_behave_as_under_version_4() -> None:
    spec = importlib.util.spec_from_file_location("upgrade_generate", HERE / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases = [module.Generator(RANDOM_SEED + index).case() for index in range(RANDOM_CASES)]
    upgrades = [upgrade_document(case["machine"]) for case in cases]
    results = drive(
        [
            line
            for case, upgrade in zip(cases, upgrades, strict=True)
            for line in pair(case["machine"], upgrade.document, case["steps"])
        ]
    )
    compared = 0
    for index, (case, upgrade) in enumerate(zip(cases, upgrades, strict=True)):
        assert upgrade_document(upgrade.document).document == upgrade.document
        four, five = results[2 * index], results[2 * index + 1]
        if upgrade.problems or "error" in four:  # announced differences; machines that version 4 cannot run
            continue
        compared += 1
        assert comparable(five) == comparable(four), (RANDOM_SEED + index, case["machine"], upgrade.document)
    print(f"seed {RANDOM_SEED}: {compared} of {RANDOM_CASES} random machines compared")
    assert compared >= RANDOM_CASES // 5


@pytest.mark.parametrize("file", MACHINES, ids=lambda file: file.stem)
def test_upgraded_machines_read_strictly(file: Path) -> None:
    machine = load(file)["machine"]
    before = copy.deepcopy(machine)
    upgrade = upgrade_document(machine)
    assert machine == before
    assert errors(upgrade.document) == []
    assert upgrade.changes
    for change in upgrade.changes:
        assert resolves(machine, change.pointer), change
        assert resolves(upgrade.document, change.new_pointer), change
        assert change.what and change.why
    again = upgrade_document(upgrade.document)
    assert (again.document, again.changes) == (upgrade.document, ())


V5: list[dict[str, Any]] = [
    {"id": "m", "initial": "a", "states": {"a": {"on": {"E": {"target": "a", "guard": "g"}}}}},
    {"id": "m", "initial": "a", "states": {"a": {"on": {"E": {"target": "a", "reenter": True}}}}},
    {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "x", "input": {}, "onDone": "a"}}}},
    {
        "id": "m",
        "initial": "a",
        "states": {"a": {"entry": {"type": "xstate.raise", "params": {"event": {"type": "E"}}}}},
    },
    {
        "id": "m",
        "initial": "a",
        "states": {"a": {"on": {"xstate.done.actor.x": "a"}}, "b": {"type": "final", "output": 1}},
    },
]


@pytest.mark.parametrize("document", V5, ids=range(len(V5)))
def test_version_5_machines_are_left_alone(document: dict[str, Any]) -> None:
    upgrade = upgrade_document(document)
    assert upgrade == Upgrade(document, (), ())
    assert upgrade.document is not document
    assert upgrade.document["states"] is not document["states"]


def test_machines_that_could_be_either() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"E": "a"}}}}
    upgrade = upgrade_document(document)
    assert (upgrade.document, upgrade.changes) == (document, ())
    assert [problem.code for problem in upgrade.problems] == ["upgrade-review"]
    as_4 = upgrade_document(document, version=4)
    assert as_4.document["states"]["a"]["on"]["E"] == {"target": "a", "reenter": True}
    assert upgrade_document(document, version=5) == Upgrade(document, (), ())
    same = {"id": "m", "initial": "a", "states": {"a": {"on": {"E": "b"}}, "b": {}}}
    assert upgrade_document(same) == Upgrade(same, (), ())


def machine(a: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {
        "id": "m",
        "predictableActionArguments": True,
        "initial": "a",
        "states": {"a": a, "b": {}},
        **extra,
    }


REGIONS = {
    "id": "m",
    "parallel": True,
    "states": {
        "a": {"initial": "x", "states": {"x": {"on": {"E": "#m.b.y"}}}},
        "b": {"initial": "x", "states": {"x": {}, "y": {}}},
    },
}
PROBLEMS: list[tuple[str, dict[str, Any], str]] = [
    ("upgrade-unsupported", machine({"entry": {"type": "xstate.choose", "conds": []}}), "/states/a/entry"),
    ("upgrade-unsupported", machine({"entry": {"type": "xstate.pure"}}), "/states/a/entry"),
    ("upgrade-unsupported", machine({"entry": {"type": "xstate.assign"}}), "/states/a/entry"),
    ("upgrade-unsupported", machine({"entry": {"type": "xstate.stop", "activity": {}}}), "/states/a/entry"),
    ("upgrade-unsupported", machine({"entry": {"type": "xstate.send", "event": "E", "to": {}}}), "/states/a/entry"),
    ("upgrade-unsupported", machine({"invoke": {"src": "x", "autoForward": True}}), "/states/a/invoke/autoForward"),
    ("upgrade-unsupported", machine({"states": {"x": {}}}), "/states/a"),
    ("upgrade-unsupported", machine({"initial": "x", "states": {"x": {"initial": "p", "states": {"p": {}, "q": {}}}}}, initial="a.x.q"), "/initial"),
    ("upgrade-unsupported", machine({"on": [{"event": {}, "target": "b"}]}), "/states/a/on/0"),
    ("upgrade-review", machine({}, strict=True), "/strict"),
    ("upgrade-review", machine({}, services={}), "/services"),
    ("upgrade-review", machine({"entry": [{"type": "xstate.raise", "event": "E"}] * 2}), ""),
    ("upgrade-review", machine({"key": "z"}), "/states/a/key"),
    ("upgrade-review", machine({"on": {"x.*": "b"}}), "/states/a/on/x.*"),
    ("upgrade-review", machine({"on": {"E": {"target": "b", "in": "zz"}}}), "/states/a/on/E/in"),
    ("upgrade-review", {**machine({"onEntry": ["x", {"type": "xstate.assign", "assignment": {"n": 1}}]}), "predictableActionArguments": False}, "/states/a"),
    ("upgrade-review", machine({"initial": "x", "states": {"x": {}, "h": {"type": "history", "target": {"x": {}}}}}), "/states/a/states/h/target"),
    ("upgrade-review", REGIONS, "/states/a/states/x/on/E"),
    ("upgrade-review", machine({"initial": "x", "states": {"x": {}, "f": {"type": "final"}}, "on": {"done.state.m.a.f": "b"}}), "/states/a/on/done.state.m.a.f"),
    ("upgrade-review", machine({"initial": "x", "states": {"x": {}, "f": {"type": "final"}}, "on": {"*": "b"}}), "/states/a/on/*"),
    (
        "upgrade-review",
        {"initial": "x", "states": {"x": {}, "f": {"type": "final", "data": {"n": 1}}, "g": {"type": "final", "data": {"n": 2}}}},
        "/states/f/data",
    ),
    (
        "upgrade-review",
        {"id": "m", "parallel": True, "states": {"a": {"after": {"5": "#m.a"}, "on": {"E": "a"}}, "b": {}}},
        "/states/a/on/E",
    ),
    (
        "upgrade-review",
        machine({"entry": "x", "initial": "p", "states": {"p": {"entry": "x", "initial": "q", "states": {"q": {}}}}, "on": {"E": ".p.q"}}),
        "/states/a/on/E",
    ),
    (
        "upgrade-review",
        machine({"initial": "x", "states": {"x": {"on": {"E": {"target": "#m.a", "internal": True}}}}}),
        "/states/a/states/x/on/E",
    ),
    (
        "upgrade-review",
        machine({"initial": "x", "on": {"E": ".h"}, "states": {"x": {}, "h": {"type": "history"}}}),
        "/states/a/on/E",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("code", "document", "pointer"), PROBLEMS)
def test_what_cannot_be_carried_over_is_said(code: str, document: dict[str, Any], pointer: str) -> None:
    upgrade = upgrade_document(document)
    found = [(problem.code, problem.pointer) for problem in upgrade.problems]
    assert (code, pointer) in found, found
    assert all(problem.hint and resolves(document, problem.pointer) for problem in upgrade.problems)


REWRITES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"invoke": "x", "onEntry": "y"}, {"invoke": {"src": "x"}, "entry": "y"}),
    ({"invoke": ["x"], "onEntry": "y"}, {"invoke": [{"src": "x"}], "entry": "y"}),
    ({"activities": [{"type": "x", "id": "i", "rate": 2}]}, {"invoke": [{"src": "x", "id": "i", "input": {"rate": 2}}]}),
    ({"invoke": {"src": {"type": "x", "p": 1}, "data": {"q": 2}, "sync": True, "onError": "b"}}, {"invoke": {"src": "x", "input": {"p": 1, "q": 2}, "onError": "b"}}),
    ({"on": {"E": {"cond": {"type": "xstate.guard", "name": "g"}, "target": "b"}}}, {"on": {"E": {"guard": "g", "target": "b"}}}),
    ({"on": {"E": {"cond": {"type": "g", "params": {"n": 1}}, "target": "b"}}}, {"on": {"E": {"guard": {"type": "g", "params": {"n": 1}}, "target": "b"}}}),
    ({"on": {"E": {"external": True, "target": "a"}}}, {"on": {"E": {"target": "a", "reenter": True}}}),
    ({"on": {"E": {"external": False, "target": "a"}}}, {"on": {"E": {"target": "a"}}}),
    ({"entry": {"type": "xstate.send", "event": "E", "to": "#_parent"}}, {"entry": {"type": "xstate.sendParent", "params": {"event": {"type": "E"}}}}),
    ({"entry": {"type": "xstate.send", "event": "E", "to": "kid"}}, {"entry": {"type": "xstate.sendTo", "params": {"to": "kid", "event": {"type": "E"}}}}),
    ({"entry": {"type": "xstate.log", "expr": "text", "label": "l"}}, {"entry": {"type": "xstate.log", "params": {"value": "text", "label": "l"}}}),
    ({"entry": {"type": "xstate.stop", "activity": "kid"}}, {"entry": {"type": "xstate.stopChild", "params": {"id": "kid"}}}),
    ({"entry": {"type": "x", "a": 1, "params": {"b": 2}}, "onExit": "y"}, {"entry": {"type": "x", "params": {"b": 2, "a": 1}}, "exit": "y"}),
    ({"on": {"xstate.after(10)#m.b": "b"}}, {"on": {"xstate.after.10.m.b": "b"}}),
    ({"on": {"error.platform.zz": "b"}}, {"on": {"xstate.error.actor.zz": "b"}}),
    ({"parallel": False, "strict": False}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), REWRITES, ids=range(len(REWRITES)))
def test_single_rewrites(old: dict[str, Any], new: dict[str, Any]) -> None:
    upgraded = upgrade_document(machine(old)).document
    assert upgraded["states"]["a"] == new


def test_deep_initial_that_says_nothing_new() -> None:
    document = machine({"initial": "x", "states": {"x": {}}}, initial="a.x")
    upgrade = upgrade_document(document)
    assert upgrade.document["initial"] == "a"
    assert upgrade.problems == ()


def test_histories_take_paths() -> None:
    inner = {
        "initial": "x",
        "states": {
            "x": {"initial": "y", "states": {"y": {}}},
            "h": {"history": "deep", "target": {"x": "y"}},
        },
    }
    upgraded = upgrade_document(machine(inner)).document
    assert upgraded["states"]["a"]["states"]["h"]["target"] == "x.y"


def history_default(target: str, **extra: Any) -> Any:
    inner = {"initial": "x", "states": {"x": {}, "y.z": extra, "h": {"type": "history", "target": target}}}
    return upgrade_document(machine(inner)).document["states"]["a"]["states"]["h"]["target"]


def test_history_defaults_are_spelt_for_version_5() -> None:
    assert history_default("x") == "x"
    assert history_default("y.z") == "#m\\.a\\.y\\.z"
    assert history_default("#q.r", id="q.r") == "#q\\.r"
    assert history_default("nowhere") == "nowhere"


def test_a_machine_key_beside_an_id() -> None:
    document = {
        "key": "light",
        "id": "m",
        "initial": "a",
        "states": {"a": {"on": {"E": {"cond": "g", "target": "#light.b"}}}, "b": {}},
    }
    upgraded = upgrade_document(document).document
    assert "key" not in upgraded
    assert upgraded["states"]["a"]["on"]["E"]["target"] == "#m.b"


def test_odd_shapes_stay_for_the_validator() -> None:
    odd = machine(
        {
            "on": 3,
            "after": 4,
            "states": 5,
            "entry": [None],
            "invoke": [3],
            "tags": {1: 2},
            7: 8,
            "data": 9,
            "onDone": None,
        }
    )
    upgraded = upgrade_document(odd).document["states"]["a"]
    assert upgraded == {**odd["states"]["a"], "invoke": [3]}


@pytest.mark.parametrize(
    "mark",
    [
        {"entry": {"type": "xstate.send", "event": "E"}},
        {"entry": "xstate.pure"},
        {"on": {"": "b"}},
        {"on": {"done.invoke.x": "b"}},
        {"on": [{"event": "E"}]},
        {"after": [{"delay": 1}]},
        {"invoke": {"src": {"type": "x"}}},
        {"invoke": {"src": "x", "onDone": {"cond": "g"}}},
        {"type": "history", "target": {"a": "b"}},
        {"type": "final", "data": {}},
        {"on": {"E": {"actions": {"type": "xstate.raise", "event": "E"}}}},
        {"always": {"in": "#m.b"}},
    ],
)
def test_what_marks_a_machine_as_version_4(mark: dict[str, Any]) -> None:
    document = {"id": "m", "initial": "b", "states": {"a": mark, "b": {}}}
    assert upgrade_document(document).changes or upgrade_document(document).problems
