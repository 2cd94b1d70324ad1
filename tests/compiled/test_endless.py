"""What has no end is an error in either build: compiled code does not count how deep it is, so something else must."""

from __future__ import annotations

from typing import Any

from statecharts import Implementations, Machine, and_, load_machine, simulate


def guarded(guards: dict[str, Any]) -> Machine[Any, Any]:
    states = {"a": {"on": {"GO": {"guard": "x", "target": "b"}}}, "b": {}}
    return load_machine({"id": "m", "initial": "a", "states": states}, Implementations({"guards": guards}))


def test_guards_that_stand_for_one_another() -> None:
    for guards in ({"x": "y", "y": "x"}, {"x": and_(["y"]), "y": and_(["x"])}):
        sim = simulate(guarded(guards))
        sim.send("GO")
        assert "recursion" in str(sim.snapshot.error)
        assert isinstance(sim.snapshot.error.__cause__, RecursionError)


def test_a_machine_that_begins_with_itself() -> None:
    def nobody() -> None:
        """Replaced by the machine, which does not exist yet."""

    document = {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "me", "id": "k"}}}}
    machine = load_machine(document, Implementations({"actors": {"me": nobody}}))
    machine.implementations.actors["me"] = machine
    sim = simulate(machine)
    assert sim.snapshot.status == "error"
    assert isinstance(sim.snapshot.error, RecursionError)


def test_a_long_line_of_actors_is_stopped() -> None:
    """Each makes the next one when it is told to, thousands of them; the end of the first is the end of all."""
    document = {
        "id": "m",
        "initial": "a",
        "states": {"a": {"on": {"MORE": "b"}}, "b": {"invoke": {"src": "next", "id": "next"}}},
    }
    leaf = load_machine({"id": "c", "initial": "z", "states": {"z": {}}})
    machine = load_machine(document, Implementations({"actors": {"next": leaf}}))
    machine.implementations.actors["next"] = machine
    sim = simulate(machine)
    path = ""
    sim.send("MORE")
    for _ in range(300):
        path = f"{path}/next" if path else "next"
        sim.send_to(path, "MORE")
    assert len(sim.system.cells) == 302
    assert sim.stop().status == "stopped"
