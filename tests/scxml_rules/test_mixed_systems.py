"""SCXML sessions among other actors: each under the rules of its own document."""

from __future__ import annotations

from typing import Any

import pytest
from session_documents import document, leaves, log, logged, run

from statecharts import (
    ExecutionError,
    ImplementationError,
    StatechartError,
    UsageError,
    folder_resolver,
    from_callback,
    initial_transition,
    load_machine,
    send_parent,
    simulate,
    transition,
)

CHILD = document(
    f"""<datamodel><data id="size" expr="1"/><data id="own" expr="'mine'"/></datamodel>
        <state id="c"><onexit>{log('-c')}</onexit>
          <onentry><send target="#_parent" event="hello"><param name="size" expr="size"/></send></onentry>
          <transition event="grow"><assign location="size" expr="size + _event.data.by"/></transition>
          <transition event="who"><send targetexpr="_event.origin" event="me"><param name="from" expr="_event.origin"/></send></transition>
          <transition event="end" target="f"/></state>
        <final id="f"><donedata><param name="size" expr="size"/></donedata></final>""",
    'name="child"',
)


def test_an_xstate_machine_invokes_a_session() -> None:
    parent = load_machine(
        {
            "id": "parent",
            "initial": "a",
            "context": {"seen": []},
            "states": {
                "a": {
                    "invoke": {"id": "kid", "src": "child", "input": {"size": 5, "own": "not yours", "no": 1}, "onDone": {"target": "b", "actions": "note"}},
                    "on": {
                        "hello": {"actions": "note"},
                        "LEAVE": "c",
                        "TELL": {"actions": {"type": "@xstate.sendTo", "to": "kid", "event": {"type": "grow", "by": 2}}},
                        "END": {"actions": {"type": "@xstate.sendTo", "to": "kid", "event": {"type": "end"}}},
                    },
                },
                "b": {},
                "c": {},
            },
        },
        {
            "actors": {"child": load_machine(CHILD)},
            "updates": {"note": lambda context, event: {"seen": [*context["seen"], dict(event)]}},
        },
    )  # fmt: skip
    sim = simulate(parent)
    assert sim.snapshot.context["seen"] == [{"type": "hello", "size": 5}]
    assert sim.child("kid").context == {"size": 5, "own": "not yours"}
    sim.send("TELL")
    sim.send("END")
    assert sim.snapshot.value == "b"
    assert sim.snapshot.context["seen"][1] == {
        "type": "xstate.done.actor.kid", "output": {"size": 7}, "actorId": "kid",
    }  # fmt: skip
    left = simulate(parent)
    left.send("LEAVE")
    assert (left.snapshot.value, logged(left)) == ("c", ["-c"])


def xstate_child() -> Any:
    return load_machine(
        {
            "id": "x",
            "initial": "a",
            "states": {
                "a": {"entry": "greet", "on": {"finish": "done", "crash": {"actions": "boom"}}},
                "done": {"type": "final"},
            },
            "output": {"answer": 42},
        },
        {"actions": {"greet": send_parent({"type": "greeting", "words": 2}), "boom": _boom}},
    )


def _boom() -> None:
    raise ValueError("kaput")


PARENT = f"""<state id="s">
   <invoke type="x-machine" src="worker" id="w"/>
   <transition event="greeting" cond="_event.invokeid == 'w' &amp;&amp; _event.data.words == 2">{log('greeted')}</transition>
   <transition event="stop"><send target="#_w" event="finish"/></transition>
   <transition event="hurt"><send target="#_w" event="crash"/></transition>
   <transition event="done.invoke.w" cond="_event.data.answer == 42" target="done"/>
   <transition event="error.communication" cond="_event.invokeid == 'w'" target="failed"><log expr="_event.data.message"/></transition>
 </state><state id="done"/><state id="failed"/>"""


def test_a_session_invokes_an_xstate_machine() -> None:
    options: dict[str, Any] = {"implementations": {"actors": {"worker": xstate_child()}}}
    assert (leaves(sim := run(PARENT, "stop", **options)), logged(sim)) == (["done"], ["greeted"])
    assert (leaves(sim := run(PARENT, "hurt", **options)), logged(sim)) == (["failed"], ["greeted", "kaput"])


