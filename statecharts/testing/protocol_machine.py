"""From a case's machine JSON to a :class:`Machine` bound to the protocol's library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..actions import InlineAction
from ..api import load_machine
from ..implementations import Implementations
from ..interpreter.actors import CallbackLogic, ObservableLogic, PromiseLogic, TransitionLogic
from ..machine import Machine
from ..values import UNDEFINED, js_keys
from .protocol_library import GUARDS, LIBRARY, action_text, alias, log_text, prepare_guard
from .protocol_values import JsError, dynamic, eval_dyn, has_dyn, js_add, js_string, member

Trace = Callable[[Any, str], None]
DEFAULT_MAX_ITERATIONS = 1000


def _nothing() -> None:
    """Outside part of a protocol actor: the session drives it."""


def _count(state: Any, event: Any) -> Any:
    if event["type"] != "INC":
        return state
    by = event.get("by")
    return {"count": js_add(state["count"], 1 if by is None else by)}


def source(name: str) -> Any:
    """The actor source of this name, or ``None``. Its ``source_name`` tells the session what to do."""
    made: Any
    if name in ("manual", "echo", "fail"):
        made = NamedPromise(_nothing)
    elif name == "callback":
        made = NamedCallback(_nothing)
    elif name in ("observable", "eventObservable"):
        made = NamedObservable(_nothing, name == "eventObservable")
    elif name == "counter":
        return TransitionLogic(_count, {"count": 0})
    else:
        return None
    made.source_name = name
    return made


class NamedPromise(PromiseLogic):
    """A promise source that knows its protocol name."""

    source_name: str


class NamedCallback(CallbackLogic):
    """A callback source that knows its protocol name."""

    source_name: str


class NamedObservable(ObservableLogic):
    """An observable source that knows its protocol name."""

    source_name: str


class AnyAction(dict[str, Any]):
    """Action implementations in which every name exists: an unknown one records itself."""

    def __init__(self, known: Mapping[str, Any], record: Callable[[str], Any] | None) -> None:
        super().__init__(known)
        self._record = record

    def get(self, key: str, default: Any = None) -> Any:
        found = super().get(key)
        if found is None and self._record is not None:
            found = self[key] = self._record(key)
        return default if found is None else found


class ActorTable(dict[str, Any]):
    """Actor sources of one machine: its own machines, built when asked for, and those by convention."""

    def __init__(self, machines: Mapping[str, Any], build: Callable[[Any], Any]) -> None:
        super().__init__()
        self._machines = machines
        self._build = build

    def get(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = self._build(self._machines[key]) if key in self._machines else source(key)
        found = self[key]
        if found is None:
            del self[key]
            return default
        return found


class MachineBuilder:
    """Builds the machines of one case."""

    def __init__(self, spec: Mapping[str, Any], trace: Trace, strict: bool) -> None:
        self._spec = spec
        self._trace = trace
        self._strict = strict

    def build(self, document: Any, inherited: Mapping[str, Any]) -> Machine[Any, Any]:
        """The machine for ``document``, whose ``actors`` add to the inherited ones."""
        actors = {**inherited, **(document.get("actors") or {})}
        config = prepare_machine(document)
        config["options"] = {"maxIterations": DEFAULT_MAX_ITERATIONS, **(document.get("options") or {})}
        machine = load_machine(config, strict=self._strict)
        bound = self._implementations(document, actors)
        made: Machine[Any, Any] = Machine(machine.definition, bound)
        for missing in made.missing:  # names that the tables make when they are asked for
            section = {"action": bound.actions, "actor": bound.actors}.get(missing.kind, {})
            section.get(missing.name)
        return Machine(machine.definition, bound)

    def _implementations(self, document: Any, actors: Mapping[str, Any]) -> Implementations:
        spec = self._spec
        bound = Implementations()
        bound.guards = dict(GUARDS)
        for name, value in (spec.get("guards") or {}).items():
            bound.guards[name] = value if isinstance(value, bool) else prepare_guard(value)
        known: dict[str, Any] = {**LIBRARY, **self._outer_actions()}
        for name, actions in (spec.get("actions") or {}).items():
            known[name] = alias(actions)
        bound.actions = AnyAction(known, None if spec.get("strictActions") else self._recorder)
        for name, delay in {**(document.get("delays") or {}), **(spec.get("delays") or {})}.items():
            bound.delays[name] = dynamic(delay)
        bound.actors = ActorTable(
            actors, lambda inner: self.build(inner, {**actors, **(inner.get("actors") or {})})
        )
        return bound

    def _outer_actions(self) -> dict[str, Any]:
        trace = self._trace

        def log(context: Any, event: Any, params: Any, self: Any) -> None:
            trace(self, log_text(context, event, params))

        def throw(params: Any) -> None:
            message = member(params, "message")
            raise JsError("action failed" if message is UNDEFINED or message is None else js_string(message))

        def message(params: Any, self: Any) -> None:
            text = member(params, "message")
            trace(self, "" if text is UNDEFINED or text is None else js_string(text))

        return {
            "log": InlineAction(log, "log"),
            "throw": InlineAction(throw, "throw"),
            "xstate.log": InlineAction(message, "xstate.log"),
        }

    def _recorder(self, name: str) -> InlineAction:
        def record(params: Any, self: Any) -> None:
            trace(self, action_text(name, params))

        trace = self._trace
        return InlineAction(record, name)


# ------------------------------------------------------------- preparation


def prepare_machine(document: Mapping[str, Any]) -> dict[str, Any]:
    """The config without the protocol's own keys, guards and dynamic values made real."""
    config = prepare_node({key: value for key, value in document.items() if key not in ("actors", "delays")})
    context = config.get("context")
    if has_dyn(context):

        def initial_context(input: Any) -> Any:
            return eval_dyn(context, UNDEFINED, UNDEFINED, input)

        config["context"] = initial_context
    return config


