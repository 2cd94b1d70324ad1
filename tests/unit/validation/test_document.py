"""What the strict reading accepts, what it advises, and in which order it speaks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from statecharts.validation import check_document
from statecharts.values import UNDEFINED

SHARED = Path(__file__).resolve().parents[4] / "shared"


def machine(a: dict[str, Any] | None = None, **extra: Any) -> dict[str, Any]:
    return {"id": "m", "initial": "a", "states": {"a": a or {}, "b": {}}, **extra}


def errors(document: Any, **options: Any) -> list[str]:
    return [problem.code for problem in check_document(document, **options) if problem.severity == "error"]


def hint(document: Any) -> str:
    return check_document(document)[0].hint or ""


FUNCTION: Any = lambda: None  # noqa: E731 (any object that is not JSON)

CLEAN: list[dict[str, Any]] = [
    {},
    {"id": "m"},
    {"states": {}},
    machine(),
    machine(
        {
            "on": {
                "E": "b",
                "F": {},
                "G": "",
                "H": [],
                "I": {"target": ""},
                "J": {"actions": []},
                "K": {"target": []},
            }
        }
    ),
    machine({"on": {"E": UNDEFINED}}),
    machine(
        {"on": {"*": "b", "a.*": "b", "a.b": ["b"], "xstate.done.actor.x": "b", "xstate.error.actor.*": "b"}}
    ),
    machine({"on": {"E": [{"guard": "g", "target": "b"}, {"guard": {"type": "h", "params": [1]}}, "b"]}}),
    machine(
        {
            "after": {
                "10": "b",
                "1e3": {"target": "b"},
                "later": [{"target": "b", "guard": "g"}, {}],
                "0x10": "b",
            }
        }
    ),
    machine({"always": [{"guard": "g", "target": "b"}]}),
    machine(
        {"entry": "x", "exit": ["x", {"type": "y", "params": {"n": 1}}, {"type": "z", "description": "why"}]}
    ),
    machine(
        {
            "invoke": {
                "src": "x",
                "id": "i",
                "systemId": "s",
                "input": {"n": {"@expr": "context.n"}},
                "onDone": "b",
            }
        }
    ),
    machine(
        {"invoke": [{"src": "x"}, {"src": "x", "onError": {"target": "b"}, "onSnapshot": {"actions": "y"}}]}
    ),
    machine({"tags": "t", "meta": {"anything": None}, "description": "text"}),
    machine({"id": "here", "route": {"guard": "g", "actions": "x"}}),
    machine({"initial": {"target": "x", "actions": ["y"], "description": "d"}, "states": {"x": {}}}),
    machine(version="1", types={}, meta=None, options={"maxIterations": 5}, context={"n": None}),
    machine(
        schemas={
            "context": {"type": "object"},
            "events": {"E": {}},
            "input": True,
            "actors": {"x": {"output": {}}},
        }
    ),
    {"$schema": "https://example.org/machine.json", "id": "m"},
    # final states inside a region may go on; histories with and without defaults
    {
        "type": "parallel",
        "states": {"a": {"initial": "x", "states": {"x": {"type": "final", "on": {"E": "y"}}, "y": {}}}},
    },
    machine(
        {
            "initial": "x",
            "states": {"x": {}, "h": {"type": "history"}, "d": {"history": "deep", "target": "#m.b"}},
        }
    ),
    # actors of one id in states that exclude each other
    {
        "initial": "a",
        "states": {"a": {"invoke": {"src": "x", "id": "i"}}, "b": {"invoke": {"src": "x", "id": "i"}}},
    },
    # eventless transitions that come to rest, or may
    {"initial": "a", "states": {"a": {"always": "b"}, "b": {"always": {"guard": "g", "target": "a"}}}},
    {"initial": "a", "states": {"a": {"always": "b"}, "b": {"always": "c"}, "c": {"type": "final"}}},
    machine({"always": {"actions": "log"}}),
    machine({"always": "a"}),
    {"initial": "a", "always": ".b", "states": {"a": {}, "b": {}}},
    {"type": "parallel", "states": {"p": machine({"always": "b"})}},
    # names as Studio writes them
    {
        "id": "Traffic Light",
        "initial": "red light",
        "states": {
            "red light": {
                "on": {"go now": [{"target": "#Traffic Light.green", "actions": [], "meta": {}}]},
                "entry": {"type": "inline:Traffic Light.red light#entry[0]", "params": {}},
            },
            "green": {"id": "the.green", "on": {"back": "#the\\.green", "x": "red light"}},
        },
    },
    {"id": "m", "initial": "2", "states": {"2": {"on": {"E": "1"}}, "1": {"on": {"E": "#m.2"}}}},
    {"id": "m", "initial": "a.b", "states": {"a.b": {"on": {"E": "a\\.b"}}}},
    {
        "initial": "p",
        "states": {
            "p": {
                "type": "parallel",
                "states": {"x": machine() | {"id": "x"}, "y": machine() | {"id": "y"}},
                "on": {"E": {"target": [".x.b", ".y.b"]}},
            },
        },
    },
    # the built-ins as data
    machine(
        {
            "entry": [
                {"type": "@xstate.raise", "event": {"type": "E"}, "id": "r", "delay": 10},
                {"type": "@xstate.cancel", "id": "r"},
                {"type": "@xstate.log", "args": ["text", {"@expr": "context.n"}]},
                {"type": "@xstate.emit", "event": {"type": "E", "n": {"@expr": "context.n", "@lang": "cel"}}},
                {"type": "@xstate.assign", "context": {"n": {"@expr": "context.n + 1"}}},
                {"type": "xstate.raise", "params": {"event": {"type": "E"}, "delay": "later"}},
                {"type": "xstate.sendTo", "params": {"actorRef": "i", "event": "E"}},
                {"type": "xstate.sendParent", "params": {"event": {"type": "E"}}},
                {"type": "xstate.forwardTo", "params": {"to": "i"}},
                {"type": "xstate.cancel", "params": {"id": "r"}},
                {"type": "xstate.log", "params": {"message": "text"}},
                {"type": "xstate.emit", "params": {"event": {"type": "E"}}},
                {"type": "xstate.assign", "params": {"n": 1}},
                {"type": "xstate.spawnChild", "params": {"src": "x", "id": "i", "input": {}}},
                {"type": "xstate.stopChild", "params": {"id": "i"}},
                {"type": "xstate.raise", "event": {"type": "E"}},
            ]
        }
    ),
    machine(
        {
            "on": {
                "E": {
                    "guard": {
                        "type": "xstate.and",
                        "params": {
                            "guards": ["g", {"type": "xstate.not", "params": {"guard": {"@expr": "true"}}}]
                        },
                    }
                },
                "F": {
                    "guard": {
                        "type": "@xstate.or",
                        "guards": ["g", {"type": "@xstate.stateIn", "state": "#m.b"}],
                    }
                },
                "G": {"guard": {"type": "xstate.stateIn", "params": {"state": {"a": {}}}}},
            }
        }
    ),
    # Python objects where behaviour is expected
    machine(
        {
            "entry": [FUNCTION],
            "on": {"E": {"guard": FUNCTION, "actions": FUNCTION}},
            "invoke": {"src": FUNCTION, "input": FUNCTION},
            "exit": {"type": "@xstate.raise", "event": FUNCTION, "delay": FUNCTION},
        },
        context=FUNCTION,
        output=FUNCTION,
        schemas=FUNCTION,
    ),
    machine({"on": {"E": ({"guard": "g", "target": ("b",)},)}}),
]


@pytest.mark.parametrize("document", CLEAN, ids=range(len(CLEAN)))
def test_no_problem_at_all(document: dict[str, Any]) -> None:
    assert [str(problem) for problem in check_document(document)] == []


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (machine({"entryy": "x"}), "`entry`"),
        (machine({"onEntry": "x"}), "`entry`"),
        (machine({"type": "final", "data": 1}), "`output`"),
        (machine({"on": {"E": {"cond": "x"}}}), "`guard`"),
        (machine({"on": {"done.invoke.x": "b"}}), "`xstate.done.actor.x`"),
        (machine({"on": {"xstate.after(10)#m.a": "b"}}), "`xstate.after.10.m.a`"),
        (machine({"on": {"E": "bb"}}), '"b"'),
        ({"id": "m", "initial": "open", "states": {"open": {"on": {"E": "#m.opne"}}}}, '"#m.open"'),
        (machine({"on": {"E": "#b"}}), '"#m.b"'),
        (machine({"initial": "x", "states": {"x": {"on": {"E": "b"}}}}), '"#m.b"'),
        (machine({"initial": "x", "on": {"E": "x"}, "states": {"x": {}}}), '".x"'),
        (machine(on={"E": "a"}), '".a"'),
        ({"id": "m", "initial": "a", "states": {"a": {"on": {"E": "b.c"}}, "b.c": {}}}, "b\\.c"),
        (machine(initial="bb") | {"states": {"b": {}}}, '"b"'),
        (machine(initial="a.x"), '"a"'),
        (machine(initial="#m.a"), '"a"'),
        (machine({"states": {"x": {}}}), '"initial": "x"'),
        (machine({"invoke": "fetch"}), '{"src": "fetch"}'),
        (machine({"entry": {"type": "x", "amount": 1}}), '"params": {"amount": …}'),
        (machine({"type": "Parallel"}), '"parallel"'),
        (machine({"on": {"a.*.c": "b"}}), "`a.*`"),
        (machine({"entry": {"type": "xstate.raize"}}), "xstate.raise"),
    ],
)
def test_hints_say_what_to_write(document: dict[str, Any], words: str) -> None:
    assert words in hint(document)


def test_problems_come_in_document_order() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "states": {"a": {"id": "m", "on": {"E": "zz"}, "entry": None}, "b": {"initial": "q"}},
        "contxt": {},
        "on": {"E": "a"},
    }
    assert [problem.pointer for problem in check_document(document)] == [
        "/states/a/id",
        "/states/a/on/E",
        "/states/a/entry",
        "/states/b/initial",
        "/contxt",
        "/on/E",
    ]


def test_known_implementations_silence_guesses() -> None:
    document = machine({"after": {"2s": "b"}}, context="{{ code }}")
    assert [problem.code for problem in check_document(document)] == [
        "duration-like-delay",
        "context-is-code",
    ]
    assert check_document(document, implementations_known=True) == []


def test_a_document_that_contains_itself() -> None:
    document: dict[str, Any] = machine()
    document["states"]["a"] = document
    assert "too-deep" in errors(document)
    loop: list[Any] = []
    loop.append(loop)
    assert errors(machine(context={"loop": loop})) == []


def test_deep_documents_do_not_crash() -> None:
    guard: Any = "g"
    value: Any = 1
    for _ in range(3000):
        guard = {"type": "xstate.not", "params": {"guard": guard}}
        value = {"properties": {"a": value}}
    assert errors(machine({"on": {"E": {"guard": guard}}})) == ["too-deep"]
    assert errors(machine(context=value, entry={"type": "x", "params": value})) == []
    assert errors(machine(schemas={"context": value})) == ["too-deep"]


def large(count: int) -> dict[str, Any]:
    states = {
        f"s{i}": {
            "on": {"E": f"s{(i + 1) % count}", "F": {"target": f"s{i // 2}", "guard": "g", "actions": ["x"]}},
            "after": {"1000": f"s{i}"},
            "invoke": {"src": "x", "id": "same", "onDone": "typo"},
        }
        for i in range(count)
    }
    return {"id": "m", "initial": "s0", "states": states}


def calls_to_check(document: dict[str, Any]) -> int:
    """How many Python functions are entered; the work done, whatever the machine is busy with."""
    count = 0

    def profile(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        check_document(document)
    finally:
        sys.setprofile(None)
    return count


def test_work_grows_in_proportion_to_the_document() -> None:
    assert calls_to_check(large(2_000)) < 4.4 * calls_to_check(large(500))


def test_ten_thousand_states_report_all_their_problems() -> None:
    assert len(check_document(large(10_000))) == 10_000


REFUSED = {
    "AtmScenario.json": {"missing-initial"},
    "yeShunguang.json": {"missing-initial"},
    "kettle.json": {"endless-always"},
    "autocomplete.json": {"context-is-code"},
    "commerce.json": {"context-is-code"},
    "game.json": {"context-is-code"},
    "game_v2.json": {"context-is-code"},
}


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the measured reference material is not beside the checkout")
def test_real_exports_load_unless_listed() -> None:
    refused = {}
    for file in sorted((SHARED / "corpus").glob("*.json")):
        found = set(errors(json.loads(file.read_text(encoding="utf-8"))))
        if found:
            refused[file.name] = found
    assert refused == REFUSED
