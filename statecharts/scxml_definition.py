"""From the JSON of an SCXML document (``docs/reference/scxml-json.md``) to a definition.

The tree is the one XState documents lower to. What SCXML decides by words
becomes structure here: ``internal`` transitions that SCXML §3.13 reads as
external are external, descriptors lose their ``.*``, the first child is the
default ``initial``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .definition import SCXML, Definition, ScxmlPart
from .errors import DefinitionError, Problem
from .executable_content import Content, Data, Invocation
from .guards import Condition
from .nodes import Initial, StateNode, Transition
from .scxml_actions import (
    ContentReader,
    Resolve,
    listed,
    member,
    names,
    read_content,
    read_payload,
    refuse,
    text_or_expression,
)
from .values import EMPTY_OBJECT, UNDEFINED

DEFAULT_DATAMODEL = "ecmascript"
MICROSTEP_LIMIT = 100_000
"""How many microsteps an SCXML macrostep may have. The Recommendation knows no limit; a service must not hang."""


def no_documents(uri: str) -> str:
    """The resolver of a document whose loader gave none."""
    raise LookupError(f"no resolver was given that could find {uri!r}; pass resolver=… to load_machine()")


Lines = Callable[[str], int | None]
"""From a JSON pointer to a line of the text a document was read from."""


def build_scxml_definition(
    document: Mapping[str, Any], *, resolve: Resolve = no_documents, lines: Lines | None = None
) -> Definition:
    """The definition of an SCXML document in JSON.

    ``resolve`` gives the text behind a ``src`` and raises :class:`LookupError`;
    ``lines`` lets error events at run time name a line. Raises
    :class:`DefinitionError` with every problem found.
    """
    return _Builder(document, resolve, lines).build()


def escaped(key: str) -> str:
    """``key`` as a token of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


