"""An exported machine that another tool has edited: plain SCXML counts for structure, ``x:config`` for the rest."""

from __future__ import annotations

from typing import Any

import pytest

from statecharts import DefinitionError
from statecharts.adapters.formats.scxml import ScxmlText, read_document, to_scxml

Json = dict[str, Any]

MACHINE: Json = {
    "id": "m",
    "initial": "a",
    "context": {"n": 1, "a-b": [None]},
    "states": {
        "a": {
            "tags": ["t"],
            "entry": ["hello", {"type": "@xstate.raise", "event": "R"}],
            "on": {
                "GO": {"target": "b", "guard": "may", "actions": ["act"], "meta": {"k": 1}},
                "STAY": {"actions": "act"},
                "*": "c",
            },
            "after": {"1000": "c"},
        },
        "b": {
            "initial": {"target": "b1", "actions": ["first"]},
            "states": {"b1": {"on": {"IN": "b2"}}, "b2": {}, "h": {"type": "history", "target": "b2"}},
            "invoke": {"src": "job", "id": "job", "onDone": "c", "input": {"x": 1}},
            "onDone": "c",
            "always": [{"target": "c", "guard": "one"}, {"target": ".b2", "guard": "two"}],
        },
        "c": {"type": "final", "output": {"r": 1}},
    },
}


def edited(*changes: tuple[str, str], machine: Json = MACHINE) -> ScxmlText:
    text = to_scxml(machine).text
    for old, new in changes:
        assert text.count(old) == 1, (text.count(old), old, text)
        text = text.replace(old, new)
    return read_document(text)


def states(found: ScxmlText) -> Json:
    assert found.warnings == ()
    result: Json = found.document["states"]
    return result


def test_nothing_edited() -> None:
    found = edited()
    assert found.document == MACHINE
    assert found.warnings == ()


def test_comments_layout_and_notes_of_other_tools_change_nothing() -> None:
    text = to_scxml(MACHINE).text
    lines = "\n\n<!-- a comment -->\n".join(line.strip() for line in text.splitlines()[1:])
    lines = lines.replace('<state id="m.a"', '<state xmlns:q="urn:qt" q:geometry="1;2"\n  id="m.a"')
    assert read_document(lines).document == MACHINE


def test_a_target() -> None:
    found = states(edited(('event="GO" target="m.b"', 'event="GO" target="m.c"')))
    assert found["a"]["on"]["GO"] == {"target": "#m.c", "guard": "may", "actions": ["act"], "meta": {"k": 1}}


def test_a_target_of_a_bare_string_and_to_the_state_itself() -> None:
    found = states(edited(('event="IN" target="m.b.b2"', 'event="IN" target="m.b.b1"')))
    assert found["b"]["states"]["b1"]["on"]["IN"] == {"target": "#m.b.b1", "reenter": True}


def test_several_targets() -> None:
    machine = {"initial": "a", "states": {"a": {"on": {"E": "p"}}, "p": {"type": "parallel", "states": {"x": {}, "y": {}}}}}
    found = edited(('target="_machine_.p"', 'target="_machine_.p.x _machine_.p.y"'), machine=machine)
    assert states(found)["a"]["on"]["E"] == {"target": ["#(machine).p.x", "#(machine).p.y"]}


def test_a_target_removed() -> None:
    assert states(edited(('event="IN" target="m.b.b2"', 'event="IN"')))["b"]["states"]["b1"]["on"] == {"IN": {}}


def test_internal_becomes_external_and_back() -> None:
    found = edited(('target="m.b.b2" type="internal"', 'target="m.b.b2"'))
    assert states(found)["b"]["always"][1] == {"target": "#m.b.b2", "guard": "two", "reenter": True}
    text = to_scxml(found.document).text
    assert read_document(text.replace('target="m.b.b2" cond="guard(\'two\')"', 'target="m.b.b2" cond="guard(\'two\')" type="internal"')).document["states"]["b"]["always"][1] == {
        "target": "#m.b.b2",
        "guard": "two",
    }  # fmt: skip


def test_an_event_moves_the_transition() -> None:
    found = states(edited(('event="GO"', 'event="STAY"')))
    assert list(found["a"]["on"]) == ["STAY", "*"]
    [new, old] = found["a"]["on"]["STAY"]
    assert new == {"target": "b", "guard": "may", "actions": ["act"], "meta": {"k": 1}}
    assert old == {"actions": "act"}


