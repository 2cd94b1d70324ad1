"""Drives LangGraph: a loop of two nodes under ``SqliteSaver``, ``durability="sync"``; an event is a superstep.

``SqliteSaver`` opens its file in WAL mode, with SQLite's default ``synchronous = FULL``.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from chart import CHART
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from sampling import Samples, Task, answer

LOOP = 100
"""Supersteps of one invocation."""


class State(TypedDict):
    """As much as the chart's context."""

    n: Annotated[int, operator.add]
    customer: dict[str, Any]
    lines: list[dict[str, Any]]
    note: str


def measure(task: Task) -> dict[str, Any]:
    """Invocations of so many supersteps each, on one thread id."""
    graph = StateGraph(State)
    graph.add_node("waiting", lambda _state: {"n": 1})
    graph.add_node("calling", lambda _state: {"n": 1})
    graph.add_edge(START, "waiting")
    graph.add_edge("waiting", "calling")
    graph.add_conditional_edges("calling", lambda state: END if state["n"] % LOOP == 0 else "waiting")
    samples, done = Samples(task), 0
    with SqliteSaver.from_conn_string(task["file"]) as saver:
        app = graph.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "order-0"}, "recursion_limit": LOOP + 10}
        for _ in samples:
            for _ in range(task["events"] // LOOP):
                given = {**CHART["context"], "n": 0}
                done = app.invoke(given, config, durability="sync")["n"]
    return samples.result(done)


if __name__ == "__main__":
    answer(measure)
