"""Which states are active while a step is under way: what ``active()`` answers in entry, exit and action code."""

from __future__ import annotations

from typing import Any

from .sismic_chart import COMPOUND, Chart
from .sismic_names import Moment


class ActiveStates:
    """Answers by the shape of the chart where it decides; sismic leaves inner states first and enters outer ones first."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart

    def at(self, moment: Moment, name: Any) -> bool | None:
        """Whether the state ``name`` is active at ``moment``; ``None`` if only the configuration can tell."""
        chart = self.chart
        if not isinstance(name, str) or name not in chart.states:
            return False
        if chart.states[name].is_history:
            return False
        here = moment.state
        if moment.transition is not None and moment.transition.target is not None:
            top = chart.top_exited(moment.transition)
            assert top is not None
            if name == top or chart.is_below(name, top):
                return False
            here = top
        elif name == here:
            return moment.kind not in ("entry", "left")
        elif chart.is_below(name, here):
            return None if moment.kind == "transition" else False
        if chart.is_below(here, name):
            return True
        if chart.states[chart.meeting(here, name)].kind == COMPOUND:
            return False
        return None