def test_a_session_invokes_a_promise() -> None:
    async def work(input: Any) -> Any:
        return input

    body = """<state id="s"><invoke type="job" src="work" id="w"><param name="n" expr="1 + 1"/></invoke>
                <transition event="done.invoke.w" cond="_event.data == 'ready'" target="good"/>
                <transition event="error" target="bad"/></state><state id="good"/><state id="bad"/>"""
    sim = run(body, implementations={"actors": {"work": work}})
    assert sim.waiting[0].input == {"n": 2}
    sim.resolve("w", "ready")
    assert leaves(sim) == ["good"]
    failing = run(body, implementations={"actors": {"work": work}})
    failing.reject("w", "no")
    assert leaves(failing) == ["bad"]


def test_the_type_of_an_invoke_may_be_the_actor() -> None:
    async def work() -> None:
        """Settled by the test."""

    body = '<state id="s"><invoke type="work" id="w"/><transition event="done.invoke" target="t"/></state><state id="t"/>'
    sim = run(body, implementations={"actors": {"work": work}})
    sim.resolve("w")
    assert leaves(sim) == ["t"]


@pytest.mark.parametrize(
    ("invoke", "error"),
    [
        ('<invoke type="nothing:known"/>', "error.execution"),
        ('<invoke typeexpr="no.such"/>', "error.execution"),
        ("<invoke srcexpr=\"'nowhere.scxml'\"/>", "error.communication"),
        ("<invoke><content expr=\"'&lt;broken'\"/></invoke>", "error.communication"),
        ('<invoke><content expr="17"/></invoke>', "error.execution"),
        ('<invoke type="scxml" namelist="nobody"><content><scxml version="1.0"><state id="x"/></scxml></content></invoke>', "error.execution"),
        ("<invoke/>", "error.communication"),
    ],
)  # fmt: skip
def test_what_cannot_be_invoked_is_an_error_event(invoke: str, error: str) -> None:
    body = f'<state id="s">{invoke}<transition event="{error}" target="t"/></state><state id="t"/>'
    assert leaves(run(body)) == ["t"]


def test_documents_are_found_by_the_resolver() -> None:
    asked: list[str] = []

    def resolve(uri: str) -> Any:
        asked.append(uri)
        if uri == "child.scxml":
            return CHILD
        if uri == "machine":
            return load_machine(CHILD)
        raise LookupError(uri)

    body = """<datamodel><data id="where" expr="'machine'"/></datamodel>
      <state id="s"><invoke id="a" src="child.scxml"/><invoke id="b" srcexpr="where"/><invoke id="c" src="none"/>
        <transition event="error.communication" cond="_event.data.reason.indexOf('none') &gt; 0"><log expr="'missing'"/></transition>
        <transition event="hello"><log expr="_event.invokeid"/></transition></state>"""
    sim = run(body, resolver=resolve)
    assert sorted(logged(sim)) == ["a", "b", "missing"]
    assert asked == ["child.scxml", "machine", "none"]
    again = simulate(load_machine(document(body), resolver=resolve), snapshot=sim.save())
    assert again.child("a").context == {"size": 1, "own": "mine"}


def test_a_source_without_a_resolver_is_missing() -> None:
    body = """<state id="s"><invoke src="child.scxml"/><invoke type="job"/><invoke typeexpr="'job'"/>
      <transition event="error.communication" target="t"/></state><state id="t"/>"""
    machine = load_machine(document(body))
    assert [(name.kind, name.name) for name in machine.missing] == [("actor", "child.scxml"), ("actor", "job")]
    assert leaves(simulate(machine)) == ["t"]
    unbound = load_machine(document('<state id="s"><onentry><action xmlns="urn:statecharts" type="a"/></onentry></state>'))
    with pytest.raises(ImplementationError, match="action 'a'"):
        simulate(unbound)


def test_sessions_address_each_other_by_id() -> None:
    body = f"""<state id="s"><invoke type="scxml" id="kid"><content>{CHILD}</content></invoke>
        <transition event="ask"><send target="#_kid" event="who"/></transition>
        <transition event="me" cond="_event.data.from == '#_scxml_' + _sessionid" target="t"/>
        <transition event="end"><send target="#_kid" event="end"/></transition>
        <transition event="late"><send target="#_kid" event="grow" id="late"/></transition>
        <transition event="error.communication" cond="_event.sendid == 'late'" target="gone"/></state>
      <state id="t"/><state id="gone"/>"""
    assert leaves(run(body, "ask")) == ["t"]
    assert leaves(run(body, "end", "late")) == ["gone"]


