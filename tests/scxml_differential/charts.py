"""Random SCXML charts: parallel states, history, content in ``initial`` and ``history``, done events, raise, conditions.

Whatever could go round for ever carries a counter, so that every chart comes to rest. Four things are
left out, because SCION differs from the Recommendation in them:

- raise while states are entered and left: SCION enters the regions of a parallel state level by level,
  the Recommendation in document order;
- different events raised by transitions taken together: SCION runs their content in document order of
  the sources, the Recommendation in the order in which leaves selected them;
- transitions whose least common ancestor is a parallel state: SCION takes it for the domain, the
  Recommendation takes a compound one;
- deep history above a final state: SCION forgets final states.

SCION also takes a session for over when all active leaves are final states, wherever they stand; from
there on nothing is compared (:meth:`Chart.is_over_for_scion`).

``tests/semantics/test_scxml_rules.py`` has these by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from xml.sax.saxutils import quoteattr

EVENTS = ("e1", "e2", "e3", "e4")
COUNT = '<assign location="k" expr="k + 1"/>'
ROUNDS = 3
"""How often an eventless transition, or a raise, of one place may happen."""


@dataclass(eq=False)
class State:
    """One state of a chart in the making."""

    id: str
    kind: str
    parent: State | None
    children: list[State] = field(default_factory=list)

    def below(self) -> Iterator[State]:
        """All proper descendants but history states, in document order."""
        for child in self.children:
            if child.kind != "history":
                yield child
                yield from child.below()

    @property
    def above(self) -> list[State]:
        """Proper ancestors, nearest first."""
        found, node = [], self.parent
        while node is not None:
            found.append(node)
            node = node.parent
        return found

    @property
    def real(self) -> list[State]:
        return [child for child in self.children if child.kind != "history"]


class Chart:
    """A random chart; :attr:`text` is its SCXML."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._count = 0
        self._counters = 0
        self.root = State("", "state", None)
        self._grow(self.root, 0)
        self.states = list(self.root.below())
        self.histories = [child for state in self.states for child in state.children if child.kind == "history"]
        body = "".join(self._write(child) for child in self.root.children)
        data = "".join(f'<data id="c{n}" expr="0"/>' for n in range(self._counters))
        initial = f" initial={quoteattr(self._some(self.root))}" if self._likely(0.5) else ""
        self.text = (
            f'<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="ecmascript"{initial}>'
            f'<datamodel><data id="k" expr="0"/>{data}</datamodel>'
            f"{body}</scxml>"
        )
        self.events = [self.random.choice(EVENTS) for _ in range(self.random.randint(6, 12))]

    def is_over_for_scion(self, leaves: list[str]) -> bool:
        """Whether every one of ``leaves`` is a final state."""
        final = {state.id for state in self.states if state.kind == "final"}
        return all(leaf in final for leaf in leaves)

    def _likely(self, chance: float) -> bool:
        return self.random.random() < chance

    # ------------------------------------------------------------ structure

    def _grow(self, parent: State, depth: int) -> None:
        parallel = parent.kind == "parallel"
        for _ in range(self.random.randint(2, 3)):
            kind = self._kind(depth, parallel)
            child = self._add(parent, kind)
            if kind in ("compound", "parallel"):
                child.kind = "parallel" if kind == "parallel" else "state"
                self._grow(child, depth + 1)
        if parent is not self.root and self._likely(0.4):
            self._add(parent, "history")

    def _kind(self, depth: int, in_parallel: bool) -> str:
        if depth >= 3 or self._count > 16:
            return "state" if in_parallel or depth == 0 or self._likely(0.8) else "final"
        weights = (3, 4, 0 if in_parallel or depth == 0 else 1, 2)
        return self.random.choices(("state", "compound", "final", "parallel"), weights)[0]

    def _add(self, parent: State, kind: str) -> State:
        self._count += 1
        state = State(f"s{self._count}", kind, parent)
        parent.children.append(state)
        return state

    # -------------------------------------------------------------- targets

    def _some(self, within: State) -> str:
        """One or several states below ``within`` that can be active together."""
        target = self.random.choice(list(within.below()))
        if target.kind == "parallel" and len(target.real) > 1 and self._likely(0.7):
            first, second = self.random.sample(target.real, 2)
            return " ".join(self.random.choice([region, *region.below()]).id for region in (first, second))
        return target.id

    def _target(self, source: State) -> str:
        for _ in range(10):
            found = self._any_target(source)
            if not self._has_parallel_domain(source, found.split()):
                return found
        return source.id if source.parent is self.root else ""

    def _has_parallel_domain(self, source: State, ids: list[str]) -> bool:
        """Whether the least common ancestor of source and targets is, or may turn out to be, a parallel state."""
        by_id = {state.id: state for state in (*self.states, *self.histories)}
        targets = [by_id[wanted] for wanted in ids]
        if targets[0].kind == "history":
            memory = targets[0].parent
            inside = [source, *source.above]
            if memory not in inside:
                targets = [memory] if memory is not None else []
            else:
                return any(node.kind == "parallel" for node in inside[1 : max(inside.index(memory), 1) + 1])
        common = next(node for node in source.above if all(node in target.above for target in targets))
        return common.kind == "parallel"

    def _any_target(self, source: State) -> str:
        if self.histories and self._likely(0.2):
            return self.random.choice(self.histories).id
        if source.kind == "state" and source.real and self._likely(0.3):
            return self._some(source)
        return self._some(self.root)

    # -------------------------------------------------------------- writing

    def _write(self, state: State) -> str:
        if state.kind == "history":
            return self._history(state)
        inner = ""
        if state.kind == "state" and state.real and self._likely(0.6):
            content = COUNT if self._likely(0.5) else ""
            inner += f'<initial><transition target="{self._some(state)}">{content}</transition></initial>'
        for tag in ("onentry", "onexit"):
            if self._likely(0.25):
                inner += f"<{tag}>{COUNT}</{tag}>"
        if state.kind != "final":
            inner += "".join(self._transition(state) for _ in range(self.random.randint(0, 3)))
        inner += "".join(self._write(child) for child in state.children)
        return f'<{state.kind} id="{state.id}">{inner}</{state.kind}>'

    def _history(self, state: State) -> str:
        assert state.parent is not None
        deep = self._likely(0.5) and not any(inner.kind == "final" for inner in state.parent.below())
        if state.parent.kind == "parallel" or not deep:
            target = self.random.choice(state.parent.real).id
        else:
            target = self._some(state.parent)
        kind = "deep" if deep else "shallow"
        content = COUNT if self._likely(0.5) else ""
        return f'<history id="{state.id}" type="{kind}"><transition target="{target}">{content}</transition></history>'

    def _transition(self, source: State) -> str:
        found = self._target(source) if self._likely(0.85) else ""
        target = f' target="{found}"' if found else ""
        kind = ' type="internal"' if self._likely(0.25) else ""
        chance = self.random.random()
        if chance < 0.12:
            return self._bounded("", target, kind)
        if chance < 0.25:
            done = self.random.choice([state for state in self.states if state.real] or self.states)
            return self._bounded(f' event="done.state.{done.id}"', target, kind)
        event = self.random.choice((*EVENTS, "e1 e2", "*", "i"))
        if event == "*":  # done events too, which it may itself bring about
            return self._bounded(' event="*"', target, kind)
        condition = self._condition() if self._likely(0.3) else ""
        return f'<transition event="{event}"{condition}{target}{kind}>{self._content(0.25)}</transition>'

    def _condition(self) -> str:
        if self._likely(0.3):
            return f' cond="k % 2 == {self.random.randint(0, 1)}"'
        return f" cond=\"In('{self.random.choice(self.states).id}')\""

    def _bounded(self, event: str, target: str, kind: str) -> str:
        """A transition that is taken only a few times."""
        counter = self._counter()
        extra = f" &amp;&amp; In('{self.random.choice(self.states).id}')" if self._likely(0.4) else ""
        return (
            f'<transition{event} cond="{counter} &lt; {ROUNDS}{extra}"{target}{kind}>'
            f'<assign location="{counter}" expr="{counter} + 1"/>{self._content(0.2)}</transition>'
        )

    def _content(self, chance: float) -> str:
        if not self._likely(chance):
            return ""
        counter = self._counter()
        return (
            f'<if cond="{counter} &lt; {ROUNDS}"><assign location="{counter}" expr="{counter} + 1"/>'
            f'<raise event="i"/></if>'
        )

    def _counter(self) -> str:
        self._counters += 1
        return f"c{self._counters - 1}"
