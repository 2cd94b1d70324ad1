"""Random machines that any reader would accept, and random things that happen to them.

Every state has an id of its own (its key), so any state can be a target of
any transition. Loops end: an ``always`` counts up and asks that the count be
small, and raised events are bounded by ``maxIterations``.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from statecharts import (
    DefinitionError,
    Machine,
    assign,
    cancel,
    emit,
    enqueue,
    load_machine,
    log,
    raise_,
    send_parent,
    send_to,
    spawn_child,
    stop_child,
)

EVENTS = ("E0", "E1", "E2", "E3")
RAISED = ("R0", "R1")
LIMIT = 9


async def job(input: Any) -> Any:
    """Work that a step of the run settles."""


def count(context: Any) -> dict[str, Any]:
    return {"n": context["n"] + 1}


def send_oneself_a_bounded_number_of_events(context: Any, enqueue: Any) -> None:
    if context["n"] < LIMIT:
        enqueue(assign(count))
        enqueue(send_to("#_internal", {"type": "E3"}))


def stop_and_forget(enqueue: Any) -> None:
    enqueue(stop_child(lambda context: context.get("job")))
    enqueue(assign(job=None))


def keep(context: Any, event: Any) -> dict[str, Any]:
    return {"last": event["type"], "seen": [*context["seen"][-3:], event["type"]]}


KID: dict[str, Any] = {
    "id": "kid",
    "initial": "one",
    "context": {"n": 0},
    "states": {
        "one": {"after": {"15": "two"}, "on": {"PING": {"actions": ["count", "up"]}, "E1": "two"}},
        "two": {"entry": "up", "after": {"20": "over"}, "on": {"PING": "one"}},
        "over": {"type": "final", "output": "kid is over"},
    },
}
BOUND: dict[str, Any] = {
    "guards": {
        "below": lambda context, params: context["n"] < params["n"],
        "even": lambda context: context["n"] % 2 == 0,
        "small": lambda context: context["n"] < LIMIT,
    },
    "updates": {"count": count, "keep": keep},
    "actions": {
        "act": lambda context, event, params: None,
        "later": raise_("E0", id="later", delay=12),
        "never mind": cancel("later"),
        "tell": emit(lambda context: {"type": "TOLD", "n": context["n"]}),
        "say": log(lambda context, event: [context["n"], event["type"]]),
        "self": enqueue(send_oneself_a_bounded_number_of_events),
        # without ids of their own, for an id taken twice leaves an actor that nobody lists
        "spawn": assign(job=lambda spawn: spawn("job", input={"x": 1})),
        "adopt": spawn_child("kid"),
        "stop": enqueue(stop_and_forget),
        "ping": assign(pinged=lambda context: context["n"]),
        "r0": raise_("R0"),
        "r1": raise_({"type": "R1", "deep": {"v": [1]}}),
    },
}
PLAIN = ("count", "keep", "act", "tell", "say", "ping", "r0", "r1")
TIMED = ("later", "never mind")
PARENTING = ("spawn", "adopt", "stop", "self")


@dataclass
class _Tree:
    """A machine while it is drawn: its states by name, and who may be a target."""

    draw: Any
    timers: bool
    children: bool
    names: list[str] = field(default_factory=list)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    targets: list[str] = field(default_factory=list)
    regions: list[list[list[str]]] = field(default_factory=list)
    insiders: dict[str, set[str]] = field(default_factory=dict)

    def chance(self, percent: int) -> bool:
        return bool(self.draw(st.integers(0, 99)) < percent)

    def pick(self, values: Any) -> Any:
        return self.draw(st.sampled_from(list(values)))

    def some(self, most: int) -> range:
        return range(self.draw(st.integers(0, most)))

    # ------------------------------------------------------------ structure

    def state(self, depth: int, kinds: tuple[str, ...]) -> tuple[str, dict[str, Any], list[str]]:
        """A state with what is below it: name, document, names of all in it."""
        name = f"s{len(self.names)}"
        self.names.append(name)
        kind = self.pick(kinds) if depth > 0 else self.pick([k for k in kinds if k in ("atomic", "final")] or ["atomic"])
        node: dict[str, Any] = {"id": name}
        self.nodes[name] = node
        self.targets.append(name)
        inside = [name]
        if kind == "final":
            node["type"] = "final"
            if self.chance(50):
                node["output"] = {"from": name}
        elif kind in ("compound", "parallel"):
            inside += self.below(node, kind, depth)
        return name, node, inside

    def below(self, node: dict[str, Any], kind: str, depth: int) -> list[str]:
        states: dict[str, Any] = {}
        groups: list[list[str]] = []
        kinds = ("compound", "atomic", "compound") if kind == "parallel" else ("atomic", "atomic", "compound", "parallel", "final")
        for index in range(self.draw(st.integers(2, 3))):
            name, child, inside = self.state(depth - 1, kinds if index else ("atomic", "compound", "parallel")[: 2 + (kind != "parallel")])
            states[name] = child
            groups.append(inside)
        if kind == "parallel":
            node["type"] = "parallel"
            self.regions.append(groups)
        else:
            node["initial"] = self.pick(list(states)[:2])
        if self.chance(40):
            name = f"h{len(self.names)}"
            memory: dict[str, Any] = {"id": name, "type": "history", "history": self.pick(["shallow", "deep"])}
            if self.chance(40):
                memory["target"] = self.pick(list(states))
            states[name] = memory
            self.targets.append(name)
            self.insiders[name] = {node.get("id", ""), *(inner for group in groups for inner in group)}
        node["states"] = states
        return [name for group in groups for name in group]

    # ------------------------------------------------------------- behaviour

    def actions(self, most: int = 2) -> list[Any]:
        names = PLAIN + (TIMED if self.timers else ()) + (PARENTING if self.children else ())
        return [self.pick(names) for _ in self.some(most)]

    def guard(self) -> Any:
        kind = self.pick(["none", "none", "below", "even", "not", "and", "in"])
        return {
            "none": None,
            "below": {"type": "below", "params": {"n": self.draw(st.integers(1, 6))}},
            "even": "even",
            "not": {"type": "@xstate.not", "guard": "even"},
            "and": {"type": "@xstate.and", "guards": ["even", "small"]},
            "in": {"type": "@xstate.stateIn", "state": f"#{self.pick(self.names)}"},
        }[kind]

    def target(self, source: str) -> Any:
        """Not a history state around the source: XState enters what that leads to without leaving it first."""
        if self.regions and self.chance(15):
            groups = self.pick(self.regions)
            return [f"#{self.pick(group)}" for group in groups[:2]]
        return f"#{self.pick(name for name in self.targets if source not in self.insiders.get(name, ()))}"

    def transition(self, source: str) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self.chance(75):
            made["target"] = self.target(source)
            if self.chance(25):
                made["reenter"] = True
        guard = self.guard()
        if guard is not None:
            made["guard"] = guard
        actions = self.actions()
        if actions or not made:
            made["actions"] = actions
        return made

    def behave(self, name: str, node: dict[str, Any]) -> None:
        if self.chance(40):
            node["entry"] = self.actions()
        if self.chance(25):
            node["exit"] = self.actions(1)
        if self.chance(40):
            node["tags"] = [self.pick(["red", "green", "blue"]) for _ in range(self.draw(st.integers(1, 2)))]
        if node.get("type") == "final":
            return
        for event in (*EVENTS, *RAISED):
            if self.chance(45 if event in EVENTS else 20):
                node.setdefault("on", {})[event] = [self.transition(name) for _ in range(1 + self.chance(20))]
        if self.chance(15):
            node["always"] = {"guard": {"type": "below", "params": {"n": LIMIT}}, "actions": "count", **({"target": self.target(name)} if self.chance(60) else {})}
        if "states" in node and self.chance(40):
            node["onDone"] = self.transition(name)
        if self.timers and self.chance(25):
            node["after"] = {self.pick(["5", "10", "30"]): self.transition(name)}
        if self.children and self.chance(25):
            invoke: dict[str, Any] = {"src": self.pick(["job", "kid"]), "id": f"of {name}", "input": {"from": name}}
            for handler in ("onDone", "onError"):
                if self.chance(60):
                    invoke[handler] = self.transition(name)
            node["invoke"] = invoke


@st.composite
def documents(draw: Any, timers: bool = True, children: bool = True) -> dict[str, Any]:
    """A document; not every one is accepted by the strict reading."""
    tree = _Tree(draw, timers, children)
    root: dict[str, Any] = {"id": "m", "context": {"n": 0, "last": None, "seen": []}, "options": {"maxIterations": 40}}
    tree.below(root, tree.pick(["compound", "compound", "parallel"]), 2)
    for name, node in tree.nodes.items():
        tree.behave(name, node)
    if tree.chance(30):
        root["on"] = {tree.pick(EVENTS): {"target": tree.target("")}}
    return root


def bind(document: dict[str, Any], semantics: str = "xstate") -> Machine[Any, Any]:
    """The document as a machine. Documents the strict reading refuses are not tried."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that this machine happens not to use
        kid = load_machine(KID, {"actions": {"up": send_parent("E2")}, "updates": {"count": count}}, semantics=semantics)
        try:
            return load_machine(document, {**BOUND, "actors": {"job": job, "kid": kid}}, semantics=semantics)
        except DefinitionError:
            assume(False)
            raise