def test_an_event_removed_makes_it_eventless() -> None:
    found = states(edited(('<transition event="GO" ', "<transition ")))
    assert found["a"]["always"] == {"target": "b", "guard": "may", "actions": ["act"], "meta": {"k": 1}}
    assert "GO" not in found["a"]["on"]


def test_an_after_that_waits_for_an_event_now() -> None:
    found = edited(('<transition event="after.1000.m.a"', '<transition event="LATE"'))
    assert found.document["states"]["a"]["on"]["LATE"] == "c"
    assert "after" not in found.document["states"]["a"]


def test_several_events_are_several_transitions() -> None:
    found = states(edited(('event="IN"', 'event="IN OTHER.* done.state.m.b"')))
    assert found["b"]["states"]["b1"]["on"] == {"IN": "b2", "OTHER.*": "b2", "xstate.done.state.m.b": "b2"}


def test_a_new_transition() -> None:
    new = '<transition event="NEW" target="m.a" cond="In(\'m.c\')"><raise event="X"/></transition>'
    found = states(edited(('    <transition event="IN"', new + '    <transition event="IN"')))
    assert found["b"]["states"]["b1"]["on"]["NEW"] == {
        "target": "#m.a",
        "guard": {"type": "@xstate.stateIn", "state": "#m.c"},
        "actions": [{"type": "@xstate.raise", "event": {"type": "X"}}],
    }


def test_a_new_transition_before_one_for_the_same_event_comes_first() -> None:
    new = '<transition event="IN" target="m.c" cond="guard(\'g\', {&quot;k&quot;: 1})"/>'
    found = states(edited(('<transition event="IN"', new + '<transition event="IN"')))
    assert found["b"]["states"]["b1"]["on"]["IN"] == [{"target": "#m.c", "guard": {"type": "g", "params": {"k": 1}}}, "b2"]


def test_new_transitions_for_completion() -> None:
    machine: Json = {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "s"}, "initial": "x", "states": {"x": {"type": "final"}}}}}
    new = "".join(
        f'<transition event="{event}"/>'
        for event in ("done.state.m.a", "done.invoke._0.m.a", "error.platform._0.m.a", "xstate.snapshot._0.m.a")
    )
    found = states(edited(("<invoke ", new + "<invoke "), machine=machine))
    assert found["a"]["onDone"] == {}
    assert found["a"]["invoke"] == {"src": "s", "onDone": {}, "onError": {}, "onSnapshot": {}}


def test_a_new_condition_becomes_a_guard_with_a_warning() -> None:
    new = '<transition event="NEW" target="m.a" cond="n &gt; 3"/>'
    found = edited(('    <transition event="IN"', new + '    <transition event="IN"'))
    assert found.document["states"]["b"]["states"]["b1"]["on"]["NEW"]["guard"] == "n > 3"
    assert [problem.code for problem in found.warnings] == ["guard-from-cond", "edit-not-read"]


def test_a_transition_removed() -> None:
    text = to_scxml(MACHINE).text
    lines = [line for line in text.splitlines() if 'event="IN"' not in line and 'event="*"' not in line]
    found = read_document("\n".join(lines)).document["states"]
    assert "on" not in found["b"]["states"]["b1"]
    assert list(found["a"]["on"]) == ["GO", "STAY"]


def test_one_transition_of_a_list_removed() -> None:
    text = to_scxml(MACHINE).text
    lines = [line for line in text.splitlines() if "guard('one')" not in line]
    assert read_document("\n".join(lines)).document["states"]["b"]["always"] == [{"target": ".b2", "guard": "two"}]


def test_a_new_state_with_children() -> None:
    new = '<state id="m.d"><onentry><x:action type="hi"/></onentry><state id="m.d.e"/><final id="f"/></state>'
    found = states(edited(('  <final id="m.c"', new + '  <final id="m.c"')))
    assert list(found) == ["a", "b", "d", "c"]
    assert found["d"] == {"initial": "e", "entry": ["hi"], "states": {"e": {}, "f": {"id": "f", "type": "final"}}}


def test_a_new_state_can_be_a_target_at_once() -> None:
    new = '<state id="fresh"/>'
    found = states(edited(('  <final id="m.c"', new + '  <final id="m.c"'), ('event="GO" target="m.b"', 'event="GO" target="fresh"')))
    assert found["fresh"] == {"id": "fresh"}
    assert found["a"]["on"]["GO"]["target"] == "#fresh"


