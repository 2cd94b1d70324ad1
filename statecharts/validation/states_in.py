"""The states that a ``stateIn`` guard names."""

from __future__ import annotations

from .codes import Code
from .nearest import nearest
from .outline import Node, Outline
from .report import Report, is_object, is_opaque, quoted, token
from .targets import UnknownTarget, by_id, split_path


def check_state_in(report: Report, outline: Outline, state: object, pointer: str) -> None:
    """Report a ``state`` that can never be active: an unknown id, path or state value."""
    if is_opaque(state):
        return
    if isinstance(state, str):
        _check_text(report, outline, state, pointer)
    elif is_object(state):
        _check_value(report, outline, state, pointer)
    else:
        report.wrong_type(pointer, "state", state, 'a state such as `#id`, `a.b` or `{"a": "b"}`')


def _check_text(report: Report, outline: Outline, state: str, pointer: str) -> None:
    if not state:
        report.add(Code.EMPTY_NAME, pointer, "The name of the state is empty.", "Name a state.")
        return
    if state.startswith("#"):
        try:
            by_id(outline, state)
        except UnknownTarget as problem:
            guess = nearest(problem.missing.removeprefix("#"), outline.ids)
            hint = (
                f'Did you mean "#{guess}"?'
                if guess
                else "States without an `id` are called by machine id and path."
            )
            report.add(Code.UNKNOWN_STATE, pointer, f'There is no state "{state}".', hint)
        return
    node = outline.root
    for segment in split_path(state):
        child = node.children.get(segment)
        if child is None:
            _missing(report, node, segment, pointer)
            return
        node = child


def _check_value(report: Report, outline: Outline, value: object, pointer: str) -> None:
    stack: list[tuple[object, Node, str]] = [(value, outline.root, pointer)]
    while stack:
        item, node, place = stack.pop()
        if isinstance(item, str):
            if item not in node.children:
                _missing(report, node, item, place)
        elif is_object(item):
            for key, member in item.items():
                if not isinstance(key, str):
                    report.bad_key(place, key)
                elif key in node.children:
                    stack.append((member, node.children[key], place + token(key)))
                else:
                    _missing(report, node, key, place + token(key))
        else:
            report.wrong_type(place, "state", item, "a state value")


def _missing(report: Report, node: Node, name: str, pointer: str) -> None:
    guess = nearest(name, node.children)
    if guess is not None:
        hint = f'Did you mean "{guess}"?'
    elif node.children:
        hint = f'The children of "{node.id}" are {quoted(list(node.children))}; states elsewhere are named `#id`.'
    else:
        hint = f'"{node.id}" has no children.'
    report.add(
        Code.UNKNOWN_STATE, pointer, f'"{node.id}" has no state "{name}", so this is never true.', hint
    )