def machines(timers: bool = True, children: bool = True, semantics: str = "xstate") -> st.SearchStrategy[Machine[Any, Any]]:
    """Machines bound to the functions of this module."""
    return documents(timers, children).map(lambda document: bind(document, semantics))


Step = tuple[str, Any]


def steps(timers: bool = True, children: bool = True, most: int = 7) -> st.SearchStrategy[list[Step]]:
    """What happens to a machine: events, time, results of what it waits for."""
    kinds: list[st.SearchStrategy[Step]] = [st.tuples(st.just("send"), st.sampled_from(EVENTS))] * 4
    if timers:
        kinds.append(st.tuples(st.just("advance"), st.sampled_from([1, 10, 25])))
    if children:
        kinds.append(st.tuples(st.sampled_from(["resolve", "reject", "ping"]), st.integers(0, 3)))
    return st.lists(st.one_of(kinds), max_size=most)


def take(sim: Any, step: Step) -> None:
    """Let ``step`` happen to a simulation."""
    verb, what = step
    if verb == "send":
        sim.send(what)
    elif verb == "advance":
        sim.advance(what)
    elif verb == "ping":
        kids = [key for key, ref in sim.snapshot.children.items() if ref and ref.src == "kid"]
        if kids:
            sim.send_to(kids[what % len(kids)], "PING")
    else:
        running = [key for key, ref in sim.snapshot.children.items() if ref and ref.src == "job" and sim.child(key).status == "active"]
        if running:
            getattr(sim, verb)(running[what % len(running)], {"v": what})


def facts(sim: Any) -> Any:
    """Everything about a run that somebody could see."""
    snapshot = sim.snapshot
    return {
        "value": snapshot.value,
        "status": snapshot.status,
        "context": snapshot.context,
        "output": snapshot.output,
        "error": (type(snapshot.error).__name__, str(snapshot.error)),
        "configuration": snapshot.configuration,
        "tags": snapshot.tags,
        "history": snapshot.history,
        "children": snapshot.children,
        "kids": {key: (sim.child(key).value, sim.child(key).status, sim.child(key).context) for key, ref in snapshot.children.items() if ref},
        "timers": [(timer.source.id, timer.send_id, timer.due) for timer in sim.system.timers.pending.values()],
        "now": sim.now,
        "due": sim.clock.next_due(),
        "next session": sim.system.next_session,
    }
