"""Targets resolve as under XState 5.33 (the answers were taken from it)."""

from __future__ import annotations

from typing import Any

import pytest

from statecharts.validation import check_document
from statecharts.validation.delays import js_to_number, looks_like_duration
from statecharts.validation.outline import build_outline
from statecharts.validation.report import Report
from statecharts.validation.targets import UnknownTarget, clash, reference, resolve_target

TREE: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "states": {
        "a": {"initial": "x", "states": {"x": {}, "y": {"id": "q"}}},
        "b.c": {"initial": "x", "states": {"x": {}}},
        "p": {
            "id": "dotted.id",
            "type": "parallel",
            "states": {
                "r": {"initial": "x", "states": {"x": {}, "y": {}}},
                "s": {},
                "h": {"type": "history"},
            },
        },
        "#z": {},
    },
}


def outline() -> Any:
    return build_outline(TREE, Report(TREE))


def at(path: str) -> Any:
    node = outline().root
    for key in filter(None, path.split("/")):
        node = node.children[key]
    return node


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("a", "p", "p"),
        ("a", "p.r.y", "p/r/y"),
        ("a", ".y", "a/y"),
        ("a", ".", "a"),
        ("a", "p.", "p"),
        ("a", "p..r", "p"),
        ("a", "b\\.c.x", "b.c/x"),
        ("a", "b.c", None),
        ("b.c", ".x", None),
        ("a", "#m", ""),
        ("a", "#m.a.x", "a/x"),
        ("a", "#q", "a/y"),
        ("a", "#dotted\\.id.r", "p/r"),
        ("a", "#dotted.id", None),
        ("a", "p.#q", "a/y"),
        ("a", "#z", None),
        ("a", "p\\", None),
        ("", ".a.x", "a/x"),
        ("", ".#q", "a/y"),
        ("", ".#nope", None),
        ("", "a", None),
        ("", "#q", "a/y"),
    ],
)
def test_resolution(source: str, target: str, found: str | None) -> None:
    tree = outline()
    node = tree.root
    for key in filter(None, source.split("/")):
        node = node.children[key]
    try:
        hit = resolve_target(tree, node, target)
    except UnknownTarget:
        assert found is None
    else:
        assert found is not None and hit.pointer == at(found).pointer


def test_references_lead_back() -> None:
    tree = outline()
    for node in tree.nodes:
        assert resolve_target(tree, tree.nodes[1], reference(tree, node)) is node


def test_clashes() -> None:
    tree = outline()
    p = tree.root.children["p"].children
    assert clash([p["r"], p["s"]]) is None
    assert clash([p["r"].children["x"], p["s"]]) is None
    assert clash([p["r"], p["r"].children["x"]]) is not None
    assert clash([p["r"].children["x"], p["s"], p["r"].children["y"]]) is not None
    assert clash([p["h"], p["s"]]) is not None
    assert clash([p["s"], p["s"]]) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1000", 1000),
        ("1e3", 1000),
        (" 5 ", 5),
        ("", 0),
        ("0x10", 16),
        ("0b11", 3),
        ("0o7", 7),
        (".5", 0.5),
        ("+1.", 1),
    ],
)
def test_numbers_as_javascript_reads_them(text: str, number: float) -> None:
    assert js_to_number(text) == number


@pytest.mark.parametrize(
    "text", ["x", "1s", "0x", "0xg", "0b2", "1_000", "-0x1", "NaN", "infinity", "1e", "0x1.5"]
)
def test_names_of_delays(text: str) -> None:
    assert js_to_number(text) != js_to_number(text)


def test_durations() -> None:
    assert all(map(looks_like_duration, ["2s", "1.5 min", "PT5S", "P1D", "1:30", "100ms", "3 Hours"]))
    assert not any(map(looks_like_duration, ["later", "P", "PAUSE", "s", "timeout2", "2 steps"]))


def test_odd_corners() -> None:
    ring = {f"s{i}": {"always": f"s{(i + 1) % 7}"} for i in range(7)}
    (problem,) = check_document({"initial": "s0", "states": ring})
    assert "…" in problem.message
    document = {
        "initial": "a",
        "states": {
            "a": {
                "on": {
                    7: "b",
                    "E": {"guard": {"type": "xstate.and", "params": {"guards": print}}},
                    "F": {"guard": {"type": "xstate.stateIn", "params": {"state": print}}},
                    "G": {"guard": {"type": "xstate.stateIn", "params": {"state": {1: "x"}}}},
                    "H": {"guard": {"type": "g", 1: 2}},
                },
                "entry": {"type": "xstate.assign", "params": {"context": {"a": 1}, 3: 4}},
            },
            "b": {"x" * 50: 1, "initial": "nowhere", "states": {"zzzz": {}}},
            3: {},
        },
        "schemas": {1: {}},
    }
    codes = [problem.code for problem in check_document(document)]
    assert codes.count("non-string-key") == 6
    assert "unknown-key" in codes
    assert "unknown-initial" in codes
