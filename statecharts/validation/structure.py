"""What a state's parts mean together: ``initial``, final and history states, regions."""

from __future__ import annotations

from typing import Any

from statecharts.values import UNDEFINED

from .codes import Code
from .nearest import nearest
from .outline import Node
from .report import Report, is_list, is_object, is_opaque, quoted
from .targets import TargetChecker, split_path
from .transitions import TransitionReader

_NO_EFFECT_IN_HISTORY = (
    "states",
    "on",
    "always",
    "after",
    "onDone",
    "entry",
    "exit",
    "invoke",
    "output",
    "tags",
)


def check_structure(report: Report, reader: TransitionReader, node: Node) -> None:
    """Everything about one state that depends on its kind."""
    _check_initial(report, reader, node)
    if node.kind == "history":
        _check_history(report, reader.targets, node)
    else:
        _check_not_history(report, node)
        if node.kind == "final":
            _check_final(report, node)
        elif node.kind == "atomic" and node.children:
            report.add(
                Code.TYPE_MISMATCH,
                f"{node.pointer}/type",
                "An atomic state has no children; these can never be entered by default.",
                "Remove `type`.",
            )
        elif node.kind == "parallel" and not node.children:
            report.add(
                Code.TYPE_MISMATCH,
                f"{node.pointer}/type",
                "This parallel state has no regions.",
                "Add `states`, or remove `type`.",
            ) if node.get("type") is not UNDEFINED else None
    if node.get("onDone") and (node.parent is None or node.kind in ("atomic", "final")):
        why = (
            "the machine is done by then"
            if node.parent is None
            else "this state has no children that could be done"
        )
        report.add(
            Code.NEVER_FIRES, f"{node.pointer}/onDone", f"This `onDone` is never taken: {why}.", "Remove it."
        )
    output = node.get("output")
    if output is not UNDEFINED and node.kind not in ("final", "history") and node.parent is not None:
        report.add(
            Code.OUTPUT_IGNORED, f"{node.pointer}/output", "Only a final state, or the machine itself, has an output.",
            "Put it on a final state.",
        )  # fmt: skip


def _check_initial(report: Report, reader: TransitionReader, node: Node) -> None:
    initial = node.get("initial")
    pointer = f"{node.pointer}/initial"
    if initial is UNDEFINED or initial is None or initial == "":
        if node.kind == "compound":
            _missing_initial(report, node, initial, pointer)
        elif initial is None:
            report.null_ignored(pointer, "initial")
        elif initial == "":
            report.add(
                Code.EMPTY_NAME, pointer, "`initial` is empty, which counts as absent.", "Leave it out."
            )
        return
    name: Any = initial
    place = pointer
    if is_object(initial):
        reader.read_initial_object(node, initial, pointer)
        if "target" not in initial:
            report.add(
                Code.MISSING_MEMBER, pointer, "This `initial` has no `target`.", "Name the child to enter."
            )
            return
        name, place = initial["target"], f"{pointer}/target"
    if node.kind == "parallel":
        report.add(
            Code.INITIAL_IGNORED,
            pointer,
            "A parallel state enters all its children; `initial` is ignored.",
            "Remove it.",
        )
        return
    if not node.children and node.kind != "compound":
        if not is_opaque(node.get("states")) or node.get("states") is UNDEFINED:
            report.add(
                Code.INITIAL_WITHOUT_STATES,
                pointer,
                "This state has no children to enter; XState fails when it is reached.",
                "Add `states`, or remove `initial`.",
            )
        return
    _check_initial_name(report, node, name, place)


def _missing_initial(report: Report, node: Node, initial: object, pointer: str) -> None:
    names = list(node.children)
    hint = (
        f'Add `"initial": "{names[0]}"`, or another of {quoted(names)}.'
        if names
        else "Add `states`, or remove `type`."
    )
    where = pointer if initial is not UNDEFINED else node.pointer
    report.add(
        Code.MISSING_INITIAL,
        where,
        f'"{node.id}" has children, but `initial` does not say which one is entered first.',
        hint,
    )


def _check_initial_name(report: Report, node: Node, name: object, pointer: str) -> None:
    if is_list(name) and len(name) == 1 and isinstance(name[0], str):
        report.wrong_type(
            pointer, "initial", name, "the name of a child", f'Write "{name[0]}" without the list.'
        )
        return
    if not isinstance(name, str):
        report.wrong_type(pointer, "initial", name, "the name of a child")
        return
    child = node.children.get(name)
    if child is None:
        report.add(
            Code.UNKNOWN_INITIAL, pointer, f'"{node.id}" has no child "{name}".', _initial_hint(node, name)
        )
    elif child.kind == "history" and not child.get("target"):
        report.add(
            Code.INITIAL_HISTORY_LOOP,
            pointer,
            f'"{name}" is a history state without a default, whose default is this `initial` again.',
            "Name a real child, or give the history state a `target`.",
        )