def test_a_state_renamed_everywhere() -> None:
    text = to_scxml(MACHINE).text.replace('"m.b.b2"', '"second"')
    found = states(read_document(text))
    assert found["b"]["states"]["b2"] == {"id": "second"}
    assert found["b"]["states"]["b1"]["on"]["IN"] == "b2"  # the path still leads there


def test_a_state_removed_with_what_led_to_it() -> None:
    text = to_scxml(MACHINE).text
    lines = [line for line in text.splitlines() if "m.b.b2" not in line and "history" not in line]
    found = read_document("\n".join(lines)).document["states"]["b"]
    assert list(found["states"]) == ["b1"]
    with pytest.raises(DefinitionError, match="no state with the id 'm.b.b2'"):
        read_document("\n".join(line for line in text.splitlines() if '<state id="m.b.b2"' not in line))


def test_a_state_moved_keeps_its_id() -> None:
    text = to_scxml(MACHINE).text
    [line] = [line for line in text.splitlines() if '<state id="m.b.b2"' in line]
    moved = text.replace(line, "").replace('  <final id="m.c"', line + '  <final id="m.c"')
    moved = "\n".join(row for row in moved.splitlines() if "history" not in row and '<transition target="m.b.b2"/>' not in row)
    read = read_document(moved)
    assert ["internal" in problem.message for problem in read.warnings] == [True]  # it cannot be internal any more
    found = read.document["states"]
    assert found["b2"] == {"id": "m.b.b2"}
    assert found["b"]["states"]["b1"]["on"]["IN"] == "#m\\.b\\.b2"


def test_the_kind_of_a_state() -> None:
    machine: Json = {"id": "m", "initial": "a", "states": {"a": {"type": "parallel", "states": {"x": {}, "y": {}}}, "b": {"on": {"E": {}}}}}
    found = edited(("<parallel ", "<state "), ("</parallel>", "</state>"), machine=machine)
    assert found.document["states"]["a"] == {"states": {"x": {}, "y": {}}, "initial": "x"}
    machine["states"]["b"] = {"tags": ["t"]}
    final = edited(('<state id="m.b"', '<final id="m.b"'), machine=machine)
    assert states(final)["b"] == {"tags": ["t"], "type": "final"}
    back = edited(('<final id="m.b"', '<state id="m.b"'), machine=final.document)
    assert states(back)["b"] == {"tags": ["t"]}


def test_a_final_region_that_gets_children_is_a_state() -> None:
    machine: Json = {"id": "m", "type": "parallel", "states": {"x": {"type": "final", "output": 1}, "y": {}}}
    assert edited(machine=machine).document == machine
    found = edited(('initial="m.x.end"', 'initial="n"'), ('<final id="m.x.end"', '<state id="n"/><final id="m.x.end"'), machine=machine)
    assert found.document["states"]["x"] == {"output": 1, "initial": "n", "states": {"n": {"id": "n"}}}


def test_initial() -> None:
    text = to_scxml(MACHINE).text
    [line] = [row for row in text.splitlines() if '<transition target="m.b.b1">' in row]
    found = states(read_document(text.replace(line, line.replace("b1", "b2"))))
    assert found["b"]["initial"] == {"target": "b2", "actions": ["first"]}
    assert edited(('datamodel="ecmascript" initial="m.a"', 'datamodel="ecmascript" initial="m.b"')).document["initial"] == "b"
    assert edited(('datamodel="ecmascript" initial="m.a"', 'datamodel="ecmascript"')).document["initial"] == "a"
    with pytest.raises(DefinitionError) as caught:
        edited(('datamodel="ecmascript" initial="m.a"', 'datamodel="ecmascript" initial="m.b.b2"'))
    assert [problem.code for problem in caught.value.problems] == ["not-xstate"]


def test_initial_actions_added_and_removed() -> None:
    machine: Json = {"id": "m", "initial": "a", "states": {"a": {"initial": "x", "states": {"x": {}}}}}
    new = '<initial><transition target="m.a.x"><x:action type="hi"/></transition></initial>'
    found = edited((' initial="m.a.x"', ""), ('    <state id="m.a.x"', new + '<state id="m.a.x"'), machine=machine)
    assert states(found)["a"]["initial"] == {"target": "x", "actions": ["hi"]}
    back = edited(('<x:action type="hi"/>', ""), machine=found.document)
    assert back.document["states"]["a"]["initial"] == {"target": "x", "actions": []}