@pytest.mark.parametrize(
    "send",
    [
        '<send event="x" target="#_scxml_x:99"/>', '<send event="x" target="#_scxml_nobody"/>',
        '<send event="x" target="#_parent"/>', '<send event="x" target="#_nobody"/>',
    ],
)  # fmt: skip
def test_nobody_there_is_a_communication_error_and_the_block_goes_on(send: str) -> None:
    body = f"""<state id="s"><onentry>{send}<raise event="on"/></onentry>
      <transition event="error.communication" target="t"/></state>
      <state id="t"><transition event="on" target="u"/></state><state id="u"/>"""
    assert leaves(run(body)) == ["u"]


@pytest.mark.parametrize(
    "send",
    [
        '<send event="x" target="mailto:you"/>', '<send event="x" type="x-carrier-pigeon"/>', '<send eventexpr="no.name"/>',
        "<send eventexpr=\"''\"/>", "<send event=\"x\" delayexpr=\"'soon'\"/>", '<send event="x" delayexpr="-1"/>',
        "<send event=\"x\" targetexpr=\"'#_internal'\" delay=\"1s\"/>", '<send event="x" idlocation="nowhere.at.all"/>',
        '<send event="x" namelist="nobody"/>',
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_an_execution_error_and_ends_the_block(send: str) -> None:
    body = f"""<state id="s"><onentry>{send}<raise event="on"/></onentry>
      <transition event="error.execution" target="t"/></state>
      <state id="t"><transition event="*" target="u"/></state><state id="u"/>"""
    assert leaves(run(body)) == ["t"]


def test_a_delay_may_be_a_number_and_cancel_takes_all_with_the_id() -> None:
    body = """<state id="s"><onentry>
        <send event="a" id="same" delayexpr="100"/><send event="b" id="same" delay=".2s"/><send event="c" delay="300ms"/>
        <cancel sendidexpr="'sa' + 'me'"/></onentry>
      <transition event="*" target="t"><log expr="_event.name"/></transition></state><state id="t"/>"""
    sim = run(body)
    sim.settle()
    assert (leaves(sim), logged(sim), sim.now) == (["t"], ["c"], 300)


# ------------------------------------------------------------ I/O processors


def test_an_io_processor_is_a_callback_actor() -> None:
    outbox: list[Any] = []

    def pigeons(send_back: Any, receive: Any) -> Any:
        def fly(event: Any) -> None:
            outbox.append(dict(event))
            send_back({"type": "landed", "data": {"at": event["target"]}})

        receive(fly)
        return lambda: outbox.append("stopped")

    pigeons.location = lambda session: f"loft of {session}"  # type: ignore[attr-defined]
    body = """<state id="s">
        <transition event="go"><send type="x-pigeon" target="roof" event="fly" id="p1"><param name="n" expr="1"/></send>
          <log expr="_ioprocessors['x-pigeon'].location"/></transition>
        <transition event="landed" cond="_event.data.at == 'roof'" target="t"/></state><final id="t"/>"""
    sim = run(body, "go", processors={"x-pigeon": pigeons})
    assert (leaves(sim), logged(sim)) == (["t"], ["loft of x:0"])
    assert outbox == [
        {"type": "fly", "target": "roof", "sendid": "p1", "origin": "#_scxml_x:0", "data": {"n": 1}},
        "stopped",
    ]


def test_an_io_processor_lives_through_a_restore() -> None:
    def echo(send_back: Any, receive: Any) -> None:
        receive(lambda event: send_back("back"))

    echo.location = "here"  # type: ignore[attr-defined]
    body = """<state id="s"><transition event="go"><send type="x-echo" event="e"/></transition>
        <transition event="back" target="t"/></state><state id="t"/>"""
    machine = load_machine(document(body), processors={"x-echo": echo})
    sim = simulate(machine)
    again = simulate(machine, snapshot=sim.save())
    again.send("go")
    assert leaves(again) == ["t"]


# ------------------------------------------------------------- the pure face


def test_the_pure_functions_run_sessions_too() -> None:
    machine = load_machine(
        document(
            """<datamodel><data id="n" expr="1"/></datamodel>
               <state id="a"><transition event="go" cond="n == 1" target="b"><send event="x" target="#_scxml_x:0"/></transition>
                 <transition event="bad"><send event="x" target="#_scxml_x:7"/></transition></state>
               <state id="b"><invoke type="scxml" id="k"><content><scxml version="1.0"><state id="in"/></scxml></content></invoke>
                 <transition event="tell"><send target="#_k" event="x"/></transition></state>"""
        )
    )
    first, effects = initial_transition(machine)
    assert (first.atomic_states, effects) == (("a",), ())
    assert first.can("go") and not first.can("other")
    assert [option.type for option in first.next_events()] == ["go", "bad"]
    second, effects = transition(machine, first, "go")
    assert (second.atomic_states, [effect.type for effect in effects]) == (("b",), ["xstate.sendTo", "xstate.spawnChild"])
    _third, effects = transition(machine, second, "tell")
    assert [effect.type for effect in effects] == ["xstate.sendTo"]
    assert transition(machine, first, "bad")[1] == ()
    assert first.context == {"n": 1}


def test_nothing_happens_after_the_end() -> None:
    machine = load_machine(document('<state id="a"><transition event="e" target="f"/></state><final id="f"/>'))
    done = simulate(machine)
    snapshot = done.send("e")
    assert (snapshot.status, snapshot.atomic_states) == ("done", ("f",))
    after, effects = transition(machine, snapshot, "e")
    assert (after.atomic_states, effects) == (("f",), ())


def test_an_endless_loop_is_named() -> None:
    body = '<state id="a"><transition target="b"/></state><state id="b"><transition target="a"/></state>'
    sim = run(body)
    assert sim.snapshot.status == "error"
    assert isinstance(sim.snapshot.error, ExecutionError)
    assert "a" in str(sim.snapshot.error)


def test_stopping_a_simulation_runs_exit_handlers() -> None:
    sim = run(f'<state id="a"><onexit>{log("-a")}</onexit><state id="b"><onexit>{log("-b")}</onexit></state></state>')
    sim.stop()
    assert (sim.snapshot.status, logged(sim)) == ("stopped", ["-b", "-a"])
    sim.stop()
    assert logged(sim) == ["-b", "-a"]


def test_other_semantics_are_refused() -> None:
    with pytest.raises(UsageError, match="runs under semantics 'scxml'"):
        load_machine(CHILD, semantics="xstate")


def test_an_actor_bound_under_a_type_is_told_the_source() -> None:
    async def fetch() -> None:
        """Settled by the test."""

    body = '<state id="s"><invoke type="x-http" src="some://where" id="w"><param name="n" expr="1"/></invoke></state>'
    assert run(body, implementations={"actors": {"x-http": fetch}}).waiting[0].input == {"src": "some://where", "n": 1}
    bare = body.replace('<param name="n" expr="1"/>', "")
    assert run(bare, implementations={"actors": {"x-http": fetch}}).waiting[0].input == {"src": "some://where"}


def test_a_document_may_be_computed() -> None:
    body = """<datamodel><data id="doc">{"semantics": "scxml", "states": {"c": {"entry": [[
          {"type": "scxml.send", "target": "#_parent", "event": "hi"}]]}}}</data><data id="where"/></datamodel>
      <state id="s"><invoke idlocation="where"><content expr="doc"/></invoke>
        <transition event="hi" cond="_event.invokeid == where"><log expr="where.indexOf('s.0')"/></transition></state>"""
    machine = load_machine(document(body))
    sim = simulate(machine)
    assert logged(sim) == [0]
    assert simulate(machine, snapshot=sim.save()).snapshot.children.keys() == sim.snapshot.children.keys()


def test_content_that_is_no_object_reaches_others_as_data() -> None:
    child = document('<state id="c"><onentry><send target="#_parent" event="hi"><content>words</content></send></onentry></state>')
    seen: list[Any] = []
    parent = {"initial": "a", "states": {"a": {"invoke": {"src": "kid"}, "on": {"hi": {"actions": "note"}}}}}
    bound = {"actors": {"kid": load_machine(child)}, "actions": {"note": lambda context, event: seen.append(dict(event))}}
    simulate(load_machine(parent, bound))
    assert seen == [{"type": "hi", "data": "words"}]


def test_send_ids_are_made_when_asked_for() -> None:
    body = """<datamodel><data id="one"/></datamodel>
      <state id="s"><onentry><send event="x" delay="1s" idlocation="one"/><cancel sendidexpr="one"/>
          <send event="y" target="#_internal" id="me"><param name="n" expr="1"/></send></onentry>
        <transition event="x" target="bad"/>
        <transition event="y" cond="_event.type == 'internal' &amp;&amp; _event.sendid == 'me' &amp;&amp; _event.data.n == 1" target="t"/></state>
      <state id="t"/><state id="bad"/>"""
    sim = run(body)
    sim.settle()
    assert (leaves(sim), sim.now) == (["t"], 0)


def test_a_processor_may_be_a_logic() -> None:
    def silent(receive: Any) -> None:
        """Listens to nobody."""

    silent.location = "somewhere"  # type: ignore[attr-defined]
    sim = run(
        "<state id='s'><onentry><log expr=\"_ioprocessors['x'].location\"/></onentry></state>",
        processors={"x": from_callback(silent)},
    )
    assert logged(sim) == ["somewhere"]


def test_stopping_what_is_over_changes_nothing() -> None:
    machine = load_machine(document('<final id="f"/>'))
    done, _ = initial_transition(machine)
    assert transition(machine, done, "xstate.stop")[0].status == "done"


def test_a_failing_condition_on_its_own_error_does_not_go_round_for_ever() -> None:
    body = """<state id="s"><transition event="error.execution" cond="nobody" target="t"/><transition event="e" cond="no.one" target="t"/></state>
      <state id="t"/>"""
    sim = run(body, "e", "e")
    assert (sim.snapshot.status, leaves(sim)) == ("active", ["s"])


def test_documents_of_a_folder(tmp_path: Any) -> None:
    (tmp_path / "kid.scxml").write_text(CHILD)
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "list.json").write_text("[5]")
    body = """<datamodel><data id="xs" src="file:inner/list.json"/></datamodel>
      <state id="s"><invoke src="kid.scxml" id="k"/><transition event="hello"><log expr="xs[0]"/></transition></state>"""
    resolver = folder_resolver(tmp_path)
    assert logged(run(body, resolver=resolver)) == [5]
    with pytest.raises(UsageError, match="outside the folder"):
        resolver("../secret")
    with pytest.raises(UsageError, match="there is no file"):
        resolver("nothing")


def test_a_child_names_its_own_children_from_where_it_lies(tmp_path: Any) -> None:
    deep = tmp_path / "sub" / "deeper"
    deep.mkdir(parents=True)
    inner = document('<state id="i"><onentry><log expr="xs[0]"/></onentry></state>').replace(
        "<state", '<datamodel><data id="xs" src="list.json"/></datamodel><state', 1
    )
    (tmp_path / "sub" / "b.scxml").write_text(document('<state id="b"><invoke src="file:deeper/c.scxml"/></state>'))
    (deep / "c.scxml").write_text(inner)
    (deep / "list.json").write_text("[7]")
    (tmp_path / "a.scxml").write_text(document('<state id="a"><invoke src="sub/b.scxml"/></state>'))
    assert logged(simulate(load_machine(tmp_path / "a.scxml", resolver=folder_resolver(tmp_path)))) == [7]


def test_a_session_that_feeds_itself_for_ever_is_stopped() -> None:
    body = '<state id="s"><transition event="e"><send event="e"/></transition></state>'
    with pytest.raises(StatechartError, match="without coming to rest"):
        run(body, "e")


def test_a_console_is_there_and_silent() -> None:
    body = "<state id='s'><onentry><script>console.log('x')</script><log expr='1'/></onentry></state>"
    assert logged(run(body)) == [1]


def test_a_delayed_send_to_nobody_fails_when_its_time_has_come() -> None:
    body = f"""<state id="s"><onentry><send id="me" event="x" target="#_none" delay="5ms"/></onentry>
      <transition event="error.communication" cond="_event.sendid == 'me'" target="t">{log('late')}</transition></state><state id="t"/>"""
    sim = run(body)
    assert (leaves(sim), logged(sim)) == (["s"], [])
    again = simulate(sim.machine, snapshot=sim.save())
    again.settle()
    assert (leaves(again), again.now) == (["t"], 5)


def test_a_delayed_send_reaches_a_child_invoked_meanwhile() -> None:
    child = f'<scxml version="1.0"><state id="c"><transition event="x" cond="_event.data.n == 1">{log("got")}</transition></state></scxml>'
    body = f"""<state id="s"><onentry><send event="x" target="#_k" delay="5ms"><param name="n" expr="1"/></send></onentry>
      <invoke type="scxml" id="k"><content>{child}</content></invoke></state>"""
    sim = run(body)
    again = simulate(sim.machine, snapshot=sim.save())
    again.settle()
    assert logged(again) == ["got"]
