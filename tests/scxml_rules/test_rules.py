"""The rules of :mod:`rules`, held to their hand-derived values."""

from __future__ import annotations

import json

import pytest
from rules import RULES, Rule
from session_documents import leaves, logged

from statecharts import load_machine, simulate


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_rule(rule: Rule) -> None:
    sim = simulate(load_machine(rule.text))
    seen = 0
    for step in rule.steps:
        if step.event:
            sim.send(step.event)
        new = logged(sim)[seen:]
        seen += len(new)
        assert (step.event, tuple(leaves(sim)), tuple(new)) == (step.event, step.leaves, step.logs)


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_rule_saved_and_restored_before_every_event(rule: Rule) -> None:
    machine = load_machine(rule.text)
    sim = simulate(machine)
    assert tuple(leaves(sim)) == rule.steps[0].leaves
    for step in rule.steps[1:]:
        sim = simulate(machine, snapshot=json.loads(json.dumps(sim.save())))
        sim.send(step.event)
        assert (tuple(leaves(sim)), tuple(logged(sim))) == (step.leaves, step.logs)