def test_history() -> None:
    found = states(edited(('type="shallow"', 'type="deep"'), ('<transition target="m.b.b2"/>', '<transition target="m.b.b1"/>')))
    assert found["b"]["states"]["h"] == {"type": "history", "target": "#m.b.b1", "history": "deep"}
    machine: Json = {"id": "m", "initial": "a", "states": {"a": {"initial": "x", "states": {"x": {}, "y": {}, "h": {"type": "history"}}}}}
    found = states(edited(('<transition target="m.a.x"/>', '<transition target="m.a.y"/>'), machine=machine))
    assert found["a"]["states"]["h"] == {"type": "history", "target": "#m.a.y"}


def test_the_name_of_the_machine() -> None:
    found = edited(('name="m"', 'name="shop"'))
    assert found.document["id"] == "shop"
    assert found.document["states"]["a"]["id"] == "m.a"  # the ids stay what they are
    assert edited(machine=found.document).document == found.document


def test_data() -> None:
    found = edited(
        ('<data id="n" expr="1"/>', '<data id="n" expr="2"/><data id="new" expr="\'x\'"/><data id="empty"/>'),
    )
    assert found.document["context"] == {"n": 2, "new": "x", "empty": None, "a-b": [None]}
    with pytest.raises(DefinitionError) as caught:
        edited(('<data id="n" expr="1"/>', '<data id="n" expr="1 + 1"/>'))
    [problem] = caught.value.problems
    assert (problem.code, problem.pointer, problem.line) == ("not-xstate", "/context/n", 4)
    machine: Json = {"id": "m", "initial": "a", "states": {"a": {}}}
    new = '<datamodel><data id="x" expr="{}"/></datamodel>'
    assert edited(('  <state id="m.a"', new + '<state id="m.a"'), machine=machine).document == {**machine, "context": {"x": {}}}


def test_actions_added_edited_and_removed() -> None:
    found = states(
        edited(
            ('<raise event="R"', '<raise event="R2"'),
            ('<x:action type="hello"/>', '<x:action type="hello">{"to": "me"}</x:action><x:action type="bye"/>'),
        )
    )
    assert found["a"]["entry"] == [
        {"type": "hello", "params": {"to": "me"}},
        "bye",
        {"type": "@xstate.raise", "event": {"type": "R2"}},
    ]
    text = to_scxml(MACHINE).text
    lines = [line for line in text.splitlines() if "hello" not in line and "<raise" not in line]
    assert read_document("\n".join(lines)).document["states"]["a"]["entry"] == []
    lines = [line for line in text.splitlines() if '<x:action type="act"/>' not in line]
    assert read_document("\n".join(lines)).document["states"]["a"]["on"]["STAY"] == {}


@pytest.mark.parametrize(
    ("element", "action"),
    [
        ('<raise event="done.state.m.b"/>', {"type": "@xstate.raise", "event": {"type": "xstate.done.state.m.b"}}),
        ('<send event="E"/>', {"type": "@xstate.raise", "event": {"type": "E"}, "delay": 0}),
        ('<send event="E" delay="1.5s" id="t"/>', {"type": "@xstate.raise", "event": {"type": "E"}, "id": "t", "delay": 1500}),
        ('<send event="E" delay=".5ms"/>', {"type": "@xstate.raise", "event": {"type": "E"}, "delay": 0.5}),
        ('<send event="E" delayexpr="delay(\'soon\')"/>', {"type": "@xstate.raise", "event": {"type": "E"}, "delay": "soon"}),
        ('<send event="E" target="#_internal"><param name="x" expr="[1]"/></send>', {"type": "@xstate.raise", "event": {"type": "E", "x": [1]}}),
        ('<send event="E" target="#_parent"/>', {"type": "@xstate.sendParent", "event": {"type": "E"}}),
        ('<send event="E" target="#_job"/>', {"type": "@xstate.sendTo", "to": "job", "event": {"type": "E"}}),
        ('<cancel sendid="t"/>', {"type": "@xstate.cancel", "id": "t"}),
        ('<log label="l" expr="\'v\'"/>', {"type": "@xstate.log", "value": "v", "label": "l"}),
        ("<log/>", {"type": "@xstate.log"}),
        ('<assign location="n" expr="{&quot;k&quot;: 1}"/>', {"type": "@xstate.assign", "context": {"n": {"k": 1}}}),
        ('<assign location="a_b" expr="1"/>', {"type": "@xstate.assign", "context": {"a-b": 1}}),
    ],
)  # fmt: skip
def test_a_plain_action_that_xstate_has_too(element: str, action: Json) -> None:
    found = edited(('<x:action type="hello"/>', element))
    assert found.document["states"]["a"]["entry"][0] == action
    again = read_document(to_scxml(found.document).text)
    assert again.document == found.document


