"""One quick walk over a document, to tell that nothing in it is unusual.

The walk makes no pointers, tables or messages. It ends without a
:class:`Doubt`, and its report stays empty, only where the full check would
find nothing in any state by itself. What takes the whole tree to judge
(what a target names, ids, histories) is noted for :mod:`.acceptance`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from statecharts.values import UNDEFINED

from .actions import check_actions
from .delays import check_after_key
from .dialects import PREFIXES
from .expressions import check_values
from .extras import check_root_extras
from .guards import check_guard
from .keys import INVOKE, ROOT, STATE, TRANSITION
from .outline import MAX_DEPTH, STATE_TYPES
from .report import Report

_ROOT_KEYS: Final = frozenset({*ROOT.keys, "$schema"}) - {"route", "onDone", "target", "history"}
_STATE_KEYS: Final = frozenset(STATE.keys) - {"route", "target", "history"}
_HISTORY_KEYS: Final = frozenset({"type", "history", "target", "id", "meta", "description"})
_PLAIN_KEYS: Final = frozenset({"on", "meta"})
_TRANSITION_KEYS: Final = frozenset(TRANSITION.keys)
_INITIAL_KEYS: Final = _TRANSITION_KEYS - {"guard", "reenter"}
_INVOKE_KEYS: Final = frozenset(INVOKE.keys)
_NAMED_KEYS: Final = frozenset({"type", "params", "meta", "description"})
_TYPES: Final = frozenset(STATE_TYPES)
_LEAVING: Final = ("on", "always", "after", "invoke")
_ANSWERS: Final = ("onDone", "onError", "onSnapshot")
_ATOMS: Final = frozenset({str, int, float, bool, type(None)})
_NOTHING: Final[Mapping[str, Any]] = {}
_SPECIAL_EVENTS: Final = ("xstate.", "done.", "error.")


class Doubt(Exception):
    """Something is unusual; whether it is wrong takes the full check to say."""


class _NoOutline:
    """Stands for the tree of states where there is none yet; whoever asks it is in doubt."""

    def __getattr__(self, _name: str) -> NoReturn:
        raise Doubt


class Walk:
    """One walk over a document. What the definition is to be asked afterwards is noted on the way."""

    __slots__ = (
        "_delays", "_events", "_implementations_known", "_outline", "_report", "has_dotted_names", "has_histories",
        "has_invokes", "has_paths", "has_several_targets", "has_unguarded_always",
    )  # fmt: skip

    def __init__(self, report: Report, implementations_known: bool) -> None:
        self._report = report
        self._implementations_known = implementations_known
        self._outline: Any = _NoOutline()
        self._events: set[str] = set()
        self._delays: set[str] = set()
        self.has_dotted_names = False
        self.has_paths = False
        self.has_histories = False
        self.has_invokes = False
        self.has_several_targets = False
        self.has_unguarded_always = False

    def document(self, document: Mapping[str, Any]) -> None:
        """Raise :class:`Doubt` where something in ``document`` is unusual."""
        check_root_extras(self._report, document, self._implementations_known)
        if not document.keys() <= _ROOT_KEYS or document.get("type") == "history":
            raise Doubt
        stack = [(document, self._state(document, True, True), 0)]
        while stack:
            config, kind, depth = stack.pop()
            ends = depth == 0 and kind != "parallel"
            if depth >= MAX_DEPTH:
                raise Doubt
            for key, child in config["states"].items() if "states" in config else ():
                if type(key) is not str or not key or type(child) is not dict:
                    raise Doubt
                if "." in key or "\\" in key or key[0] == "#":
                    self.has_dotted_names = True
                if child.keys() <= _PLAIN_KEYS:
                    if "on" in child:
                        self._on(child["on"])
                    continue
                made = self._state(child, False, ends)
                if "states" in child:
                    stack.append((child, made, depth + 1))

    # ---------------------------------------------------------------- states

    def _state(self, config: Mapping[str, Any], is_root: bool, is_outermost: bool) -> str:
        """The kind of a state whose own members are in order. ``is_outermost``: the machine ends with it."""
        states = config.get("states", _NOTHING)
        if type(states) is not dict:
            raise Doubt
        kind = self._kind(config, states)
        if kind == "history":
            self._history(config)
            return kind
        keys = config.keys()
        if not is_root and not keys <= _STATE_KEYS:
            raise Doubt
        if ("initial" in keys) != (kind == "compound") or bool(states) != (kind in ("compound", "parallel")):
            raise Doubt
        if kind == "compound":
            self._initial(config["initial"], states)
        elif kind == "final" and is_outermost and any(key in keys for key in _LEAVING):
            raise Doubt
        if "onDone" in keys and not states:
            raise Doubt
        if "output" in keys:
            if not is_root and kind != "final":
                raise Doubt
            check_values(self._report, config["output"], "")
        self._members(config)
        return kind

    def _kind(self, config: Mapping[str, Any], states: Mapping[str, Any]) -> str:
        if "type" in config:
            declared = config["type"]
            if type(declared) is not str or declared not in _TYPES:
                raise Doubt
            return declared
        if states:
            return "compound"
        return "history" if config.get("history") else "atomic"

    def _history(self, config: Mapping[str, Any]) -> None:
        history = config.get("history", True)
        if not config.keys() <= _HISTORY_KEYS or (history is not True and history not in ("shallow", "deep")):
            raise Doubt
        if "target" in config:
            target = config["target"]
            for text in target if type(target) is list else [target]:
                self._target(text)
                if text[0] == ".":
                    raise Doubt
        if "id" in config:
            self._id(config["id"])
        self._annotation(config.get("description"))
        self.has_histories = True

    def _initial(self, initial: Any, states: Mapping[str, Any]) -> None:
        if type(initial) is dict:
            if not initial.keys() <= _INITIAL_KEYS or "target" not in initial:
                raise Doubt
            self._annotation(initial.get("description"))
            if "actions" in initial:
                self._actions(initial["actions"])
            initial = initial["target"]
        if type(initial) is not str or initial not in states:
            raise Doubt
        child = states[initial]
        if type(child) is dict and "history" in (child.get("type"), *child):
            raise Doubt

    def _members(self, config: Mapping[str, Any]) -> None:
        for key, value in config.items():
            reader = _READERS.get(key)
            if reader is not None:
                reader(self, value)

    def _id(self, own_id: Any) -> None:
        if type(own_id) is not str or not own_id:
            raise Doubt
        if "." in own_id or "\\" in own_id:
            self.has_dotted_names = True

    def _annotation(self, text: Any) -> None:
        if text is not None and not isinstance(text, str):
            raise Doubt

    def _tags(self, tags: Any) -> None:
        if type(tags) is not str and not (type(tags) is list and all(type(tag) is str for tag in tags)):
            raise Doubt

    # ----------------------------------------------------------- transitions

    def _on(self, handlers: Any) -> None:
        if type(handlers) is not dict:
            raise Doubt
        for name, value in handlers.items():
            if name not in self._events:
                self._event(name)
            if type(value) is str:
                self._target(value)
            else:
                self._handler(value)

    def _event(self, name: Any) -> None:
        if type(name) is not str or not name or name.startswith(_SPECIAL_EVENTS):
            raise Doubt
        if "*" in name and name != "*" and not (name.endswith(".*") and name.count("*") == 1):
            raise Doubt
        self._events.add(name)

    def _after(self, delayed: Any) -> None:
        if type(delayed) is not dict:
            raise Doubt
        for name, value in delayed.items():
            if name not in self._delays:
                if type(name) is not str:
                    raise Doubt
                check_after_key(self._report, name, "", self._implementations_known)
                self._delays.add(name)
            if type(value) is list and str in map(type, value):
                raise Doubt
            self._handler(value)

    def _always(self, value: Any) -> None:
        self._handler(value, eventless=True)
        last = value[-1] if type(value) is list and value else value
        if type(last) is not dict or "guard" not in last:
            self.has_unguarded_always = True

    def _handler(self, value: Any, eventless: bool = False) -> None:
        """One transition, or a list in which only the last may be without a guard."""
        if type(value) is str:
            self._target(value)
        elif type(value) is dict:
            self._transition(value, eventless)
        elif type(value) is list:
            for item in value:
                if type(item) is dict:
                    self._transition(item, eventless)
                elif type(item) is str:
                    self._target(item)
                else:
                    raise Doubt
            for item in value[:-1]:
                if type(item) is not dict or "guard" not in item:
                    raise Doubt
        else:
            raise Doubt

    def _transition(self, item: Mapping[str, Any], eventless: bool) -> None:
        if not item.keys() <= _TRANSITION_KEYS:
            raise Doubt
        if "target" in item:
            target = item["target"]
            if type(target) is str:
                self._target(target)
            else:
                self._targets(target)
        if "guard" in item:
            guard = item["guard"]
            if type(guard) is not str or not guard.isidentifier():
                self._guard(guard)
        if "actions" in item:
            actions = item["actions"]
            if type(actions) is not str or not actions.isidentifier():
                self._actions(actions)
        if "reenter" in item and item["reenter"] is not True and item["reenter"] is not False:
            raise Doubt
        if "description" in item:
            self._annotation(item["description"])

    def _targets(self, targets: Any) -> None:
        if type(targets) is not list:
            raise Doubt
        for text in targets:
            self._target(text)
        if len(targets) > 1:
            self.has_several_targets = True

    def _target(self, text: Any) -> None:
        if type(text) is not str or not text or "\\" in text:
            raise Doubt
        if text.isidentifier():
            return
        rest = text[1:] if text[0] in ".#" else text
        if not rest or "#" in rest:
            raise Doubt
        if "." in rest:
            if "" in rest.split("."):
                raise Doubt
            self.has_paths = True

    # ----------------------------------------------- guards, actions, actors

    def _guard(self, guard: Any) -> None:
        if type(guard) is str:
            if not guard or guard.startswith(PREFIXES):
                raise Doubt
        elif not self._is_named(guard):
            if guard is UNDEFINED:
                raise Doubt
            check_guard(self._report, self._outline, guard, "")

    def _actions(self, actions: Any) -> None:
        for action in actions if type(actions) is list else (actions,):
            if type(action) is str:
                if action.isidentifier():
                    continue
                if not action or action.startswith(PREFIXES):
                    check_actions(self._report, action, "", "")
            elif not self._is_named(action):
                check_actions(self._report, [action], "", "")

    def _is_named(self, value: Any) -> bool:
        """Whether ``value`` is an object that names a function of the user's."""
        if type(value) is not dict or not value.keys() <= _NAMED_KEYS:
            return False
        name = value.get("type")
        if type(name) is not str or not name or name.startswith(PREFIXES):
            return False
        if "params" in value:
            self._value(value["params"])
        return True

    def _value(self, value: Any) -> None:
        if type(value) is dict:
            for key, member in value.items():
                if type(key) is not str or key[:1] == "@" or type(member) not in _ATOMS:
                    break
            else:
                return
        check_values(self._report, value, "")

    def _invokes(self, value: Any) -> None:
        self.has_invokes = True
        for invoke in value if type(value) is list else (value,):
            if type(invoke) is not dict or not invoke.keys() <= _INVOKE_KEYS:
                raise Doubt
            src = invoke.get("src")
            if type(src) is not str or not src:
                raise Doubt
            self._annotation(invoke.get("description"))
            for key in ("id", "systemId"):
                if key in invoke and (type(invoke[key]) is not str or not invoke[key]):
                    raise Doubt
            if "input" in invoke:
                self._value(invoke["input"])
            for key in _ANSWERS:
                if key in invoke:
                    self._handler(invoke[key])


_READERS: Final[Mapping[str, Callable[[Walk, Any], None]]] = {
    "on": Walk._on,
    "entry": Walk._actions,
    "exit": Walk._actions,
    "after": Walk._after,
    "always": Walk._always,
    "invoke": Walk._invokes,
    "onDone": Walk._handler,
    "tags": Walk._tags,
    "id": Walk._id,
    "description": Walk._annotation,
    "version": Walk._annotation,
}
"""Who reads which key of a state."""
