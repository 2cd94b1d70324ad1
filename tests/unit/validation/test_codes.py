"""Every code, with the smallest document that earns it, and the pointer it points to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statecharts.validation import Code, check_document
from statecharts.validation.codes import problems_page

A_B: dict[str, Any] = {"a": {}, "b": {}}


def machine(a: dict[str, Any] | None = None, **extra: Any) -> dict[str, Any]:
    """Two states, the first as given."""
    return {"id": "m", "initial": "a", "states": {"a": a or {}, "b": {}}, **extra}


def regions(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    return {"id": "m", "type": "parallel", "states": {"a": a, "b": b}}


def nested(depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(depth):
        made = {"initial": "a", "states": {"a": made}}
    return made


E = "/states/a/on/E"
CASES: list[tuple[Code, Any, str]] = [
    (Code.NOT_AN_OBJECT, [], ""),
    (Code.NOT_AN_OBJECT, None, ""),
    (Code.TOO_DEEP, nested(401), "/states/a" * 400),
    (Code.NON_STRING_KEY, machine({"after": {1000: "b"}}), "/states/a/after"),
    (Code.WRONG_TYPE, machine({"on": []}), "/states/a/on"),
    (Code.WRONG_TYPE, machine({"on": "E"}), "/states/a/on"),
    (Code.WRONG_TYPE, machine({"after": [{"delay": 10}]}), "/states/a/after"),
    (Code.WRONG_TYPE, machine({"after": {"10": ["b"]}}), "/states/a/after/10/0"),
    (Code.WRONG_TYPE, machine({"on": {"E": 3}}), E),
    (Code.WRONG_TYPE, machine({"on": {"E": [["b"]]}}), f"{E}/0"),
    (Code.WRONG_TYPE, machine({"on": {"E": {"target": 3}}}), f"{E}/target"),
    (Code.WRONG_TYPE, machine({"on": {"E": {"target": [3]}}}), f"{E}/target/0"),
    (Code.WRONG_TYPE, machine({"on": {"E": {"reenter": "yes"}}}), f"{E}/reenter"),
    (Code.WRONG_TYPE, machine({"on": {"E": {"guard": True}}}), f"{E}/guard"),
    (Code.WRONG_TYPE, machine({"on": {"E": {"actions": [3]}}}), f"{E}/actions/0"),
    (Code.WRONG_TYPE, machine({"on": {"E": {"actions": [["x"]]}}}), f"{E}/actions/0"),
    (Code.WRONG_TYPE, machine({"entry": {"type": 4}}), "/states/a/entry/type"),
    (Code.WRONG_TYPE, machine({"tags": 4}), "/states/a/tags"),
    (Code.WRONG_TYPE, machine({"tags": ["x", 4]}), "/states/a/tags/1"),
    (Code.WRONG_TYPE, machine({"id": 4}), "/states/a/id"),
    (Code.WRONG_TYPE, machine({"type": 4}), "/states/a/type"),
    (Code.WRONG_TYPE, machine({"states": []}), "/states/a/states"),
    (Code.WRONG_TYPE, machine({"invoke": 4}), "/states/a/invoke"),
    (Code.WRONG_TYPE, machine({"invoke": {"src": ["x"]}}), "/states/a/invoke/src"),
    (Code.WRONG_TYPE, machine({"invoke": {"src": "x", "id": 3}}), "/states/a/invoke/id"),
    (Code.WRONG_TYPE, machine({"id": "a", "route": "x"}), "/states/a/route"),
    (Code.WRONG_TYPE, machine({"initial": ["x"], "states": {"x": {}}}), "/states/a/initial"),
    (Code.WRONG_TYPE, machine({"initial": 3, "states": {"x": {}}}), "/states/a/initial"),
    (Code.WRONG_TYPE, machine({"type": "history", "target": 3}), "/states/a/target"),
    (Code.WRONG_TYPE, {"initial": "a", "states": {"a": "x"}}, "/states/a"),
    (Code.WRONG_TYPE, machine(context=[]), "/context"),
    (Code.WRONG_TYPE, machine(context="text"), "/context"),
    (Code.WRONG_TYPE, machine(options=3), "/options"),
    (Code.WRONG_TYPE, machine(options={"maxIterations": 0}), "/options/maxIterations"),
    (Code.WRONG_TYPE, machine(options={"maxIterations": None}), "/options/maxIterations"),
    (Code.WRONG_TYPE, machine(schemas=3), "/schemas"),
    (Code.WRONG_TYPE, machine({"entry": {"type": "xstate.raise", "params": 3}}), "/states/a/entry/params"),
    (Code.WRONG_TYPE, machine({"entry": {"type": "@xstate.raise", "event": 3}}), "/states/a/entry/event"),
    (
        Code.WRONG_TYPE,
        machine({"entry": {"type": "@xstate.raise", "event": {"type": 3}}}),
        "/states/a/entry/event/type",
    ),
    (Code.WRONG_TYPE, machine({"entry": {"type": "@xstate.cancel", "id": 3}}), "/states/a/entry/id"),
    (
        Code.WRONG_TYPE,
        machine({"entry": {"type": "@xstate.assign", "context": 3}}),
        "/states/a/entry/context",
    ),
    (
        Code.WRONG_TYPE,
        machine({"entry": {"type": "@xstate.raise", "event": "E", "delay": None}}),
        "/states/a/entry/delay",
    ),
    (
        Code.WRONG_TYPE,
        machine({"on": {"E": {"guard": {"type": "xstate.and", "params": {"guards": "x"}}}}}),
        f"{E}/guard/params/guards",
    ),
    (
        Code.WRONG_TYPE,
        machine({"on": {"E": {"guard": {"type": "xstate.stateIn", "params": {"state": 3}}}}}),
        f"{E}/guard/params/state",
    ),
    (
        Code.WRONG_TYPE,
        machine({"on": {"E": {"guard": {"type": "xstate.stateIn", "params": {"state": {"a": 3}}}}}}),
        f"{E}/guard/params/state/a",
    ),
    (Code.WRONG_ANNOTATION, machine({"description": 3}), "/states/a/description"),
    (Code.WRONG_ANNOTATION, machine(version=3), "/version"),
    (Code.NULL_VALUE, machine({"on": {"E": None}}), E),
    (Code.NULL_VALUE, machine({"on": {"E": [None]}}), f"{E}/0"),
    (Code.NULL_VALUE, machine({"on": {"E": {"target": None}}}), f"{E}/target"),
    (Code.NULL_VALUE, machine({"on": {"E": {"target": [None]}}}), f"{E}/target/0"),
    (Code.NULL_VALUE, machine({"on": {"E": {"actions": None}}}), f"{E}/actions"),
    (Code.NULL_VALUE, machine({"on": {"E": {"actions": [None]}}}), f"{E}/actions/0"),
    (Code.NULL_VALUE, machine({"always": {"guard": None, "target": "b"}}), "/states/a/always/guard"),
    (Code.NULL_VALUE, machine({"entry": None}), "/states/a/entry"),
    (Code.NULL_VALUE, machine({"exit": None}), "/states/a/exit"),
    (Code.NULL_VALUE, machine({"tags": None}), "/states/a/tags"),
    (Code.NULL_VALUE, machine({"tags": [None]}), "/states/a/tags/0"),
    (Code.NULL_VALUE, machine({"invoke": None}), "/states/a/invoke"),
    (Code.NULL_VALUE, machine({"invoke": [None]}), "/states/a/invoke/0"),
    (Code.NULL_VALUE, machine({"invoke": {"src": None}}), "/states/a/invoke/src"),
    (Code.NULL_VALUE, machine({"type": "history", "target": None}), "/states/a/target"),
    (Code.NULL_VALUE, {"initial": "a", "states": {"a": None}}, "/states/a"),
    (Code.NULL_IGNORED, machine({"on": None}), "/states/a/on"),
    (Code.NULL_IGNORED, machine({"after": None}), "/states/a/after"),
    (Code.NULL_IGNORED, machine({"after": {"10": None}}), "/states/a/after/10"),
    (Code.NULL_IGNORED, machine({"always": None}), "/states/a/always"),
    (Code.NULL_IGNORED, machine({"onDone": None}), "/states/a/onDone"),
    (Code.NULL_IGNORED, machine({"states": None}), "/states/a/states"),
    (Code.NULL_IGNORED, machine({"initial": None}), "/states/a/initial"),
    (Code.NULL_IGNORED, machine({"history": None}), "/states/a/history"),
    (Code.NULL_IGNORED, machine({"id": None}), "/states/a/id"),
    (Code.NULL_IGNORED, machine({"type": None}), "/states/a/type"),
    (Code.NULL_IGNORED, machine({"route": None}), "/states/a/route"),
    (Code.NULL_IGNORED, machine({"on": {"E": {"guard": None}}}), f"{E}/guard"),
    (Code.NULL_IGNORED, machine({"on": {"E": {"reenter": None}}}), f"{E}/reenter"),
    (Code.NULL_IGNORED, machine({"invoke": {"src": "x", "id": None}}), "/states/a/invoke/id"),
    (Code.NULL_IGNORED, machine({"invoke": {"src": "x", "onDone": None}}), "/states/a/invoke/onDone"),
    (Code.NULL_IGNORED, machine(context=None), "/context"),
    (Code.NULL_IGNORED, machine(options=None), "/options"),
    (Code.NULL_IGNORED, machine(schemas=None), "/schemas"),
    (Code.EMPTY_NAME, machine({"id": ""}), "/states/a/id"),
    (Code.EMPTY_NAME, {"initial": "a", "states": {"a": {}, "": {}}}, "/states/"),
    (Code.EMPTY_NAME, machine({"initial": ""}), "/states/a/initial"),
    (Code.EMPTY_NAME, machine({"entry": [""]}), "/states/a/entry/0"),
    (Code.EMPTY_NAME, machine({"entry": {"type": ""}}), "/states/a/entry/type"),
    (Code.EMPTY_NAME, machine({"on": {"E": {"guard": ""}}}), f"{E}/guard"),
    (Code.EMPTY_NAME, machine({"on": {"E": {"target": ["", "b"]}}}), f"{E}/target/0"),
    (Code.EMPTY_NAME, machine({"invoke": {"src": ""}}), "/states/a/invoke/src"),
    (Code.EMPTY_NAME, machine({"invoke": {"src": "x", "id": ""}}), "/states/a/invoke/id"),
    (Code.EMPTY_NAME, machine({"entry": {"type": "@xstate.raise", "event": ""}}), "/states/a/entry/event"),
    (
        Code.EMPTY_NAME,
        machine({"entry": {"type": "@xstate.raise", "event": {"type": ""}}}),
        "/states/a/entry/event/type",
    ),
    (Code.EMPTY_NAME, machine({"entry": {"type": "@xstate.cancel", "id": ""}}), "/states/a/entry/id"),
    (
        Code.EMPTY_NAME,
        machine({"on": {"E": {"guard": {"type": "@xstate.stateIn", "state": ""}}}}),
        f"{E}/guard/state",
    ),
    (Code.MISSPELT_KEY, machine({"entryy": "x"}), "/states/a/entryy"),
    (Code.MISSPELT_KEY, machine({"onn": {}}), "/states/a/onn"),
    (Code.MISSPELT_KEY, machine({"onEnter": "x"}), "/states/a/onEnter"),
    (Code.MISSPELT_KEY, machine({"ON": {}}), "/states/a/ON"),
    (Code.MISSPELT_KEY, machine({"tag": "x"}), "/states/a/tag"),
    (Code.MISSPELT_KEY, machine(contxt={}), "/contxt"),
    (Code.MISSPELT_KEY, machine(Initial="a"), "/Initial"),
    (Code.MISSPELT_KEY, machine({"on": {"E": {"targett": "b"}}}), f"{E}/targett"),
    (Code.MISSPELT_KEY, machine({"on": {"E": {"guards": "g"}}}), f"{E}/guards"),
    (Code.MISSPELT_KEY, machine({"on": {"E": {"action": "x"}}}), f"{E}/action"),
    (Code.MISSPELT_KEY, machine({"invoke": {"scr": "x"}}), "/states/a/invoke/scr"),
    (Code.MISSPELT_KEY, machine({"invoke": {"src": "x", "ondone": "b"}}), "/states/a/invoke/ondone"),
    (Code.MISSPELT_KEY, machine({"entry": {"type": "x", "param": {}}}), "/states/a/entry/param"),
    (Code.MISSPELT_KEY, machine({"on": {"E": {"guard": {"typ": "x"}}}}), f"{E}/guard/typ"),
    (Code.MISSPELT_KEY, machine(options={"maxIteration": 3}), "/options/maxIteration"),
    (Code.MISSPELT_KEY, machine({"entry": {"type": "@xstate.raise", "evnt": "E"}}), "/states/a/entry/evnt"),
    (Code.MISPLACED_KEY, machine({"guard": "x"}), "/states/a/guard"),
    (Code.MISPLACED_KEY, machine({"context": {}}), "/states/a/context"),
    (Code.MISPLACED_KEY, machine({"onError": "b"}), "/states/a/onError"),
    (Code.MISPLACED_KEY, machine({"target": "b"}), "/states/a/target"),
    (Code.MISPLACED_KEY, machine({"on": {"E": {"context": {}}}}), f"{E}/context"),
    (Code.MISPLACED_KEY, machine({"on": {"E": {"entry": "x"}}}), f"{E}/entry"),
    (Code.UNKNOWN_KEY, machine({"colour": "red"}), "/states/a/colour"),
    (Code.UNKNOWN_KEY, machine({"on": {"E": {"order": 1}}}), f"{E}/order"),
    (Code.FOREIGN_KEY, machine(actors={}), "/actors"),
    (Code.FOREIGN_KEY, machine({"delays": {}}), "/states/a/delays"),
    (Code.MISSING_MEMBER, machine({"invoke": {}}), "/states/a/invoke"),
    (Code.MISSING_MEMBER, machine({"entry": {"params": {}}}), "/states/a/entry"),
    (Code.MISSING_MEMBER, machine({"on": {"E": {"guard": {}}}}), f"{E}/guard"),
    (Code.MISSING_MEMBER, machine({"initial": {}, "states": {"x": {}}}), "/states/a/initial"),
    (Code.MISSING_MEMBER, machine({"entry": "xstate.raise"}), "/states/a/entry"),
    (Code.MISSING_MEMBER, machine({"entry": {"type": "@xstate.raise"}}), "/states/a/entry"),
    (
        Code.MISSING_MEMBER,
        machine({"entry": {"type": "xstate.sendTo", "params": {"event": "E"}}}),
        "/states/a/entry",
    ),
    (
        Code.MISSING_MEMBER,
        machine({"entry": {"type": "@xstate.raise", "event": {}}}),
        "/states/a/entry/event",
    ),
    (Code.MISSING_MEMBER, machine({"entry": {"type": "@xstate.assign"}}), "/states/a/entry"),
    (Code.MISSING_MEMBER, machine({"on": {"E": {"guard": "xstate.and"}}}), f"{E}/guard"),
    (
        Code.MISSING_MEMBER,
        machine({"on": {"E": {"guard": {"type": "xstate.not", "params": {}}}}}),
        f"{E}/guard",
    ),
    (Code.STRAY_MEMBER, machine({"entry": {"type": "x", "amount": 3}}), "/states/a/entry/amount"),
    (
        Code.STRAY_MEMBER,
        machine({"entry": {"type": "xstate.raise", "params": {"event": "E"}, "foo": 1}}),
        "/states/a/entry/foo",
    ),
    (
        Code.STRAY_MEMBER,
        machine({"entry": {"type": "@xstate.cancel", "id": "x", "zzzzz": 1}}),
        "/states/a/entry/zzzzz",
    ),
    *[
        (Code.V4_LEFTOVER, machine({key: value}), f"/states/a/{key}")
        for key, value in {
            "onEntry": "x",
            "onExit": "x",
            "activities": ["x"],
            "parallel": True,
            "strict": True,
            "delimiter": "/",
            "services": {},
        }.items()
    ],
    *[
        (Code.V4_LEFTOVER, machine({"on": {"E": {key: value}}}), f"{E}/{key}")
        for key, value in {"cond": "x", "in": "#m.b", "internal": True, "external": True}.items()
    ],
    *[
        (Code.V4_LEFTOVER, machine({"invoke": {"src": "x", key: True}}), f"/states/a/invoke/{key}")
        for key in ("data", "autoForward", "sync", "forward")
    ],
    (Code.V4_LEFTOVER, machine({"type": "final", "data": {}}), "/states/a/data"),
    (Code.V4_LEFTOVER, machine({"invoke": {"src": {"type": "x"}}}), "/states/a/invoke/src"),
    *[
        (Code.V4_LEFTOVER_HARMLESS, machine(**{key: value}), f"/{key}")
        for key, value in {
            "schema": {},
            "tsTypes": {},
            "predictableActionArguments": True,
            "preserveActionOrder": True,
            "strict": False,
        }.items()
    ],
    (Code.V4_EVENT_NAME, machine({"on": {"done.invoke.x": "b"}}), "/states/a/on/done.invoke.x"),
    (Code.V4_EVENT_NAME, machine({"on": {"error.platform.x": "b"}}), "/states/a/on/error.platform.x"),
    (Code.V4_EVENT_NAME, machine({"on": {"done.state.m.a": "b"}}), "/states/a/on/done.state.m.a"),
    (Code.V4_EVENT_NAME, machine({"on": {"xstate.after(10)#m.a": "b"}}), "/states/a/on/xstate.after(10)#m.a"),
    (Code.V4_ACTION, machine({"entry": {"type": "xstate.send", "event": "E"}}), "/states/a/entry/type"),
    (Code.V4_ACTION, machine({"entry": {"type": "xstate.choose", "conds": []}}), "/states/a/entry/type"),
    (Code.V4_ACTION, machine({"entry": "xstate.pure"}), "/states/a/entry"),
    (Code.NULL_EVENT, machine({"on": {"": "b"}}), "/states/a/on/"),
    (Code.UNKNOWN_TYPE, machine({"type": "paralel"}), "/states/a/type"),
    (Code.TYPE_MISMATCH, machine({"type": "atomic", "states": A_B}), "/states/a/type"),
    (Code.TYPE_MISMATCH, machine({"type": "parallel"}), "/states/a/type"),
    (Code.DUPLICATE_ID, machine({"id": "m.b"}), "/states/b"),
    (Code.DUPLICATE_ID, machine({"id": "m"}), "/states/a/id"),
    (Code.MISSING_INITIAL, machine({"states": A_B}), "/states/a"),
    (Code.MISSING_INITIAL, machine({"initial": None, "states": A_B}), "/states/a/initial"),
    (Code.MISSING_INITIAL, machine({"type": "compound"}), "/states/a"),
    (Code.UNKNOWN_INITIAL, machine(initial="c"), "/initial"),
    (Code.UNKNOWN_INITIAL, machine(initial="#m.a"), "/initial"),
    (Code.UNKNOWN_INITIAL, machine(initial={"target": "a.x"}), "/initial/target"),
    (Code.INITIAL_WITHOUT_STATES, machine({"initial": "x"}), "/states/a/initial"),
    (Code.INITIAL_IGNORED, machine({"type": "parallel", "initial": "a", "states": A_B}), "/states/a/initial"),
    (Code.INITIAL_HISTORY_LOOP, machine({"type": "history"}), "/initial"),
    (Code.INITIAL_HISTORY_LOOP, machine({"type": "history", "target": "a"}), "/states/a/target"),
    (Code.HISTORY_AT_ROOT, {"type": "history"}, "/type"),
    (Code.HISTORY_AT_ROOT, {"history": "deep"}, "/history"),
    (
        Code.UNKNOWN_HISTORY,
        machine({"type": "history", "target": "b", "history": "Deep"}),
        "/states/a/history",
    ),
    (Code.IGNORED_HISTORY, machine({"type": "atomic", "history": "deep"}), "/states/a/history"),
    (Code.IGNORED_HISTORY, machine({"initial": "a", "states": A_B, "history": True}), "/states/a/history"),
    (Code.NEVER_RUNS, machine({"type": "history", "target": "b", "entry": "x"}), "/states/a/entry"),
    (Code.NEVER_RUNS, machine({"type": "final", "initial": "a", "states": A_B}), "/states/a/states"),
    (Code.NEVER_FIRES, machine(onDone=".a"), "/onDone"),
    (Code.NEVER_FIRES, machine({"onDone": "b"}), "/states/a/onDone"),
    (Code.NEVER_FIRES, machine({"type": "final", "on": {"E": "b"}}), "/states/a/on"),
    (Code.OUTPUT_IGNORED, machine({"output": 1}), "/states/a/output"),
    (Code.ROUTE_IGNORED, machine({"route": {}}), "/states/a/route"),
    (Code.ROUTE_IGNORED, machine(route={}), "/route"),
    (Code.UNKNOWN_TARGET, machine({"on": {"E": "c"}}), E),
    (Code.UNKNOWN_TARGET, machine({"on": {"E": ["#nope"]}}), f"{E}/0"),
    (Code.UNKNOWN_TARGET, machine({"always": {"target": ["b", ".x"]}}), "/states/a/always/target/1"),
    (Code.UNKNOWN_TARGET, machine({"invoke": {"src": "x", "onDone": "c"}}), "/states/a/invoke/onDone"),
    (Code.UNKNOWN_TARGET, machine({"after": {"10": {"target": "c"}}}), "/states/a/after/10/target"),
    (Code.UNKNOWN_TARGET, machine({"type": "history", "target": "c"}), "/states/a/target"),
    (Code.UNKNOWN_TARGET, machine({"type": "history", "target": ".b"}), "/states/a/target"),
    (Code.UNKNOWN_TARGET, machine({"on": {"E": "b..c"}}), E),
    (Code.ROOT_TARGET, machine(on={"E": "a"}), "/on/E"),
    (
        Code.AMBIGUOUS_TARGET,
        {
            "id": "m",
            "initial": "a",
            "states": {"a": {"initial": "b", "states": {"b": {}}}, "a.b": {"on": {"E": "a.b"}}},
        },
        "/states/a.b/on/E",
    ),
    (
        Code.AMBIGUOUS_TARGET,
        {
            "id": "m",
            "initial": "a",
            "states": {"a": {"on": {"E": "#m.b"}}, "b": {"id": "q"}, "c": {"id": "m.b"}},
        },
        E,
    ),
    (Code.ILLEGAL_TARGETS, machine({"on": {"E": {"target": ["a", "b"]}}}), f"{E}/target"),
    (Code.ILLEGAL_TARGETS, machine({"on": {"E": {"target": ["#m", "b"]}}}), f"{E}/target"),
    (Code.UNREACHABLE_TRANSITION, machine({"on": {"E": ["b", {"guard": "g", "target": "a"}]}}), f"{E}/1"),
    (
        Code.ENDLESS_ALWAYS,
        {"initial": "a", "states": {"a": {"always": "b"}, "b": {"always": "a"}}},
        "/states/a/always",
    ),
    (
        Code.ENDLESS_ALWAYS,
        machine({"always": {"actions": {"type": "@xstate.assign", "context": {"n": 1}}}}),
        "/states/a/always",
    ),
    (
        Code.REPLACED_HANDLER,
        machine({"on": {"xstate.done.actor.x": "b"}, "invoke": {"id": "x", "src": "x", "onDone": "b"}}),
        "/states/a/on/xstate.done.actor.x",
    ),
    (
        Code.REPLACED_HANDLER,
        machine({"initial": "x", "states": {"x": {}}, "on": {"xstate.done.state.m.a": "b"}, "onDone": "b"}),
        "/states/a/on/xstate.done.state.m.a",
    ),
    (Code.INFIX_WILDCARD, machine({"on": {"a.*.b": "b"}}), "/states/a/on/a.*.b"),
    (Code.INFIX_WILDCARD, machine({"on": {"a*": "b"}}), "/states/a/on/a*"),
    (Code.EVENT_NEVER_SENT, machine({"on": {"xstate.init": "b"}}), "/states/a/on/xstate.init"),
    (
        Code.EVENT_NEVER_SENT,
        machine({"on": {"xstate.done.state.zz": "b"}}),
        "/states/a/on/xstate.done.state.zz",
    ),
    (Code.DURATION_LIKE_DELAY, machine({"after": {"2s": "b"}}), "/states/a/after/2s"),
    (Code.DURATION_LIKE_DELAY, machine({"after": {"PT5S": "b"}}), "/states/a/after/PT5S"),
    (Code.ODD_DELAY, machine({"after": {"": "b"}}), "/states/a/after/"),
    (Code.ODD_DELAY, machine({"after": {"-5": "b"}}), "/states/a/after/-5"),
    (Code.ODD_DELAY, machine({"after": {"Infinity": "b"}}), "/states/a/after/Infinity"),
    (
        Code.ODD_DELAY,
        machine({"entry": {"type": "@xstate.raise", "event": "E", "delay": -1}}),
        "/states/a/entry/delay",
    ),
    (Code.UNKNOWN_BUILTIN, machine({"entry": {"type": "xstate.rise"}}), "/states/a/entry/type"),
    (Code.UNKNOWN_BUILTIN, machine({"entry": "@xstate.enqueueActions"}), "/states/a/entry"),
    (Code.UNKNOWN_BUILTIN, machine({"on": {"E": {"guard": {"type": "xstate.xor"}}}}), f"{E}/guard/type"),
    (Code.UNKNOWN_BUILTIN, machine({"on": {"E": {"guard": "xstate.xor"}}}), f"{E}/guard"),
    *[
        (
            Code.UNKNOWN_STATE,
            machine({"on": {"E": {"guard": {"type": "xstate.stateIn", "params": {"state": state}}}}}),
            f"{E}/guard/params/state{suffix}",
        )
        for state, suffix in [("#zz", ""), ("c", ""), ("a.x", ""), ({"c": "x"}, "/c"), ({"a": "x"}, "/a")]
    ],
    (Code.BAD_EXPRESSION, machine({"on": {"E": {"guard": {"@expr": ""}}}}), f"{E}/guard/@expr"),
    (Code.BAD_EXPRESSION, machine({"on": {"E": {"guard": {"@expr": "x", "@lang": 3}}}}), f"{E}/guard/@lang"),
    (Code.BAD_EXPRESSION, machine({"on": {"E": {"guard": {"@expr": "x", "y": 3}}}}), f"{E}/guard/y"),
    (Code.BAD_EXPRESSION, machine({"on": {"E": {"guard": {"@code": "x"}}}}), f"{E}/guard"),
    (Code.BAD_EXPRESSION, machine({"entry": {"@expr": "x"}}), "/states/a/entry"),
    (
        Code.BAD_EXPRESSION,
        machine({"invoke": {"src": "x", "input": [{"@expr": 3}]}}),
        "/states/a/invoke/input/0/@expr",
    ),
    (Code.BARE_INVOKE, machine({"invoke": "x"}), "/states/a/invoke"),
    (Code.BARE_INVOKE, machine({"invoke": ["x"]}), "/states/a/invoke/0"),
    (
        Code.DUPLICATE_INVOKE_ID,
        regions({"invoke": {"src": "x", "id": "i"}}, {"invoke": {"src": "x", "id": "i"}}),
        "/states/b/invoke/id",
    ),
    (
        Code.DUPLICATE_INVOKE_ID,
        machine({"invoke": [{"src": "x", "id": "i"}, {"src": "y", "id": "i"}]}),
        "/states/a/invoke/1/id",
    ),
    (
        Code.DUPLICATE_INVOKE_ID,
        machine({"invoke": {"src": "x", "id": "0.m"}}, invoke={"src": "y"}),
        "/states/a/invoke/id",
    ),
    (
        Code.DUPLICATE_SYSTEM_ID,
        regions({"invoke": {"src": "x", "systemId": "i"}}, {"invoke": {"src": "x", "systemId": "i"}}),
        "/states/b/invoke/systemId",
    ),
    (Code.SCHEMA_INVALID, machine(schemas={"context": {"type": "strin"}}), "/schemas/context/type"),
    (Code.SCHEMA_INVALID, machine(schemas={"events": {"E": {"required": "x"}}}), "/schemas/events/E/required"),
    (
        Code.SCHEMA_INVALID,
        machine(schemas={"actors": {"x": {"output": {"minimum": "x"}}}}),
        "/schemas/actors/x/output/minimum",
    ),
    (Code.SCHEMA_SHAPE, machine(schemas={"context": 3}), "/schemas/context"),
    (Code.SCHEMA_DIALECT, machine(schemas={"context": {"$schema": "urn:none"}}), "/schemas/context/$schema"),
    (Code.SCHEMA_REFERENCE, machine(schemas={"context": {"$ref": "#/$defs/no"}}), "/schemas/context/$ref"),
    (Code.EXPRESSION_SYNTAX, machine({"on": {"E": {"guard": {"@expr": "1 +"}}}}), f"{E}/guard"),
    (Code.EXPRESSION_LANGUAGE, machine({"on": {"E": {"guard": {"@expr": "x", "@lang": "lisp"}}}}), f"{E}/guard"),
    (Code.CONTEXT_IS_CODE, machine(context="{{() => ({})}}"), "/context"),
]

ELSEWHERE = {
    Code.JSON_SYNTAX: "tests/unit/test_positions.py",
    Code.DUPLICATE_KEY: "tests/unit/test_positions.py",
    Code.UPGRADE_UNSUPPORTED: "tests/upgrade/test_upgrade.py",
    Code.UPGRADE_REVIEW: "tests/upgrade/test_upgrade.py",
}
FROM_LIBRARIES = tuple(code for code in Code if code.slug.startswith(("schema-", "expression-")))
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("code", "document", "pointer"), CASES, ids=lambda value: getattr(value, "slug", None)
)
def test_code_at_pointer(code: Code, document: Any, pointer: str) -> None:
    problems = check_document(document)
    found = [problem for problem in problems if (problem.code, problem.pointer) == (code.slug, pointer)]
    assert found, [str(problem) for problem in problems]
    assert found[0].severity == code.severity
    assert found[0].message.endswith((".", "?")) or code in FROM_LIBRARIES
    assert found[0].hint or code in (*FROM_LIBRARIES, Code.WRONG_TYPE, Code.UNKNOWN_TARGET)


def test_every_code_has_a_case() -> None:
    tested = {code for code, _, _ in CASES} | set(ELSEWHERE)
    assert [code.slug for code in Code if code not in tested] == []


def test_codes_tested_elsewhere_are() -> None:
    for code, file in ELSEWHERE.items():
        assert code.slug in (ROOT / file).read_text()


def test_slugs_are_kebab_case_and_unique() -> None:
    slugs = [code.slug for code in Code]
    assert len(set(slugs)) == len(slugs)
    assert all(slug.replace("-", "").isalnum() and slug == slug.lower() for slug in slugs)


def test_the_reference_page_is_the_table() -> None:
    assert (ROOT / "docs" / "reference" / "problems.md").read_text() == problems_page()