def _initial_hint(node: Node, name: str) -> str:
    first = split_path(name.lstrip("."))[0]
    if first in node.children and ("." in name):
        return f'`initial` names a direct child: write "{first}" here and give that state an `initial` of its own.'
    if name.startswith("#") and node.children:
        return f"`initial` takes the key of a direct child, not an id: one of {quoted(list(node.children))}."
    guess = nearest(name, node.children)
    if guess is not None:
        return f'Did you mean "{guess}"?'
    return f"Its children are {quoted(list(node.children))}." if node.children else "It has no children."


def _check_history(report: Report, targets: TargetChecker, node: Node) -> None:
    _check_history_value(report, node)
    if node.parent is None:
        where = f"{node.pointer}/type" if node.get("type") == "history" else f"{node.pointer}/history"
        report.add(
            Code.HISTORY_AT_ROOT,
            where,
            "The machine itself cannot be a history state.",
            "Put it into a state.",
        )
        return
    for key in _NO_EFFECT_IN_HISTORY:
        if node.get(key) not in (UNDEFINED, None, [], {}):
            report.add(
                Code.NEVER_RUNS,
                f"{node.pointer}/{key}",
                f"A history state is never active, so its `{key}` never has an effect.",
                "Move it to a real state.",
            )
    target = node.get("target")
    pointer = f"{node.pointer}/target"
    if target is UNDEFINED or target == "":
        return
    if target is None:
        report.null_value(pointer, "target")
        return
    listed = (
        [(target, pointer)] if not is_list(target) else [(t, f"{pointer}/{i}") for i, t in enumerate(target)]
    )
    for text, place in listed:
        if not isinstance(text, str):
            report.wrong_type(place, "target", text, "the name of a state")
        else:
            _check_history_default(report, targets, node, text, place)


def _check_history_default(report: Report, targets: TargetChecker, node: Node, text: str, place: str) -> None:
    if text.startswith(".") and len(text) > 1:
        report.add(
            Code.UNKNOWN_TARGET,
            place,
            f'The default "{text}" of a history state starts with a dot, which means its parent and nothing else.',
            f'It is a path below the parent: write "{text[1:]}".',
        )
        return
    found = targets.check(node, text, place, history=True)
    if found is node:
        report.add(
            Code.INITIAL_HISTORY_LOOP, place, "This history state is its own default.", "Name a real state."
        )


def _check_history_value(report: Report, node: Node) -> None:
    value = node.get("history")
    if value is UNDEFINED or value is False or value is True or value in ("shallow", "deep"):
        return
    pointer = f"{node.pointer}/history"
    if value is None:
        report.null_ignored(pointer, "history")
        return
    guess = nearest(value, ("shallow", "deep")) if isinstance(value, str) else None
    hint = f'Did you mean "{guess}"?' if guess else 'It is "shallow" or "deep".'
    report.add(Code.UNKNOWN_HISTORY, pointer, f"There is no history {value!r}; it would be shallow.", hint)


def _check_not_history(report: Report, node: Node) -> None:
    history = node.get("history")
    if history is None:
        report.null_ignored(f"{node.pointer}/history", "history")
    elif history is not UNDEFINED and history is not False:
        report.add(
            Code.IGNORED_HISTORY,
            f"{node.pointer}/history",
            f"This state is {'compound' if node.children else node.kind}, so `history` is ignored.",
            'Add a child `{"type": "history"}` to it and make that the target.',
        )
    if node.get("target") is not UNDEFINED:
        report.add(
            Code.MISPLACED_KEY,
            f"{node.pointer}/target",
            "`target` means nothing in a state that is not a history state; it would be ignored.",
            "Write an eventless transition: `always`.",
        )


def _check_final(report: Report, node: Node) -> None:
    if node.children:
        report.add(
            Code.NEVER_RUNS,
            f"{node.pointer}/states",
            "A final state's children are never entered.",
            "Make one of the children final instead, or remove them.",
        )
    if node.parent is not None and (node.parent.parent is not None or node.parent.kind == "parallel"):
        return
    for key in ("on", "always", "after", "invoke"):
        if node.get(key):
            report.add(
                Code.NEVER_FIRES,
                f"{node.pointer}/{key}",
                f"The machine ends when this state is entered, so its `{key}` has no effect.",
                "Remove it.",
            )
