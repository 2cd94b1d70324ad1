"""Random SCXML-JSON documents that the reader could have made."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

_CHARACTERS = st.characters(
    exclude_categories=["Cs", "Cc"], include_characters="\t\n\r<>&\"'", exclude_characters="\ufffe\uffff"
)
texts = st.text(_CHARACTERS, max_size=8)
words = st.sampled_from(["x", "x + 1", "a < b && c", "'it''s'", '"q"', "", " y ", "line\nbreak", "Ünïcode 😀"])
names = st.sampled_from(["a", "b.c", "d-e", "_f", "g1", "Ü", "h.i.j"])
descriptors = st.lists(st.sampled_from(["*", "e", "e.f", "e.*", "e.", "Ü", "done.state.a"]), min_size=1, max_size=2)
delays = st.sampled_from(["1s", ".5s", "1.5m", "200ms", "2d"])
markup = st.sampled_from(['<m xmlns=""/>', '<m xmlns="urn:m">t &amp; <n a=">"/></m>', '<p:m xmlns:p="urn:p"/><q xmlns=""/>'])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """An object with any of ``members``, in this order."""
    return st.fixed_dictionaries({}, optional=members).map(lambda made: {key: made[key] for key in members if key in made})


def either(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """An object with one of ``members``."""
    return st.one_of([strategy.map(lambda value, key=key: {key: value}) for key, strategy in members.items()])


def merged(*parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """One object of several."""
    return st.tuples(*parts).map(lambda made: {key: value for part in made for key, value in part.items()})


def maybe(part: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """An object, or an empty one."""
    return st.just({}) | part


params = st.lists(merged(names.map(lambda name: {"name": name}), either(expr=words, location=words)), min_size=1, max_size=2)
content = either(expr=words, text=texts, xml=markup)
inline = either(text=texts, xml=markup)
payload = maybe(either(params=params, content=content))
filled = inline.filter(lambda made: "xml" in made or bool(made["text"].strip()))


def typed(name: str, *parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """An action."""
    return merged(st.just({"type": name}), *parts)


events = st.sampled_from(["e", "e.f", "Ü"])
simple_actions = st.one_of(
    typed("scxml.raise", events.map(lambda event: {"event": event})),
    typed("scxml.log", some(label=words, expr=words)),
    typed("scxml.assign", words.map(lambda place: {"location": place}), either(expr=words, content=filled)),
    typed("scxml.script", either(text=texts, src=words)),
    typed("scxml.cancel", either(sendid=words, sendidexpr=words)),
    typed(
        "scxml.send",
        either(event=events, eventexpr=words),
        maybe(either(target=words, targetexpr=words)),
        maybe(either(processor=words, processorexpr=words)),
        maybe(either(id=words, idlocation=words)),
        maybe(either(delay=delays, delayexpr=words)),
        payload,
    ),
    typed("scxml.send", events.map(lambda event: {"event": event}), st.lists(names, max_size=2).map(lambda found: {"namelist": found})),
    st.sampled_from(["act", "a.b", "<&>"]).map(lambda name: {"type": name}),
    merged(st.just({"type": "act"}), values.map(lambda value: {"params": value})),
)  # fmt: skip


def _nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    block = st.lists(inner, max_size=2)
    branch = merged(words.map(lambda cond: {"cond": cond}), block.map(lambda made: {"actions": made}))
    last = st.lists(block.map(lambda made: {"actions": made}), max_size=1)
    branches = st.tuples(st.lists(branch, min_size=1, max_size=3), last).map(lambda made: [*made[0], *made[1]])
    return typed("scxml.if", branches.map(lambda made: {"branches": made})) | typed(
        "scxml.foreach",
        st.just({"array": "xs", "item": "x"}),
        maybe(st.just({"index": "i"})),
        block.map(lambda made: {"actions": made}),
    )


actions = st.lists(st.recursive(simple_actions, _nested, max_leaves=4), max_size=3)
blocks = st.lists(actions, min_size=1, max_size=2)
data = st.lists(
    merged(names.map(lambda name: {"id": name}), maybe(either(expr=words, src=words, content=filled))), min_size=1, max_size=2
)


@st.composite
def documents(draw: Any, depth: int = 1) -> Json:
    """A document; states are named ``s<n>`` or not at all."""
    tree = _Tree(draw, depth)
    document: Json = {"semantics": "scxml", "id": "scxml"}
    if draw(st.booleans()):
        document["id"] = document["name"] = draw(names)
    document |= draw(some(datamodel=st.sampled_from(["ecmascript", "null"]), binding=st.just("late")))
    states = tree.states("scxml", 2)
    if tree.named and draw(st.booleans()):
        document["initial"] = [draw(st.sampled_from(tree.named))]
    document |= draw(some(data=data, scripts=st.lists(either(text=texts, src=words), min_size=1, max_size=1)))
    tree.connect()
    document["states"] = states
    return document


class _Tree:
    """The states of one document while it is drawn."""

    def __init__(self, draw: Any, depth: int) -> None:
        self.draw = draw
        self.depth = depth
        self.count = 0
        self.unnamed = 0
        self.named: list[str] = []
        self.below: list[tuple[Json, list[str]]] = []
        self.sources: list[Json] = []
        self.histories: list[tuple[Json, list[str]]] = []

    def chance(self, percent: int) -> bool:
        return bool(self.draw(st.integers(0, 99)) < percent)

    def key(self) -> str:
        if self.chance(25):
            self.unnamed += 1
            return f"state:{self.unnamed}"
        self.count += 1
        name = f"s{self.count}"
        self.named.append(name)
        return name

    def states(self, parent: str, depth: int) -> Json:
        kinds = ["state", "state", "parallel"] + (["final"] if parent != "parallel" else [])
        made: Json = {}
        for _ in range(self.draw(st.integers(1, 3))):
            key = self.key()
            made[key] = self.state(self.draw(st.sampled_from(kinds)), depth)
        return made

    def state(self, kind: str, depth: int) -> Json:
        state: Json = {} if kind == "state" else {"type": kind}
        first = len(self.named)
        if kind == "state":
            state["initial"] = None  # keeps the place of the member
        state |= self.draw(some(data=data)) if kind != "final" else {}
        state |= self.draw(some(entry=blocks, exit=blocks))
        if kind == "final":
            return state | self.draw(maybe(either(params=params, content=content).map(lambda made: {"donedata": made})))
        if self.chance(60):
            state["transitions"] = None
            self.sources.append(state)
        if self.chance(20):
            state["invoke"] = [self.invoke()]
        if depth and (kind == "parallel" or self.chance(40)):
            if self.chance(30):
                history: Json = {"type": "history", "history": self.draw(st.sampled_from(["shallow", "deep"]))}
                name = self.key()
                children = {name: history, **self.states(kind, depth - 1)}
                self.histories.append((history, [key for key in children if key in self.named and key != name]))
            else:
                children = self.states(kind, depth - 1)
            state["states"] = children
        inside = self.named[first:]
        if kind == "state":
            if "states" in state and inside and self.chance(60):
                self.below.append((state, inside))
            else:
                del state["initial"]
        return state

    def invoke(self) -> Json:
        made: Json = self.draw(
            merged(
                maybe(either(id=words, idlocation=words)),
                maybe(either(type=words, typeexpr=words)),
            )
        )
        inside = self.draw(st.sampled_from(["src", "content", "document", "namelist"]))
        if inside == "src":
            made |= self.draw(either(src=words, srcexpr=words)) | self.draw(some(params=params))
        elif inside == "namelist":
            made["namelist"] = self.draw(st.lists(names, max_size=2))
        made |= self.draw(some(autoforward=st.just(True)))
        if self.chance(30):
            made["finalize"] = self.draw(st.lists(typed("scxml.assign", st.just({"location": "x", "expr": "1"})), max_size=1))
        if inside == "content":
            made["content"] = self.draw(content)
        elif inside == "document" and self.depth:
            made["content"] = {"document": self.draw(documents(depth=self.depth - 1))}
        return made

    def connect(self) -> None:
        """Targets, now that all names are known."""
        for state, inside in self.below:
            target = [self.draw(st.sampled_from(inside))]
            state["initial"] = self.draw(
                st.just(target)
                | st.just({"target": target})
                | actions.filter(bool).map(lambda made, target=target: {"target": target, "actions": made})
            )
        for history, candidates in self.histories:
            history["target"] = [self.draw(st.sampled_from(candidates or ["?"]))]
            history |= self.draw(some(actions=actions.filter(bool)))
        for state in self.sources:
            state["transitions"] = [self.transition() for _ in range(self.draw(st.integers(1, 2)))]

    def transition(self) -> Json:
        made: Json = self.draw(some(event=descriptors, cond=words))
        if self.named and (not made or self.chance(60)):
            made["target"] = [self.draw(st.sampled_from(self.named))]
        elif not made:
            made["event"] = ["*"]
        return made | self.draw(some(type=st.just("internal"), actions=actions.filter(bool)))
