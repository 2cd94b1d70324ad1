"""XState machines as SCXML: exact to read again, honest about what another engine would do."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from generator import make_case
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_machines import Step, documents, steps
from scxml_documents import values

from statecharts import DefinitionError, UsageError, load_machine, simulate
from statecharts.adapters.formats.scxml import read_document, to_scxml, write_document
from statecharts.adapters.formats.scxml_export_codes import ExportCode
from statecharts.errors import EndlessLoopError

Json = dict[str, Any]
TESTS = Path(__file__).parents[1]


def back(document: Json) -> Json:
    """Exported and read again."""
    found = read_document(to_scxml(document).text)
    assert found.warnings == ()
    return found.document


def assert_exact(document: Json) -> None:
    text = to_scxml(document).text
    assert json.dumps(back(document)) == json.dumps(document)
    plain = read_document(text, plain=True)
    assert plain.document["semantics"] == "scxml"
    assert read_document(write_document(plain.document)).document == plain.document


# ------------------------------------------------------------------ round trips


@given(documents())
@settings(max_examples=150)
def test_random_machines_are_read_again_exactly(document: Json) -> None:
    assert_exact(json.loads(json.dumps(document)))


@pytest.mark.parametrize("seed", [1, 2])
def test_machines_of_the_differential_tests_are_read_again_exactly(seed: int) -> None:
    refused = 0
    for index in range(150):
        case, _features = make_case(seed, index)
        document = json.loads(json.dumps(case["machine"]))
        try:
            to_scxml(document)
        except UsageError:
            refused += 1  # unknown initial states and targets, which XState refuses too
            continue
        assert_exact(document)
    assert refused < 10


GOLDEN = {
    f"{path.stem}/{case['id']}": case["machine"]
    for path in sorted((TESTS / "golden" / "directed").glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
    if "machine" in case
}
REFUSED = {
    "building/unknown-initial-fails-at-start",
    "building/unknown-nested-initial-fails-on-entry",
    "building/unknown-later-initial-fails-on-entry",
    "building/unknown-target-refused",
    "building/unknown-id-target-refused",
    "building/root-sibling-target-refused",
    "targets/multiple-targets-in-one-compound",
}
"""What XState fails on when it gets there; SCXML forbids it from the start."""


@pytest.mark.parametrize("name", GOLDEN)
def test_every_recorded_machine_is_read_again_exactly(name: str) -> None:
    if name in REFUSED:
        with pytest.raises(UsageError):
            to_scxml(GOLDEN[name])
    else:
        assert_exact(GOLDEN[name])


guards = st.recursive(
    st.sampled_from(["g", "it's", {"type": "g"}, {"type": "g", "params": {"k": '"'}}, {"@expr": "context.n > 1"}])
    | st.sampled_from([{"type": "xstate.stateIn", "params": {"state": "a"}}, {"type": "@xstate.stateIn", "state": {"a": "x"}}]),
    lambda inner: st.lists(inner, max_size=2).map(lambda made: {"type": "@xstate.and", "guards": made})
    | st.lists(inner, max_size=2).map(lambda made: {"type": "xstate.or", "params": {"guards": made}})
    | inner.map(lambda made: {"type": "@xstate.not", "guard": made}),
    max_leaves=4,
)  # fmt: skip
event_objects = st.sampled_from(["E", {"type": "E"}, {"type": "a b", "x": [1]}, {"type": "E", "x": {"@expr": "1"}}, {"@expr": "event"}])
more = st.fixed_dictionaries(
    {}, optional={"id": st.sampled_from(["i", ""]), "delay": st.sampled_from([0, 1.5, -1, 1e30, "soon", {"@expr": "1"}])}
)


def built_in(name: str, members: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """A built-in action in either spelling."""
    return members.map(lambda made: {"type": f"@xstate.{name}", **made}) | members.map(
        lambda made: {"type": f"xstate.{name}", "params": made}
    )


actions = st.one_of(
    st.sampled_from(["act", "", "é", "\x00", None, "xstate.log"]),
    st.fixed_dictionaries({}, optional={"type": st.sampled_from(["act", "", "x y", 5, True]), "params": values, "meta": values}),
    built_in("raise", st.tuples(event_objects, more).map(lambda made: {"event": made[0], **made[1]})),
    built_in("sendTo", st.tuples(event_objects, more).map(lambda made: {"to": "kid", "event": made[0], **made[1]})),
    built_in("sendTo", st.sampled_from([{"to": "#_internal", "event": "E", "delay": 1}, {"to": 1, "event": "E"}, {}])),
    built_in("sendParent", event_objects.map(lambda made: {"event": made})),
    built_in("cancel", st.sampled_from([{"id": "i"}, {"sendId": "i"}, {"id": 1}, {}])),
    built_in("log", st.sampled_from([{}, {"value": 1}, {"args": ["x"]}, {"args": []}, {"label": "l", "message": {"@expr": "1"}}])),
    built_in("assign", st.dictionaries(st.text(max_size=3), values, max_size=2).map(lambda made: {"context": made})),
    built_in("assign", st.sampled_from([{"assignments": {"a": 1, "b": {"@expr": "1"}}}, {"n": 1}, {"context": 5}])),
    built_in("emit", event_objects.map(lambda made: {"event": made})),
    built_in("spawnChild", st.just({"src": "kid"})),
    built_in("stopChild", st.just({"id": "kid"})),
    built_in("forwardTo", st.just({"to": "kid"})),
)  # fmt: skip
one_or_many = actions | st.lists(actions, max_size=3)
keys = st.sampled_from(["a", "b", "c d", "1", "01", "e.f", "Ü", "x_", "x/", "~", "#", "\x00", "a\nb", "__proto__", " "])
delays = st.sampled_from(["10", "0", "1e3", "1000.5", "later on", "", "-5", "Infinity", "1e400", "0x10"])
descriptors = st.sampled_from(["E", "*", "e.*", "e.f.*", "e.f", "two words", "xstate.done.state.m.a", "xstate.done.actor.i", "xstate.init", "é\x01"])


@st.composite
def odd_machines(draw: Any) -> Json:
    """Machines with odd names, every shape of transition and action, and members in any order."""
    children = draw(st.lists(keys, min_size=1, max_size=4, unique=True))
    paths = [f"#m.{key}" for key in children if key.replace("_", "").isalnum()] or [""]

    def transition() -> Any:
        target = draw(st.sampled_from([*paths, "", [paths[0]]])) if paths != [""] else ""
        if isinstance(target, str) and draw(st.booleans()):
            return target
        made: Json = {"target": target} if draw(st.booleans()) else {}
        made |= draw(
            st.fixed_dictionaries(
                {}, optional={"guard": guards, "actions": one_or_many, "reenter": st.booleans(), "meta": values, "description": st.text(max_size=4)}
            )
        )  # fmt: skip
        return shuffled(made)

    def slot() -> Any:
        return transition() if draw(st.booleans()) else [transition() for _ in range(draw(st.integers(0, 3)))]

    def shuffled(members: Json) -> Json:
        return {key: members[key] for key in draw(st.permutations(list(members)))}

    def state(depth: int) -> Json:
        made: Json = draw(st.fixed_dictionaries({}, optional={"entry": one_or_many, "exit": one_or_many, "tags": st.just(["t"])}))
        kind = draw(st.sampled_from(["atomic", "atomic", "final", "history", "compound", "parallel"]))
        if kind == "history" and depth < 2:
            return shuffled(draw(st.fixed_dictionaries({"type": st.just("history")}, optional={"history": st.sampled_from(["deep", "shallow", True]), "meta": values})))
        if kind == "final":
            return shuffled(made | {"type": "final"} | draw(st.fixed_dictionaries({}, optional={"output": values})))
        made |= {"on": {draw(descriptors): slot() for _ in range(draw(st.integers(0, 3)))}} if draw(st.booleans()) else {}
        made |= {"after": {draw(delays): slot()}} if draw(st.integers(0, 3)) == 0 else {}
        made |= {"always": slot()} if draw(st.integers(0, 3)) == 0 else {}
        made |= {"onDone": slot()} if draw(st.integers(0, 3)) == 0 else {}
        if draw(st.integers(0, 3)) == 0:
            invokes = [
                shuffled(draw(st.fixed_dictionaries({"src": st.sampled_from(["job", "é", "\x00"])}, optional={"id": st.sampled_from(["i", "j k"]), "input": values, "systemId": st.just("s")})) | {handler: slot() for handler in draw(st.sets(st.sampled_from(["onDone", "onError", "onSnapshot"])))})
                for _ in range(draw(st.integers(1, 2)))
            ]  # fmt: skip
            made["invoke"] = invokes if len(invokes) > 1 or draw(st.booleans()) else invokes[0]
        if depth and kind in ("compound", "parallel"):
            inner = {key: state(depth - 1) for key in draw(st.lists(keys, min_size=1, max_size=3, unique=True))}
            made["states"] = inner
            real = [key for key in inner if inner[key].get("type") != "history"]
            if kind == "parallel" or not real:
                made["type"] = "parallel"
            else:
                first = draw(st.sampled_from(real))
                made["initial"] = draw(st.sampled_from([first, {"target": first}, {"target": first, "actions": "act"}]))
        elif draw(st.integers(0, 5)) == 0:
            made["states"] = {}
        return shuffled(made)

    document = {"id": "m", "states": {key: state(1) for key in children}}
    real = [key for key in children if document["states"][key].get("type") != "history"]  # type: ignore[index]
    document |= {"initial": draw(st.sampled_from(real))} if real else {"type": "parallel"}
    document |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "context": st.dictionaries(st.text(max_size=3), values, max_size=3) | st.sampled_from([None, "code", {"@expr": "1"}]),
                "output": values,
                "version": st.just("1"),
                "options": st.just({"maxIterations": 3}),
                "entry": one_or_many,
                "on": st.just({"E": {"target": ".a", "reenter": True}}) if "a" in children else st.just({"E": {}}),
                "description": st.text(max_size=3),
            },
        )
    )  # fmt: skip
    return shuffled(document)


@given(odd_machines())
@settings(max_examples=250)
def test_odd_machines_are_read_again_exactly(document: Json) -> None:
    document = json.loads(json.dumps(document))
    try:
        to_scxml(document)
    except UsageError as error:
        assert "lies in a final or history state" in str(error) or "has no form" in str(error)
        assume(False)
    assert_exact(document)


# ------------------------------------------------- what plain SCXML says of it


STRUCTURE = {
    code.slug
    for code in (
        ExportCode.PARALLEL_HANDLER, ExportCode.ALWAYS_ORDER, ExportCode.DOMAIN, ExportCode.SELF_TARGET, ExportCode.EXACT_DESCRIPTOR,
        ExportCode.EVENT_NAME, ExportCode.HISTORY_DEFAULT, ExportCode.ALWAYS_LOOP,
    )
}  # fmt: skip
"""Warnings that say: other states may be entered."""


def without_code(value: Any) -> Any:
    """The document with the guards and actions that SCXML has too."""
    if isinstance(value, list):
        return [without_code(item) for item in value]
    if not isinstance(value, dict):
        return value
    made: Json = {}
    for key, member in value.items():
        if key == "guard":
            if isinstance(member, dict) and member.get("type") == "@xstate.stateIn":
                made[key] = member
        elif key in ("actions", "entry", "exit"):
            names = member if isinstance(member, list) else [member]
            made[key] = [{"type": "@xstate.raise", "event": {"type": name.upper()}} for name in names if name in ("r0", "r1")]
        else:
            made[key] = without_code(member)
    return made


@given(documents(children=False).map(without_code), steps(children=False, most=8))
@settings(max_examples=250)
def test_without_a_warning_about_structure_scxml_enters_the_same_states(document: Json, happens: list[Step]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            machine = load_machine(document)
        except DefinitionError:
            assume(False)
        export = to_scxml(document)
        assume(not STRUCTURE & {problem.code for problem in export.warnings})
        other = load_machine(read_document(export.text, plain=True).document, format="scxml")
    try:
        here, there = simulate(machine), simulate(other)
        assert here.snapshot.status == there.snapshot.status
        for verb, what in happens:
            if here.snapshot.status != "active":
                break
            assert there.snapshot.atomic_states == here.snapshot.atomic_states
            for sim in (here, there):
                sim.send(what) if verb == "send" else sim.advance(what)
            assert here.snapshot.status == there.snapshot.status
    except EndlessLoopError:
        assume(False)


def test_the_text_is_what_another_engine_can_run() -> None:
    document: Json = {
        "id": "m",
        "initial": "a",
        "entry": {"type": "@xstate.log", "value": "on"},
        "on": {"RESET": {"target": ".a", "reenter": True}},
        "context": {"n": 0},
        "states": {
            "a": {"on": {"*": "b", "GO.*": "b", "GO": {"target": "b", "guard": {"type": "@xstate.not", "guard": "closed"}}}, "after": {"1000": "b"}},
            "b": {"type": "final", "output": {"k": "v"}},
        },
        "output": 7,
    }  # fmt: skip
    assert to_scxml(document).text == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<scxml xmlns="http://www.w3.org/2005/07/scxml" xmlns:x="urn:statecharts" version="1.0" name="m" '
        'datamodel="ecmascript" initial="m" x:semantics="xstate" x:config=\'{"id": "m", "initial": "a", "entry": false, '
        '"on": {"RESET": 1}, "context": true, "states": true, "output": 7}\'>\n'
        "  <datamodel>\n"
        '    <data id="n" expr="0"/>\n'
        "  </datamodel>\n"
        '  <state id="m" initial="m.a" x:helper="machine">\n'
        "    <onentry>\n"
        '      <log expr=\'"on"\' x:config=\'{"type": "@xstate.log", "value": "on"}\'/>\n'
        "    </onentry>\n"
        '    <transition event="done.state.m" target="m.end" x:helper="end"/>\n'
        '    <transition event="RESET" target="m.a" x:n="1" x:config=\'{"target": ".a", "reenter": true}\'/>\n'
        '    <state id="m.a" x:key="a" x:config=\'{"on": {"*": 2, "GO.*": 3, "GO": 4}, "after": {"1000": 5}}\'>\n'
        '      <onentry x:helper="after">\n'
        '        <send event="after.1000.m.a" id="after.1000.m.a" delay="1000ms"/>\n'
        "      </onentry>\n"
        '      <onexit x:helper="after">\n'
        '        <cancel sendid="after.1000.m.a"/>\n'
        "      </onexit>\n"
        '      <transition event="GO" target="m.b" cond="!guard(\'closed\')" x:n="4" x:config=\'{"target": "b", '
        '"guard": {"type": "@xstate.not", "guard": "closed"}}\'/>\n'
        '      <transition event="after.1000.m.a" target="m.b" x:n="5" x:config=\'"b"\'/>\n'
        '      <transition event="GO.*" target="m.b" x:n="3" x:config=\'"b"\'/>\n'
        '      <transition event="*" target="m.b" x:n="2" x:config=\'"b"\'/>\n'
        "    </state>\n"
        '    <final id="m.b" x:key="b" x:config=\'{"type": "final", "output": {"k": "v"}}\'>\n'
        "      <donedata>\n"
        '        <param name="k" expr=\'"v"\'/>\n'
        "      </donedata>\n"
        "    </final>\n"
        "  </state>\n"
        '  <final id="m.end" x:helper="end">\n'
        "    <donedata>\n"
        '      <content expr="7"/>\n'
        "    </donedata>\n"
        "  </final>\n"
        "</scxml>\n"
    )


def plain(document: Json) -> Json:
    return read_document(to_scxml(document).text, plain=True).document


def test_ids_are_unique_xml_names() -> None:
    document = {"id": "m n", "initial": "a b", "states": {"a b": {}, "a_b": {}, "a/b": {"id": "1"}, "c": {"id": "m_n.a_b"}}}
    assert list(plain(document)["states"]) == ["m_n.a_b_2", "m_n.a_b_3", "_1", "m_n.a_b"]
    assert back(document) == document


def test_odd_histories() -> None:
    inner: Json = {"x": {}, "h": {"type": "history"}, "g": {"type": "history", "target": "h"}, "i": {"type": "history", "target": 5}}
    document: Json = {"id": "m", "initial": "a", "states": {"a": {"initial": "h", "states": inner}, "m.end": {}}}
    states = plain(document)["states"]["m.a"]["states"]
    assert [states[f"m.a.{key}"]["target"] for key in "hgi"] == [["m.a.x"], ["m.a.h"], ["m.a.x"]]
    assert back(document) == document


def test_the_id_of_a_helper_is_free() -> None:
    document = {"id": "m", "initial": "a", "entry": [], "output": 1, "states": {"a": {"type": "final"}, "end": {}}}
    assert list(plain(document)["states"]) == ["m", "m.end_"]
    assert back(document) == document


def moves(value: Any, **more: Any) -> Json:
    """The plain transition for one of a compound ``a`` with a region ``p`` beside it."""
    p = {"type": "parallel", "states": {"q": {"initial": "r", "states": {"r": {}}}, "s": {}}}
    states: Json = {"a": {"initial": "x", "states": {"x": {}, "y": {}}, "on": {"E": value}, **more}, "b": {}, "p": p}
    made: Json = plain({"id": "m", "initial": "a", "states": states})["states"]["m.a"]["transitions"][0]
    return made


def test_moves() -> None:
    assert moves("b") == {"event": ["E"], "target": ["m.b"]}
    assert moves({}) == {"event": ["E"]}
    assert moves("") == {"event": ["E"]}
    assert moves(".y") == {"event": ["E"], "target": ["m.a.y"], "type": "internal"}
    assert moves({"target": ".y", "reenter": True}) == {"event": ["E"], "target": ["m.a.y"]}
    assert moves("a") == {"event": ["E"], "target": ["m.a.x"], "type": "internal"}
    assert moves({"target": "a", "reenter": True}) == {"event": ["E"], "target": ["m.a"]}
    assert moves({"target": ["p.q.r", "p.s"]}) == {"event": ["E"], "target": ["m.p.q.r", "m.p.s"]}
    states = {"a": {"on": {"E": "a", "F": {"target": "a", "reenter": True}}}}
    found = plain({"id": "m", "initial": "a", "states": states})["states"]["m.a"]["transitions"]
    assert found == [{"event": ["E"]}, {"event": ["F"], "target": ["m.a"]}]


@pytest.mark.parametrize(
    ("action", "elements"),
    [
        ({"type": "@xstate.raise", "event": "E"}, [{"type": "scxml.raise", "event": "E"}]),
        ({"type": "xstate.raise", "params": {"event": {"type": "E", "x": 1}}},
         [{"type": "scxml.send", "event": "E", "target": "#_internal", "params": [{"name": "x", "expr": "1"}]}]),
        ({"type": "@xstate.raise", "event": "E", "delay": 5, "id": "i"}, [{"type": "scxml.send", "event": "E", "id": "i", "delay": "5ms"}]),
        ({"type": "@xstate.raise", "event": "E", "delay": "soon"}, [{"type": "scxml.send", "event": "E", "delayexpr": "delay('soon')"}]),
        ({"type": "@xstate.sendParent", "event": "E"}, [{"type": "scxml.send", "event": "E", "target": "#_parent"}]),
        ({"type": "@xstate.sendTo", "to": "0.m.a", "event": "E"}, [{"type": "scxml.send", "event": "E", "target": "#__0.m.a"}]),
        ({"type": "@xstate.cancel", "id": "i"}, [{"type": "scxml.cancel", "sendid": "i"}]),
        ({"type": "@xstate.log", "value": {"a": 1}, "label": "l"}, [{"type": "scxml.log", "label": "l", "expr": '{"a": 1}'}]),
        ("xstate.log", [{"type": "scxml.log"}]),
        ({"type": "@xstate.assign", "context": {"n": 1, "a-b": "x"}},
         [{"type": "scxml.assign", "location": "n", "expr": "1"}, {"type": "scxml.assign", "location": "a_b", "expr": '"x"'}]),
        ({"type": "@xstate.assign", "context": {"n": {"@expr": "1"}}}, [{"type": "@xstate.assign"}]),
        ({"type": "@xstate.raise", "event": 5}, [{"type": "@xstate.raise"}]),
        ({"type": "@xstate.raise", "event": {"type": "E", "\x00": 1}}, [{"type": "@xstate.raise"}]),
        ({"type": "@xstate.raise", "event": "E", "delay": [1]}, [{"type": "@xstate.raise"}]),
        ({"type": "@xstate.raise", "event": "E", "delay": 1e-9}, [{"type": "scxml.send", "event": "E", "delay": "0ms"}]),
        ({"type": "@xstate.sendTo", "to": "#_internal", "event": {"type": "E", "x": 1}, "delay": 5}, [{"type": "@xstate.sendTo"}]),
        ("act", [{"type": "act"}]),
        ({"type": "act", "params": [1]}, [{"type": "act", "params": [1]}]),
    ],
)  # fmt: skip
def test_actions(action: Any, elements: list[Json]) -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "s"}, "entry": [action]}}}
    [block] = plain(document)["states"]["m.a"]["entry"]
    assert block == elements
    assert back(document) == document


@pytest.mark.parametrize(
    ("guard", "cond"),
    [
        ("g", "guard('g')"),
        ("it's", "guard('it\\'s')"),
        ({"type": "g", "params": {"k": 1}}, "guard('g', {\"k\": 1})"),
        ({"type": "@xstate.and", "guards": ["a", {"type": "xstate.or", "params": {"guards": ["b", "c"]}}]},
         "(guard('a') && (guard('b') || guard('c')))"),
        ({"type": "@xstate.not", "guard": {"type": "@xstate.and", "guards": []}}, "!(true)"),
        ({"type": "@xstate.not", "guard": "g"}, "!guard('g')"),
        ({"type": "@xstate.stateIn", "state": "#m.b"}, "In('m.b')"),
        ({"type": "@xstate.stateIn", "state": "b.c"}, "(In('m.b') && In('m.b.c'))"),
        ({"type": "@xstate.stateIn", "state": {"b": {"c": {}}}}, "(In('m.b') && In('m.b.c'))"),
        ({"type": "@xstate.stateIn", "state": "nowhere"}, "guard('@xstate.stateIn')"),
        ({"type": "@xstate.stateIn", "state": 5}, "guard('@xstate.stateIn')"),
        ({"type": "@xstate.stateIn", "state": {}}, "guard('@xstate.stateIn')"),
        ({"type": "@xstate.stateIn", "state": "#nowhere"}, "guard('@xstate.stateIn')"),
        ({"type": "@xstate.and", "guards": "g"}, "guard('@xstate.and')"),
        ({"type": "@xstate.and", "guards": [None]}, "guard('@xstate.and')"),
        ({"@expr": "context.n > 'x'"}, "expression('context.n > \\'x\\'')"),
    ],
)  # fmt: skip
def test_guards(guard: Any, cond: str) -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"always": {"guard": guard, "target": "b"}}, "b": {"initial": "c", "states": {"c": {}}}}}
    assert plain(document)["states"]["m.a"]["transitions"] == [{"cond": cond, "target": ["m.b"]}]
    assert back(document) == document


# --------------------------------------------------------------------- warnings


def warned(states: Json, **root: Any) -> list[tuple[str, str]]:
    export = to_scxml({"id": "m", "initial": next(iter(states)), **root, "states": states})
    assert all(problem.severity == "warning" and problem.message for problem in export.warnings)
    return [(problem.code, problem.pointer) for problem in export.warnings]


REGIONS: Json = {"x": {"initial": "x1", "states": {"x1": {}, "x2": {}}}, "y": {"initial": "y1", "states": {"y1": {}, "y2": {}}}}


def regions(**more: Any) -> Json:
    return {"p": {"type": "parallel", "states": {key: {**REGIONS[key], **more.get(key, {})} for key in REGIONS}, **more.get("p", {})}, "q": {}}


WARNED: list[tuple[str, Json, Json, list[str]]] = [
    ("parallel-handler", regions(x={"on": {"E": ".x2"}}, p={"on": {"E": "q"}}), {}, ["/states/p/on/E"]),
    ("parallel-handler", regions(x={"on": {"E.*": ".x2"}}, p={"on": {"*": "q"}}), {}, ["/states/p/on/*"]),
    ("parallel-handler", regions(x={"on": {"E": ".x2"}}), {"on": {"E": {}}}, ["/on/E"]),
    ("always-order", regions(x={"always": {"target": ".x2", "guard": "g"}}, y={"always": {"target": ".y2", "guard": "g"}}), {}, ["/states/p"]),
    ("transition-domain", regions(x={"on": {"E": "#m.p.y.y2"}}), {}, ["/states/p/states/x/on/E"]),
    ("transition-domain", regions(p={"on": {"E": ".x.x2"}}), {}, ["/states/p/on/E"]),
    ("transition-domain", regions(p={"on": {"E": "p"}}), {}, ["/states/p/on/E"]),
    ("initial-actions", {"a": {"initial": {"target": "b", "actions": "act"}, "states": {"b": {}}}}, {}, ["/states/a/initial/actions"]),
    ("error-policy", {"a": {"on": {"E": {"guard": "g"}}}}, {}, [""]),
    ("stopped-children", {"a": {"invoke": {"src": "s"}}}, {}, [""]),
    ("completion", {"a": {}, "b": {"type": "final"}}, {}, []),
    ("completion", {"a": {}, "b": {"type": "final"}}, {"entry": "e"}, [""]),
    ("always-loop", {"a": {"always": {"actions": "act", "guard": "g"}}}, {}, ["/states/a/always"]),
    ("always-loop", {"a": {"always": {"target": ".b", "guard": "g"}, "initial": "b", "states": {"b": {}}}}, {}, ["/states/a/always"]),
    ("self-target", {"a": {"on": {"E": "a"}, "initial": "b", "states": {"b": {}}}}, {}, ["/states/a/on/E"]),
    ("exact-descriptor", {"a": {"on": {"e": {}, "e.f": {}}}}, {}, ["/states/a/on/e"]),
    ("wildcard-order", {"a": {"on": {"*": {}, "e": {}}}}, {}, ["/states/a/on/*"]),
    ("wildcard-order", {"a": {"on": {"e.*": {}, "e.f.*": {}}}}, {}, ["/states/a/on/e.*"]),
    ("event-name", {"a": {"on": {"two words": {}, "xstate.init": {}, "xstate.done.state.m.a": {}}}}, {},
     ["/states/a/on/two words", "/states/a/on/xstate.init", "/states/a/on/xstate.done.state.m.a"]),
    ("named-guard", {"a": {"on": {"E": {"guard": {"type": "@xstate.not", "guard": "g"}}}}}, {}, ["/states/a/on/E/guard"]),
    ("named-action", {"a": {"entry": ["x"], "exit": "y", "on": {"E": {"actions": {"type": "z"}}}}}, {},
     ["/states/a/on/E/actions", "/states/a/entry/0", "/states/a/exit"]),
    ("named-action", {"a": {"entry": {"type": "@xstate.forwardTo", "to": "k"}}}, {}, ["/states/a/entry"]),
    ("named-delay", {"a": {"after": {"soon": "b"}, "entry": {"type": "@xstate.raise", "event": "E", "delay": "late"}}, "b": {}}, {},
     ["/states/a/after/soon", "/states/a/entry"]),
    ("foreign-expression", {"a": {"on": {"E": {"guard": {"@expr": "true"}, "actions": {"type": "@xstate.assign", "context": {"n": {"@expr": "1"}}}}}}}, {},
     ["/states/a/on/E/guard", "/states/a/on/E/actions"]),
    ("foreign-expression", {"a": {"invoke": {"src": "s", "input": {"@expr": "1"}}}, "b": {"type": "final", "output": {"@expr": "1"}}}, {},
     ["/states/a/invoke/input", "/states/b/output"]),
    ("emit", {"a": {"entry": {"type": "@xstate.emit", "event": "E"}}}, {}, ["/states/a/entry"]),
    ("spawn", {"a": {"entry": {"type": "@xstate.spawnChild", "src": "s"}, "exit": {"type": "@xstate.stopChild", "id": "s"}}}, {},
     ["/states/a/entry", "/states/a/exit"]),
    ("actor-source", {"a": {"invoke": [{"src": "s"}]}}, {}, ["/states/a/invoke/0"]),
    ("on-error", {"a": {"invoke": {"src": "s", "onError": {}}}}, {}, ["/states/a/invoke/onError"]),
    ("on-snapshot", {"a": {"invoke": {"src": "s", "onSnapshot": {}}}}, {}, ["/states/a/invoke/onSnapshot"]),
    ("route-lost", {"a": {"id": "a", "route": {}}}, {}, ["/states/a/route"]),
    ("max-iterations", {"a": {}}, {"options": {"maxIterations": 5}}, ["/options/maxIterations"]),
    ("schemas-lost", {"a": {}}, {"schemas": {"events": {}}}, ["/schemas"]),
    ("context-lost", {"a": {}}, {"context": "({input}) => input"}, ["/context"]),
    ("history-default", {"a": {"initial": "b", "states": {"b": {}, "h": {"type": "history", "target": "#m.c"}}}, "c": {}}, {},
     ["/states/a/states/h/target"]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "states", "root", "pointers"), WARNED)
def test_each_construct_that_is_read_differently_is_named(code: str, states: Json, root: Json, pointers: list[str]) -> None:
    found = warned(states, **root)
    assert [pointer for name, pointer in found if name == code] == pointers
    document = {"id": "m", "initial": next(iter(states)), **root, "states": states}
    assert back(document) == document


def test_every_code_of_a_warning_is_tested() -> None:
    assert {code for code, *_ in WARNED} == {code.slug for code in ExportCode}


def test_a_machine_that_scxml_reads_as_xstate_does_has_no_warning() -> None:
    states = {
        "a": {"on": {"GO": "b"}, "after": {"10": "b"}, "entry": {"type": "@xstate.raise", "event": "GO"}},
        "b": {"initial": "x", "states": {"x": {"on": {"NEXT": "y"}}, "y": {}, "h": {"type": "history"}}, "on": {"BACK": {"target": "a"}}},
    }
    assert warned(states) == []
    assert warned(regions(x={"on": {"E": ".x2"}}, y={"on": {"F": ".y2"}}, p={"on": {"G": "q"}})) == []


# ---------------------------------------------------------------------- refusals

ITSELF: list[Any] = []
ITSELF += [ITSELF, ITSELF]

@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"states": {"a": {"entry": lambda: None}}}, "/states/a/entry: a Python function cannot be exported"),
        ({"context": {"x": object()}}, "/context/x: object is not JSON"),
        ({"context": {"x": float("inf")}}, "/context/x: inf is not JSON"),
        ({"context": {1: 2}}, "/context: the key 1 is not a string"),
        ([], "a machine is a JSON object"),
        ({"context": {"x": ITSELF}}, "hold themselves"),
        ({"type": "history"}, "/type"),
        ({"initial": "b", "states": {"a": {}}}, "/initial: 'b' names no child"),
        ({"initial": "a", "states": {"a": {"on": {"E": "b"}}}}, "/states/a/on/E: the target names no state"),
        ({"initial": "a", "states": {"a": {"on": {"E": 5}}}}, "/states/a/on/E: a transition is a target"),
        ({"initial": "a", "states": {"a": {"on": {"E": {"target": [5]}}}}}, "a target is a name"),
        ({"initial": "a", "states": {"a": {"entry": 5}}}, "/states/a/entry: an action is a name"),
        ({"initial": "a", "states": {"a": {"invoke": "s"}}}, "/states/a/invoke: an invoked actor is an object"),
        ({"initial": "a", "states": {"a": {"on": {"E": "#c"}}, "b": {"type": "final", "states": {"c": {"id": "c"}}}}}, "final or history"),
        ({"initial": "a", "states": {"a": {"on": {"E": {"target": ["b", "c"]}}}, "b": {}, "c": {}}}, "cannot be active together"),
    ],
)  # fmt: skip
def test_what_cannot_be_exported_is_refused_with_its_place(document: Any, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        to_scxml(document)
    assert words in str(caught.value)


def test_deep_machines() -> None:
    def nested(depth: int) -> Json:
        document: Json = {"id": "m"}
        state = document
        for _ in range(depth):
            state |= {"initial": "c", "states": {"c": {}}}
            state = state["states"]["c"]
        return document

    assert back(nested(150)) == nested(150)
    with pytest.raises(UsageError, match="levels deep"):
        to_scxml(nested(300))


def test_an_exported_machine_is_loaded_as_the_xstate_machine_it_is() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"E": "b"}}, "b": {}}}
    machine = load_machine(to_scxml(document).text)
    assert machine.document == document
    sim = simulate(machine)
    sim.send("E")
    assert sim.snapshot.value == "b"
