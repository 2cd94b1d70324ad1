"""SCXML documents as JSON: what is read, and what is said of what cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from session_documents import document, leaves, logged

from statecharts import DefinitionError, Implementations, load_machine, simulate


def machine(**root: Any) -> dict[str, Any]:
    return {"semantics": "scxml", "states": {"s": {}}, **root}


def state(**members: Any) -> dict[str, Any]:
    return machine(states={"s": members, "t": {}})


def action(**members: Any) -> dict[str, Any]:
    return state(entry=[[members]])


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (machine(states={}), "/states", "at least one state"),
    (machine(states=[]), "/states", "'states' is an object"),
    (machine(states={"s": 1}), "/states/s", "a state is an object"),
    (machine(id=5), "/id", "'id' is int; it is text"),
    (machine(datamodel="prolog"), "/datamodel", "there is no datamodel 'prolog'; there are ecmascript, null"),
    (machine(states={"s": {"states": {"s": {}}}}), "/states/s/states/s", "the id 's' stands twice"),
    (state(type="odd"), "/states/s/type", "parallel, final or history"),
    (state(initial=["t"], states={"u": {}}), "/states/s/initial", "'t' is not inside 's'"),
    (state(initial=["w"], states={"u": {}}), "/states/s/initial", "there is no state 'w'"),
    (state(initial=[7], states={"u": {}}), "/states/s/initial/target/0", "'target' holds texts, not int"),
    (state(states={"u": {}, "h": {"type": "history"}}), "/states/s/states/h", "no transition to a default state"),
    (state(transitions={}), "/states/s/transitions", "'transitions' is a list, not dict"),
    (state(transitions=["t"]), "/states/s/transitions/0", "a transition is an object"),
    (state(transitions=[{"target": ["nobody"]}]), "/states/s/transitions/0/target", "there is no state 'nobody'"),
    (state(transitions=[{"target": ["scxml"]}]), "/states/s/transitions/0/target", "there is no state 'scxml'"),
    (state(entry=[{}]), "/states/s/entry/0", "a block is a list of actions, not dict"),
    (state(entry=[["x"]]), "/states/s/entry/0/0", "an action is an object with a 'type'"),
    (action(type="scxml.dance"), "/states/s/entry/0/0", "there is no action 'scxml.dance'"),
    (action(type="scxml.raise"), "/states/s/entry/0/0/event", "'event' is missing"),
    (action(type="scxml.cancel"), "/states/s/entry/0/0", "'sendid' or 'sendidexpr'"),
    (action(type="scxml.assign", location="x"), "/states/s/entry/0/0/content", "'expr', 'text' or 'xml'"),
    (action(type="scxml.assign", location="x", content={}), "/states/s/entry/0/0/content", "content is an object"),
    (action(type="scxml.send", params=[1]), "/states/s/entry/0/0/params/0", "a param is an object"),
    (action(type="scxml.send", params=[{"name": "x"}]), "/states/s/entry/0/0/params/0/location", "'location' is missing"),
    (action(type="scxml.if", branches=[1]), "/states/s/entry/0/0/branches/0", "a branch is an object"),
    (action(type="scxml.script", src="x.js"), "/states/s/entry/0/0/src", "the script 'x.js' cannot be loaded"),
    (state(data=["x"]), "/states/s/data/0", "data is an object with an 'id'"),
    (state(invoke=["x"]), "/states/s/invoke/0", "an invoke is an object"),
    (state(invoke=[{"content": {"document": 1}}]), "/states/s/invoke/0/content/document", "a document is an object"),
    (
        state(invoke=[{"content": {"document": state(transitions=[{"target": ["v"]}])}}]),
        "/states/s/invoke/0/content/document/states/s/transitions/0/target",
        "there is no state 'v'",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("source", "pointer", "message"), REFUSED, ids=[message for _, _, message in REFUSED])
def test_refused(source: dict[str, Any], pointer: str, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        load_machine(source)
    [problem] = caught.value.problems
    assert problem.pointer == pointer
    assert message in problem.message


def test_problems_of_a_json_text_have_lines() -> None:
    text = json.dumps(state(transitions=[{"target": ["nobody"]}, {"target": ["no one"]}]), indent=1)
    with pytest.raises(DefinitionError) as caught:
        load_machine(text)
    lines = text.splitlines()
    assert ["nobody" in lines[p.line - 1] or "target" in lines[p.line - 1] for p in caught.value.problems] == [True, True]
    with pytest.raises(DefinitionError, match="an SCXML document in JSON is an object"):
        load_machine("[]\n", format="scxml")


def test_a_json_document_runs() -> None:
    source = {
        "semantics": "scxml",
        "id": "m",
        "options": {"maxIterations": 50},
        "data": [{"id": "n", "expr": "1"}],
        "states": {
            "a": {
                "initial": {"target": ["b"], "actions": [{"type": "scxml.log", "expr": "'i' + n"}]},
                "states": {"b": {}, "c": {}},
                "transitions": [{"event": ["go.*", "x."], "target": ["f"], "actions": [{"type": "note", "params": {"k": 1}}]}],
                "exit": [[{"type": "scxml.if", "branches": [{"cond": "n == 1", "actions": [{"type": "scxml.raise", "event": "i"}]}]}]],
            },
            "f": {"type": "final", "donedata": {"content": {"expr": "n"}}},
        },
    }  # fmt: skip
    impl = Implementations()
    noted: list[Any] = []

    @impl.action("note")
    def note(context: Any, event: Any, params: Any) -> None:
        noted.append((context["n"], event["type"], params))

    loaded = load_machine(source, impl)
    assert (loaded.id, loaded.semantics, loaded.missing) == ("m", "scxml", ())
    sim = simulate(loaded)
    assert (leaves(sim), logged(sim)) == (["b"], ["i1"])
    sim.send("go.far")
    assert (sim.snapshot.status, sim.snapshot.output, noted) == ("done", 1, [(1, "go.far", {"k": 1})])


def test_unbound_actions_of_an_element_are_missing_wherever_they_stand() -> None:
    act = '<action xmlns="urn:statecharts" type="{}"/>'
    body = f"""<state id="s"><onentry><if cond="true">{act.format('one')}</if></onentry>
      <invoke type="scxml"><content><scxml version="1.0"><state id="x"><onexit>{act.format('two')}</onexit></state></scxml></content>
        <finalize>{act.format('three')}</finalize></invoke>
      <history id="h"><transition target="b">{act.format('four')}</transition></history><state id="b"/></state>"""
    names = {name.name for name in load_machine(document(body)).missing}
    assert names == {"one", "two", "three", "four"}


def test_an_action_that_fails_ends_the_session() -> None:
    body = '<state id="s"><transition event="e"><action xmlns="urn:statecharts" type="boom"/></transition></state>'

    def boom() -> None:
        raise ValueError("kaput")

    sim = simulate(load_machine(document(body), {"actions": {"boom": boom}}))
    sim.send("e")
    assert (sim.snapshot.status, str(sim.snapshot.error)) == ("error", "kaput")


def test_a_state_may_be_called_like_the_machine() -> None:
    sim = simulate(load_machine(document('<state id="m"/>', 'name="m"')))
    assert (sim.snapshot.machine_id, sim.snapshot.configuration) == ("m", ("(m)", "m"))


def test_states_without_an_id_have_a_name_and_no_in() -> None:
    sim = simulate(load_machine(document("<state><onentry><log expr=\"In('state:1')\"/></onentry></state>")))
    assert (leaves(sim), logged(sim)) == (["state:1"], [False])
