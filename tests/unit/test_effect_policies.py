"""How the outside world is called: what may be declared, and what is wrong with the rest."""

from __future__ import annotations

from typing import Any

import pytest

from statecharts import EffectPolicy, Implementations, ProbeAnswer, UsageError


def test_a_policy_is_declared_beside_the_function_and_survives_merging() -> None:
    impl = Implementations()
    made = impl.effect("send", idempotent=True, attempts=3)
    assert made == EffectPolicy(idempotent=True, attempts=3)
    impl.version = "1"
    other = Implementations()
    other.effect("tell", timeout=5)
    merged = impl.merged(other)
    assert merged.policies == {"send": made, "tell": EffectPolicy(timeout=5)}
    assert merged.version == "1"
    other.version = "2"
    assert impl.merged(other).version == "2"


def test_a_member_there_is_none_of() -> None:
    with pytest.raises(UsageError, match="an effect has no 'retries'; it has key, idempotent"):
        Implementations().effect("send", retries=3)


@pytest.mark.parametrize("name", ["attempts", "timeout", "backoff", "max_backoff"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3", None])
def test_a_number_that_is_none(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"{name} of an effect is a whole number of at least 1"):
        EffectPolicy(**{name: value})


@pytest.mark.parametrize("value", [0, 1.5, "3"])
def test_a_deadline_that_is_none(value: Any) -> None:
    assert EffectPolicy(deadline=1).deadline == 1
    with pytest.raises(UsageError, match="deadline of an effect is a number of ms or None"):
        EffectPolicy(deadline=value)


def test_what_a_probe_may_answer() -> None:
    assert ProbeAnswer("done", 1).result == 1
    with pytest.raises(UsageError, match="a probe answers done, running, not_done or unknown, not 'perhaps'"):
        ProbeAnswer("perhaps")
