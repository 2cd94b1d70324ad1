"""Binding Python to names: decorators, mappings, merging, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from statecharts import ImplementationError, Implementations, UsageError, and_, assign, raise_, state_in
from statecharts.actions import Assign, InlineAction
from statecharts.values import UNDEFINED


def test_a_decorator_takes_a_name_or_uses_the_functions() -> None:
    impl = Implementations()

    @impl.guard("canRetry")
    def can_retry(context: Any) -> bool:
        return bool(context)

    @impl.guard
    def plain(context: Any) -> bool:
        return bool(context)

    @impl.guard()
    def called(context: Any) -> bool:
        return bool(context)

    @impl.update("count")
    def count_up(context: Any) -> dict[str, Any]:
        return {"n": context["n"] + 1}

    @impl.update
    def reset() -> dict[str, Any]:
        return {}

    @impl.action("tell")
    def tell_them(event: Any) -> None:
        pass

    @impl.action
    def shout(event: Any) -> None:
        pass

    @impl.actor("fetch")
    async def fetch_it(input: Any) -> None:
        pass

    @impl.actor
    async def wait() -> None:
        pass

    @impl.delay("soon")
    def soon_enough() -> int:
        return 1

    @impl.delay
    def later() -> int:
        return 2

    @impl.invoke_input("fetch")
    def fetch_input(context: Any) -> Any:
        return context

    @impl.output("m.done")
    def result(context: Any) -> Any:
        return context

    @impl.context
    def start(input: Any) -> dict[str, Any]:
        return {"n": input}

    assert impl.guards == {"canRetry": can_retry, "plain": plain, "called": called}
    assert can_retry({"x": 1}) is True, "a decorator gives the function back unchanged"
    assert {name: type(value) for name, value in impl.actions.items()} == {
        "count": Assign,
        "reset": Assign,
        "tell": InlineAction,
        "shout": InlineAction,
    }
    assert impl.actors == {"fetch": fetch_it, "wait": wait}
    assert impl.delays == {"soon": soon_enough, "later": later}
    assert impl.invoke_inputs == {"fetch": fetch_input}
    assert impl.outputs == {"m.done": result}
    assert impl.initial_context is start
    assert list(impl.names()) == [
        ("guard", "canRetry"),
        ("guard", "plain"),
        ("guard", "called"),
        ("action", "count"),
        ("action", "reset"),
        ("action", "tell"),
        ("action", "shout"),
        ("actor", "fetch"),
        ("actor", "wait"),
        ("delay", "soon"),
        ("delay", "later"),
    ]


def test_a_mapping_of_sections_means_the_same() -> None:
    def guard(context: Any) -> bool:
        return True

    async def job() -> None:
        pass

    impl = Implementations(
        {
            "guards": {"g": guard, "alias": "g", "object": {"type": "g"}, "always": True, "both": and_("g", state_in("a"))},
            "updates": {"u": lambda context: {}, "set": {"n": 1}, "made": assign(n=1)},
            "actions": {"a": lambda: None, "r": raise_("E")},
            "actors": {"job": job},
            "delays": {"d": 5},
            "invoke_inputs": {"job": 1},
            "outputs": {"m": 2},
            "context": {"n": 0},
        }
    )
    assert set(impl.guards) == {"g", "alias", "object", "always", "both"}
    assert all(isinstance(impl.actions[name], Assign) for name in ("u", "set", "made"))
    assert isinstance(impl.actions["a"], InlineAction)
    assert (impl.actors, impl.delays, impl.invoke_inputs, impl.outputs, impl.initial_context) == (
        {"job": job},
        {"d": 5},
        {"job": 1},
        {"m": 2},
        {"n": 0},
    )
    assert Implementations({"guards": None}).guards == {}


def test_of_takes_what_it_is_given() -> None:
    impl = Implementations()
    assert Implementations.of(impl) is impl
    assert Implementations.of({"delays": {"d": 1}}).delays == {"d": 1}
    assert Implementations.of(None).guards == {}


def test_merging_lets_the_second_win_and_changes_neither() -> None:
    first = Implementations({"delays": {"a": 1, "b": 1}, "guards": {"g": True}, "context": {"n": 1}})
    second = Implementations({"delays": {"b": 2}, "outputs": {"m": 3}})
    both = first.merged(second)
    assert (both.delays, both.guards, both.outputs, both.initial_context) == (
        {"a": 1, "b": 2},
        {"g": True},
        {"m": 3},
        {"n": 1},
    )
    assert first.delays == {"a": 1, "b": 1} and second.delays == {"b": 2}
    assert second.merged(first).delays == {"a": 1, "b": 1}
    assert second.merged(Implementations({"context": {"n": 2}})).initial_context == {"n": 2}
    assert second.merged(second).initial_context is UNDEFINED


REFUSED: list[tuple[Any, type[Exception], str]] = [
    ({"guard": {}}, UsageError, "no section 'guard'; the sections are guards, updates, actions"),
    (7, UsageError, "implementations are a mapping of sections, not int"),
    ({"guards": 7}, UsageError, "'guards' maps names to implementations; it is int here"),
    ({"guards": {"g": 3}}, ImplementationError, "guard 'g' must be callable, not int"),
    ({"guards": {"g": None}}, ImplementationError, "guard 'g' must be callable, not NoneType"),
    ({"guards": {"g": lambda a, b, c, d: 0}}, ImplementationError, "guard 'g' asks for"),
    ({"updates": {"u": 3}}, ImplementationError, "update 'u' must be a function or a mapping, not int"),
    ({"updates": {"u": lambda input: {}}}, ImplementationError, "update 'u' asks for 'input'"),
    ({"actions": {"a": lambda input: 0}}, ImplementationError, "action 'a' asks for 'input'"),
    ({"actions": {"a": {"type": "x"}}}, ImplementationError, r"action 'a' must be callable or made by a creator such as raise_\(\), not dict"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "kind", "message"), REFUSED)
def test_what_cannot_be_bound_is_refused_at_once(source: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Implementations(source)
