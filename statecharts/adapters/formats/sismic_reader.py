"""From YAML data to a :class:`Chart`, as ``sismic.io.import_from_yaml`` reads it, with a line for every problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from statecharts.errors import DefinitionError, Problem
from statecharts.validation.nearest import nearest

from .sismic_chart import (
    BASIC,
    COMPOUND,
    DEEP,
    FINAL,
    ORTHOGONAL,
    SHALLOW,
    Chart,
    ChartState,
    ChartTransition,
    Code,
    Condition,
    ConditionKind,
)
from .sismic_codes import SismicCode
from .sismic_text import Path, YamlText

_TOP: Final = ("statechart",)
_STATECHART: Final = ("name", "description", "preamble", "root state")
_STATE: Final = (
    "name", "type", "on entry", "on exit", "transitions", "contract", "initial", "parallel states", "states", "memory",
)  # fmt: skip
_TRANSITION: Final = ("target", "event", "guard", "action", "contract", "priority")
_CONTRACT: Final = ("before", "after", "always")
_TYPES: Final = (FINAL, SHALLOW, DEEP)
_PRIORITIES: Final = {"low": -1, "high": 1}


class ChartReader:
    """Reads one file. ``problems`` collects everything; errors and warnings alike."""

    def __init__(self, text: YamlText) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self.states: dict[str, ChartState] = {}

    def read(self) -> Chart:
        """The chart. Raises :class:`DefinitionError` with every problem of its shape."""
        chart = self._statechart()
        if any(problem.severity == "error" for problem in self.problems):
            raise DefinitionError(
                sorted(self.problems, key=lambda found: (found.severity != "error", found.line or 0)),
                chart.name if chart is not None else None,
            )
        assert chart is not None
        return chart

    # ------------------------------------------------------------- the levels

    def _statechart(self) -> Chart | None:
        top = self._object(self.text.data, (), _TOP, "the file")
        if top is None:
            return None
        path: Path = ("statechart",)
        if "statechart" not in top:
            self._wrong((), "The file has no `statechart`.", "A sismic file starts with `statechart:`.")
            return None
        body = self._object(top["statechart"], path, _STATECHART, "a statechart")
        if body is None:
            return None
        name = self._text(body, "name", path, needed="a statechart")
        description = self._text(body, "description", path)
        preamble = self._code(body, "preamble", path, strip=False)
        if "root state" not in body:
            self._wrong(path, "The statechart has no `root state`.", "Everything stands under `root state:`.")
            return None
        root = self._state(body["root state"], (*path, "root state"), None)
        return None if root is None else Chart(name or "", description, preamble, root.name, self.states)

    def _state(self, value: Any, path: Path, parent: ChartState | None) -> ChartState | None:
        body = self._object(value, path, _STATE, "a state")
        if body is None:
            return None
        name = self._text(body, "name", path, needed="a state")
        if name is None:
            return None
        kind = self._kind(body, path, name)
        state = ChartState(
            name,
            kind,
            parent.name if parent is not None else None,
            self._text(body, "initial", path),
            self._text(body, "memory", path),
            self._code(body, "on entry", path),
            self._code(body, "on exit", path),
            self._contract(body, path),
            path,
            self.text.line_of((*path, "name")),
            parent.depth + 1 if parent is not None else 0,
            len(self.states),
        )
        if not self._register(state, parent):
            return None
        state.transitions = self._transitions(body, path, name)
        self._children(body, path, state)
        self._ignored(body, path, state)
        return state

    def _register(self, state: ChartState, parent: ChartState | None) -> bool:
        if not state.name:
            self._wrong((*state.path, "name"), "A state has an empty name.", "Give it a name.")
            return False
        other = self.states.get(state.name)
        if other is not None:
            self._add(
                SismicCode.SISMIC_DUPLICATE_STATE,
                (*state.path, "name"),
                f"There are two states {state.name!r}; the other is on line {other.line}.",
                "Rename one: in sismic a name stands for one state of the whole chart.",
            )
            return False
        self.states[state.name] = state
        if parent is not None:
            parent.children.append(state.name)
        return True

    def _kind(self, body: Mapping[str, Any], path: Path, name: str) -> str:
        given = body.get("type")
        if "type" in body:
            if given in _TYPES:
                return str(given)
            self._wrong(
                (*path, "type"),
                f"{given!r} is no type of a state.",
                f"The types are {', '.join(_TYPES)}; other states are told by their `states` or `parallel states`.",
            )
            return BASIC
        if body.get("states") and body.get("parallel states"):
            self._add(
                SismicCode.SISMIC_STRUCTURE,
                path,
                f"{name!r} has both `states` and `parallel states`.",
                "A state has alternatives or regions; put the ones inside the others.",
            )
        return COMPOUND if body.get("states") else ORTHOGONAL if body.get("parallel states") else BASIC

    def _children(self, body: Mapping[str, Any], path: Path, state: ChartState) -> None:
        key = {COMPOUND: "states", ORTHOGONAL: "parallel states"}.get(state.kind)
        for given in ("states", "parallel states"):
            items = self._list(body, given, path)
            if given == key:
                for index, item in enumerate(items):
                    self._state(item, (*path, given, index), state)

    def _ignored(self, body: Mapping[str, Any], path: Path, state: ChartState) -> None:
        """Keys that sismic reads and then does not use."""
        unused = []
        if state.kind != COMPOUND:
            unused.append("initial")
        if not state.is_history:
            unused.append("memory")
        if state.kind in _TYPES:
            unused += ["states", "parallel states"]
        for key in unused:
            if body.get(key):
                self._add(
                    SismicCode.SISMIC_IGNORED_KEY,
                    (*path, key),
                    f"`{key}` has no effect on {state.name!r}, whose type is {state.kind}.",
                    "Remove it.",
                )

    # ------------------------------------------------------------ transitions

    def _transitions(self, body: Mapping[str, Any], path: Path, source: str) -> tuple[ChartTransition, ...]:
        found = []
        for index, item in enumerate(self._list(body, "transitions", path)):
            place: Path = (*path, "transitions", index)
            given = self._object(item, place, _TRANSITION, "a transition")
            if given is not None:
                found.append(self._transition(given, place, source, index))
        return tuple(found)

    def _transition(self, body: Mapping[str, Any], path: Path, source: str, number: int) -> ChartTransition:
        event = self._text(body, "event", path)
        guard = self._code(body, "guard", path)
        if event and not event.strip():
            self._wrong(
                (*path, "event"), "The event has no name.", "Leave `event` out for an eventless transition."
            )
        if guard is not None and not guard.text:
            self._wrong((*path, "guard"), "The guard is blank.", "Leave `guard` out.")
        return ChartTransition(
            source,
            number,
            self._text(body, "target", path),
            event.strip() if event else None,
            guard,
            self._code(body, "action", path),
            self._priority(body, path),
            self._contract(body, path),
            path,
            self.text.line_of(path),
        )

    def _priority(self, body: Mapping[str, Any], path: Path) -> int:
        if "priority" not in body:
            return 0
        value = body["priority"]
        if isinstance(value, str) and value in _PRIORITIES:
            return _PRIORITIES[value]
        try:
            return int(value)
        except (TypeError, ValueError, OverflowError):
            self._wrong(
                (*path, "priority"),
                f"{value!r} is no priority.",
                "A priority is a whole number, `high` or `low`.",
            )
            return 0

    def _contract(self, body: Mapping[str, Any], path: Path) -> tuple[Condition, ...]:
        found = []
        for index, item in enumerate(self._list(body, "contract", path)):
            place: Path = (*path, "contract", index)
            given = self._object(item, place, _CONTRACT, "a condition of a contract")
            if given is None:
                continue
            used = next((key for key in _CONTRACT if given.get(key)), None)
            for key in given:
                code = self._code(given, key, place)
                if key == used and code is not None:
                    kind: ConditionKind = key  # type: ignore[assignment]
                    found.append(Condition(kind, code))
                elif used is not None:
                    self._add(
                        SismicCode.SISMIC_IGNORED_KEY,
                        (*place, key),
                        f"`{key}` has no effect beside `{used}`.",
                        "Make it an item of its own in the list.",
                    )
        return tuple(found)

    # ----------------------------------------------------------------- values

    def _object(self, value: Any, path: Path, known: tuple[str, ...], what: str) -> Mapping[str, Any] | None:
        if not isinstance(value, Mapping):
            self._wrong(path, f"{what.capitalize()} has keys and values; here is {_described(value)}.")
            return None
        for key in value:
            if key not in known:
                guess = nearest(key, known) if isinstance(key, str) else None
                self._add(
                    SismicCode.SISMIC_UNKNOWN_KEY,
                    (*path, key if isinstance(key, (str, int)) else str(key)),
                    f"{what.capitalize()} has no `{key}`.",
                    f"Did you mean `{guess}`?"
                    if guess
                    else f"It may have {', '.join(f'`{k}`' for k in known)}.",
                )
        return value

    def _list(self, body: Mapping[str, Any], key: str, path: Path) -> list[Any]:
        value = body.get(key, [])
        if isinstance(value, list):
            return value
        self._wrong(
            (*path, key), f"`{key}` is a list; here is {_described(value)}.", "Start each item with `- `."
        )
        return []

    def _text(self, body: Mapping[str, Any], key: str, path: Path, needed: str | None = None) -> str | None:
        if key not in body:
            if needed is not None:
                self._wrong(path, f"{needed.capitalize()} has no `{key}`.", f"Write `{key}:` with a text.")
            return None
        value = body[key]
        if value is None or isinstance(value, (Mapping, list)):
            self._wrong(
                (*path, key),
                f"`{key}` is a text; here is {_described(value)}.",
                "Leave the key out." if value is None else "Put it in quotes, or below a `|`.",
            )
            return None
        return str(value)

    def _code(self, body: Mapping[str, Any], key: str, path: Path, strip: bool = True) -> Code | None:
        value = self._text(body, key, path)
        if not value:
            return None
        at: Path = (*path, key)
        text = value.strip() if strip else value
        line = self.text.body_line(at)
        if line is not None and strip:
            line += value[: len(value) - len(value.lstrip())].count("\n")
        return Code(text, line, at)

    def _add(self, code: SismicCode, path: Path, message: str, hint: str | None = None) -> None:
        self.problems.append(self.text.problem(code, path, message, hint))

    def _wrong(self, path: Path, message: str, hint: str | None = None) -> None:
        self._add(SismicCode.SISMIC_SHAPE, path, message, hint)


def _described(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a block of keys"
    return "a list" if isinstance(value, list) else repr(value)