def prepare_node(node: Any) -> dict[str, Any]:
    """One state node, and all below it."""
    made: dict[str, Any] = _spread(node)
    for key in ("on", "after"):
        if isinstance(made.get(key), Mapping):
            made[key] = {name: prepare_transitions(value) for name, value in made[key].items()}
    for key in ("always", "onDone"):
        if key in made:
            made[key] = prepare_transitions(made[key])
    if isinstance(made.get("route"), Mapping):
        made["route"] = prepare_transitions(made["route"])
    invoke = made.get("invoke")
    if invoke is not None:
        made["invoke"] = [_invoke(item) for item in invoke] if isinstance(invoke, list) else _invoke(invoke)
    if "output" in made:
        made["output"] = dynamic(made["output"])
    if isinstance(made.get("states"), Mapping):
        made["states"] = {key: prepare_node(child) for key, child in made["states"].items()}
    return made


def _spread(value: Any) -> dict[str, Any]:
    """JavaScript's ``{...value}``."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (str, list)):
        return {str(index): item for index, item in enumerate(value)}
    return {}


def _invoke(item: Any) -> dict[str, Any]:
    made = _spread(item)
    for key in ("onDone", "onError", "onSnapshot"):
        if key in made:
            made[key] = prepare_transitions(made[key])
    if "input" in made:
        made["input"] = dynamic(made["input"])
    return made


def prepare_transitions(value: Any) -> Any:
    """Transitions with their guards prepared."""
    if isinstance(value, list):
        return [prepare_transitions(item) for item in value]
    if isinstance(value, Mapping) and "guard" in value:
        return {**value, "guard": prepare_guard(value["guard"])}
    return value


def collect_events(machine: Any) -> list[str]:
    """Exact descriptors under any ``on``, sorted as JavaScript sorts strings."""
    seen: dict[str, None] = {}

    def walk(node: Any) -> None:
        if not isinstance(node, Mapping):
            return
        on = node.get("on")
        if isinstance(on, Mapping):
            seen.update(dict.fromkeys(key for key in js_keys(on) if "*" not in key))
        states = node.get("states")
        if isinstance(states, Mapping):
            for child in states.values():
                walk(child)

    walk(machine)
    return sorted(seen, key=lambda text: text.encode("utf-16-be", "surrogatepass"))