class _Builder:
    def __init__(self, document: Mapping[str, Any], resolve: Resolve, lines: Lines | None) -> None:
        self.document = document
        self.resolve = resolve
        self.lines = lines
        self.reader = ContentReader(resolve)
        self.nodes: list[StateNode] = []
        self.configs: list[Mapping[str, Any]] = []
        self.pointers: list[str] = []
        self.by_id: dict[str, StateNode] = {}
        self.transitions: list[Transition] = []
        self.problems: list[Problem] = []

    def build(self) -> Definition:
        document = self.document
        machine_id = member(document, "id", "") or member(document, "name", "") or "scxml"
        root = self._make_node(document, machine_id, None, "")
        if not root.real_children():
            raise refuse("/states", "an SCXML document needs at least one state")
        self._name_root(root)
        for node in self.nodes:
            self._read_node(node)
        if self.problems:
            raise DefinitionError(self.problems, machine_id)
        scripts = listed(document, "scripts", "")
        return Definition(
            id=machine_id,
            version=None,
            root=root,
            nodes=tuple(self.nodes),
            by_id=self.by_id,
            context=EMPTY_OBJECT,
            max_iterations=_limit(document),
            document=document,
            schemas=None,
            semantics=SCXML,
            transitions=tuple(self.transitions),
            scxml=ScxmlPart(
                name=document.get("name", UNDEFINED),
                datamodel=member(document, "datamodel", "") or DEFAULT_DATAMODEL,
                late_binding=document.get("binding") == "late",
                scripts=tuple(self.reader.script_text(s, f"/scripts/{i}") for i, s in enumerate(scripts)),
                lines=self.lines,
            ),
        )

    # ---------------------------------------------------------------- nodes

    def _make_node(self, config: Any, key: str, parent: StateNode | None, pointer: str) -> StateNode:
        if not isinstance(config, Mapping):
            raise refuse(pointer, "a state is an object")
        node = StateNode(key, parent, key, "atomic", len(self.nodes))
        node.own_id = parent is not None and ":" not in key
        self.nodes.append(node)
        self.configs.append(config)
        self.pointers.append(pointer)
        if parent is not None:
            if key in self.by_id:
                self._problem("duplicate-id", pointer, f"the id {key!r} stands twice in the document")
            self.by_id[key] = node
        states = config.get("states", {})
        if not isinstance(states, Mapping):
            raise refuse(f"{pointer}/states", "'states' is an object of states")
        for name, inner in states.items():
            node.adopt(self._make_node(inner, name, node, f"{pointer}/states/{escaped(name)}"))
        node.last = len(self.nodes) - 1
        node.type = self._type_of(config, node, pointer)
        node.history_children = tuple(c for c in node.children.values() if c.type == "history")
        return node

    def _type_of(self, config: Mapping[str, Any], node: StateNode, pointer: str) -> str:
        declared = config.get("type")
        if declared is None:
            return "compound" if any(c.type != "history" for c in node.children.values()) else "atomic"
        if declared not in ("parallel", "final", "history"):
            raise refuse(f"{pointer}/type", f"'type' is parallel, final or history, not {declared!r}")
        if declared == "history":
            node.history = "deep" if config.get("history") == "deep" else "shallow"
        return str(declared)

    def _name_root(self, root: StateNode) -> None:
        """The root is no state of the document; its id may not hide one."""
        while root.id in self.by_id:
            root.id = f"({root.id})"
        self.by_id[root.id] = root

    def _read_node(self, node: StateNode) -> None:
        config, pointer = self.configs[node.index], self.pointers[node.index]
        if node.type == "history":
            self._read_history(node, config, pointer)
            return
        self._read_initial(node, config, pointer)
        node.entry = self.reader.blocks(config, "entry", pointer)
        node.exit = self.reader.blocks(config, "exit", pointer)
        node.data = self._read_data(config, pointer)
        node.invocations = self._read_invocations(config, pointer)
        if config.get("donedata") is not None:
            node.output = read_payload(config["donedata"], f"{pointer}/donedata")
        self._read_transitions(node, config, pointer)

    def _read_initial(self, node: StateNode, config: Mapping[str, Any], pointer: str) -> None:
        if node.type != "compound":
            return
        declared = config.get("initial")
        if declared is None:
            node.initial = Initial((node.real_children()[0],), ())
            return
        holder = declared if isinstance(declared, Mapping) else {"target": declared}
        place = f"{pointer}/initial"
        targets = self._targets(names(holder, "target", place), place)
        for target in targets:
            if not target.is_below(node):
                self._problem(
                    "unknown-initial", place, f"{target.id!r} is not inside {node.id!r}, whose initial state it is to be"
                )
        node.initial = Initial(targets, self.reader.content(holder, place), None if targets else "no initial state")

    def _read_history(self, node: StateNode, config: Mapping[str, Any], pointer: str) -> None:
        targets = self._targets(names(config, "target", pointer), f"{pointer}/target")
        if not targets:
            self._problem(
                "bad-history", pointer, f"the history state {node.id!r} has no transition to a default state"
            )
        node.raw_history_target = tuple(target.id for target in targets)
        node.history_targets = targets
        node.history_actions = self.reader.content(config, pointer)

    def _targets(self, ids: tuple[str, ...], pointer: str) -> tuple[StateNode, ...]:
        found = []
        for wanted in ids:
            node = self.by_id.get(wanted)
            if node is None or node.parent is None:
                self._problem("unknown-target", pointer, f"there is no state {wanted!r}")
            else:
                found.append(node)
        return tuple(found)

    def _problem(self, code: str, pointer: str, message: str) -> None:
        self.problems.append(Problem(code, pointer, message))

    # ---------------------------------------------------------- transitions

    def _read_transitions(self, node: StateNode, config: Mapping[str, Any], pointer: str) -> None:
        table: dict[str, list[Transition]] = {}
        always: list[Transition] = []
        for index, item in enumerate(listed(config, "transitions", pointer)):
            place = f"{pointer}/transitions/{index}"
            if not isinstance(item, Mapping):
                raise refuse(place, "a transition is an object")
            written = names(item, "event", place)
            transition = self._read_transition(node, item, " ".join(written), place)
            if "event" not in item:
                always.append(transition)
            for descriptor in dict.fromkeys(map(normalized, written)):
                table.setdefault(descriptor, []).append(transition)
        node.transitions = {descriptor: tuple(found) for descriptor, found in table.items()}
        node.always = tuple(always) or None

    def _read_transition(
        self, node: StateNode, item: Mapping[str, Any], event_type: str, pointer: str
    ) -> Transition:
        ids = names(item, "target", pointer)
        targets = self._targets(ids, f"{pointer}/target")
        condition = member(item, "cond", pointer)
        stays_inside = node.type == "compound" and all(target.is_below(node) for target in targets)
        transition = Transition(
            source=node,
            event_type=event_type,
            targets=targets if ids else None,
            guard=None if condition is None else Condition(condition),
            actions=self.reader.content(item, pointer),
            reenter=bool(ids) and not (item.get("type") == "internal" and stays_inside),
            pointer=pointer,
        )
        transition.number = len(self.transitions)
        self.transitions.append(transition)
        return transition

    # ----------------------------------------------------- data and invokes

    def _read_data(self, config: Mapping[str, Any], pointer: str) -> tuple[Data, ...]:
        found = []
        for index, item in enumerate(listed(config, "data", pointer)):
            place = f"{pointer}/data/{index}"
            if not isinstance(item, Mapping):
                raise refuse(place, "data is an object with an 'id'")
            name = member(item, "id", place, needed=True)
            assert name is not None
            value, problem = self._data_value(item, place)
            found.append(Data(name, value, problem, place))
        return tuple(found)

    def _data_value(self, item: Mapping[str, Any], pointer: str) -> tuple[Content | None, str | None]:
        source = member(item, "expr", pointer)
        if source is not None:
            return Content("expr", source), None
        uri = member(item, "src", pointer)
        if uri is not None:
            try:
                text = self.resolve(uri)
            except LookupError as error:
                return None, str(error.args[0])
            return Content("xml" if text.lstrip().startswith("<") else "text", text), None
        content = item.get("content")
        return (None if content is None else read_content(content, f"{pointer}/content")), None

    def _read_invocations(self, config: Mapping[str, Any], pointer: str) -> tuple[Invocation, ...]:
        return tuple(
            self._read_invocation(item, index, f"{pointer}/invoke/{index}")
            for index, item in enumerate(listed(config, "invoke", pointer))
        )

    def _read_invocation(self, item: Any, index: int, pointer: str) -> Invocation:
        if not isinstance(item, Mapping):
            raise refuse(pointer, "an invoke is an object")
        content = item.get("content")
        document = None
        if isinstance(content, Mapping) and "document" in content:
            document = self._inner(content["document"], f"{pointer}/content/document")
            item = {key: value for key, value in item.items() if key != "content"}
        finalize = item.get("finalize")
        payload = read_payload(item, pointer)
        return Invocation(
            index=index,
            id=member(item, "id", pointer),
            id_location=member(item, "idlocation", pointer),
            type=text_or_expression(item, "type", pointer, "typeexpr"),
            src=text_or_expression(item, "src", pointer, "srcexpr"),
            payload=replace(payload, content=None),
            content=payload.content,
            document=document,
            auto_forward=item.get("autoforward") is True,
            finalize=None if finalize is None else self.reader.block(finalize, f"{pointer}/finalize"),
            pointer=pointer,
        )

    def _inner(self, document: Any, pointer: str) -> Definition | None:
        """A child document written in place; its problems are this document's."""
        if not isinstance(document, Mapping):
            raise refuse(pointer, "a document is an object")
        outer = self.lines
        lines = None if outer is None else lambda inner: outer(pointer + inner)
        try:
            return build_scxml_definition(document, resolve=self.resolve, lines=lines)
        except DefinitionError as error:
            for problem in error.problems:
                self._problem(problem.code, pointer + problem.pointer, problem.message)
            return None


def normalized(descriptor: str) -> str:
    """An event descriptor without what does not matter to matching: ``a``, ``a.`` and ``a.*`` are one (§3.12.1)."""
    if descriptor == "*":
        return descriptor
    return descriptor.removesuffix(".*").removesuffix(".")


def _limit(document: Mapping[str, Any]) -> float:
    options = document.get("options")
    limit = options.get("maxIterations") if isinstance(options, Mapping) else None
    return float(limit) if isinstance(limit, (int, float)) else MICROSTEP_LIMIT