@pytest.mark.parametrize(
    "element",
    [
        '<if cond="n"><log/></if>',
        '<foreach array="[1]" item="i"/>',
        "<script>n++</script>",
        '<send eventexpr="n"/>',
        '<send event="E" target="http://x"/>',
        '<send event="E"><content>x</content></send>',
        '<send event="E"><param name="x" location="n"/></send>',
        '<send event="E" delayexpr="n"/>',
        '<cancel sendidexpr="n"/>',
        '<assign location="n.x" expr="1"/>',
        '<assign location="n">1</assign>',
        '<log expr="n + 1"/>',
    ],
)
def test_a_plain_action_that_xstate_does_not_have_is_a_problem(element: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        edited(('<x:action type="hello"/>', element))
    [problem] = caught.value.problems
    assert problem.code == "not-xstate"
    assert problem.pointer.startswith("/states/a/entry/0")
    text = to_scxml(MACHINE).text.replace('<x:action type="hello"/>', element)
    assert "not-xstate" in [problem.code for problem in read_document(text, strict=False).warnings]


def test_invokes() -> None:
    found = states(edited(('src="job"', 'src="other"')))
    assert found["b"]["invoke"]["src"] == "other"
    new = '<invoke type="urn:statecharts" id="two" src="more"><param name="a" expr="1"/></invoke>'
    found = states(edited(('    <invoke type="urn:statecharts" id="job"', new + '<invoke type="urn:statecharts" id="job"')))
    assert found["b"]["invoke"] == [{"input": {"a": 1}, "id": "two", "src": "more"}, MACHINE["states"]["b"]["invoke"]]
    machine: Json = {"id": "m", "initial": "a", "states": {"a": {}}}
    new = '<state id="m.a"><invoke type="urn:statecharts" id="i" src="s"/></state>'
    found = states(edited(('<state id="m.a" x:key="a" x:config="{}"/>', new), machine=machine))
    assert found["a"] == {"invoke": [{"id": "i", "src": "s"}]}


def test_an_invoke_renamed_with_its_events() -> None:
    found = states(edited(('type="urn:statecharts" id="job"', 'type="urn:statecharts" id="work"'), ('event="done.invoke.job"', 'event="done.invoke.work"')))
    assert found["b"]["invoke"] == {"src": "job", "id": "work", "onDone": "c", "input": {"x": 1}}


def test_an_invoke_removed_leaves_its_transitions() -> None:
    text = to_scxml(MACHINE).text
    start = text.index("    <invoke ")
    end = text.index("</invoke>") + len("</invoke>\n")
    found = read_document(text[:start] + text[end:]).document["states"]["b"]
    assert "invoke" not in found
    assert found["on"] == {"xstate.done.actor.job": "c"}


def test_a_handler_of_an_invoke_removed() -> None:
    text = to_scxml(MACHINE).text
    lines = [line for line in text.splitlines() if "done.invoke.job" not in line]
    assert read_document("\n".join(lines)).document["states"]["b"]["invoke"] == {"src": "job", "id": "job", "input": {"x": 1}}


def test_the_source_of_an_invoke_removed() -> None:
    assert edited((' src="job"', "")).document["states"]["b"]["invoke"] == {"id": "job", "onDone": "c", "input": {"x": 1}}


def test_all_children_removed() -> None:
    machine: Json = {"id": "m", "initial": "a", "states": {"a": {"initial": "x", "states": {"x": {}}}}}
    found = edited((' initial="m.a.x"', ""), ('<state id="m.a.x" x:key="x" x:config="{}"/>', ""), machine=machine)
    assert states(found)["a"] == {"states": {}}


def test_a_copied_state_has_a_key_of_its_own() -> None:
    machine: Json = {"id": "m", "initial": "a", "states": {"a": {"tags": ["t"]}}}
    text = to_scxml(machine).text
    [line] = [row for row in text.splitlines() if '<state id="m.a"' in row]
    for name, key, made in (("m.a2", "a2", {"tags": ["t"]}), ("copy", "copy", {"tags": ["t"], "id": "copy"})):
        found = read_document(text.replace(line, line + line.replace('"m.a"', f'"{name}"')))
        assert states(found) == {"a": {"tags": ["t"]}, key: made}
    nameless = line.replace('id="m.a" x:key="a"', "")
    assert list(states(read_document(text.replace(line, line + nameless + nameless)))) == ["a", "state_2", "state_3"]


def test_a_state_beside_the_wrapper_is_a_state_of_the_machine() -> None:
    machine: Json = {"id": "m", "initial": "a", "on": {"E": ".a"}, "states": {"a": {}}}
    found = edited(("</scxml>", '<state id="b"/></scxml>'), ('event="E" target="m.a"', 'event="E" target="b"'), machine=machine)
    assert found.warnings == ()
    assert found.document == {"id": "m", "initial": "a", "on": {"E": "#b"}, "states": {"a": {}, "b": {"id": "b"}}}


def test_new_conditions_that_are_understood() -> None:
    new = '<transition event="NEW" cond="guard(\'g\')"/>'
    assert states(edited(('    <transition event="IN"', new + '<transition event="IN"')))["b"]["states"]["b1"]["on"]["NEW"] == {"guard": "g"}


# ------------------------------------------------------- edits that do not count


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cond=\"guard('may')\"", "cond=\"guard('must')\"", "`cond` of <transition>"),
        ("cond=\"guard('may')\" ", "", "`cond` of <transition> is missing"),
        ('delay="1000ms"', 'delay="2000ms"', "`delay` of <send>"),
        ('<param name="r" expr="1"/>', '<param name="r" expr="2"/>', "`expr` of <param>"),
        ('<param name="x" expr="1"/>', "", "<invoke> lacks a <param>"),
        ("<onexit x:helper", '<script/><onexit x:helper="z"/><onexit x:helper', None),
    ],
)
def test_an_edit_that_does_not_count_is_a_warning(old: str, new: str, words: str | None) -> None:
    if words is None:
        with pytest.raises(DefinitionError):
            edited((old, new))
        return
    found = edited((old, new))
    assert found.document == MACHINE
    [problem] = found.warnings
    assert problem.code == "edit-not-read"
    assert problem.line is not None
    assert words in problem.message


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('x:config=\'{"type": "final", "output": {"r": 1}}\'', "x:config='{'", "bad-extension"),
        ('x:config=\'{"type": "final", "output": {"r": 1}}\'', "x:config='[1]'", "bad-extension"),
        ('x:config=\'{"type": "@xstate.raise", "event": "R"}\'', "x:config='7'", "bad-extension"),
        ('<x:action type="hello"/>', '<x:action type="hello">{</x:action>', "bad-action"),
        ('event="GO" target="m.b"', 'event="GO" target="nowhere"', "unknown-target"),
        ('<raise event="R"', "<raise", "missing-attribute"),
    ],
)
def test_an_edit_that_breaks_the_text_is_a_problem_with_its_line(old: str, new: str, code: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        edited((old, new))
    [problem] = caught.value.problems
    assert problem.code == code
    assert problem.line is not None


def test_a_helper_is_no_target() -> None:
    machine = {"id": "m", "initial": "a", "output": 1, "states": {"a": {"on": {"E": "f"}}, "f": {"type": "final"}}}
    with pytest.raises(DefinitionError) as caught:
        edited(('event="E" target="m.f"', 'event="E" target="m.end"'), machine=machine)
    assert [problem.code for problem in caught.value.problems] == ["not-xstate"]


def test_lines_of_an_exported_machine() -> None:
    text = to_scxml(MACHINE).text
    found = read_document(text)
    rows = text.splitlines()
    for pointer, words in {
        "": "<scxml",
        "/context/n": '<data id="n"',
        "/states/a": '<state id="m.a"',
        "/states/a/entry/1": "<raise",
        "/states/a/on/GO/guard": 'event="GO"',
        "/states/a/on/STAY/actions": 'type="act"',
        "/states/a/after/1000": 'event="after.1000',
        "/states/b/always/1/target": 'target="m.b.b2" type="internal"',
        "/states/b/invoke/src": "<invoke",
        "/states/b/invoke/onDone": 'event="done.invoke.job"',
    }.items():
        line = found.line_of(pointer)
        assert line is not None
        assert words in rows[line - 1], pointer
