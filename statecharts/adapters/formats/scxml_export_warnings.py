"""What another SCXML engine does differently with an exported machine.

SCXML and XState agree on most things. Where they do not, the exported text
means the machine only to this library; each place gets a warning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import Problem
from ...validation.delays import js_to_number
from ...validation.outline import Node
from ...validation.report import token
from .scxml_chart import Chart, actor_id, can_be_left, children, invokes, walk
from .scxml_export_actions import action_members, action_name, guard_names, has_expression, listed
from .scxml_export_codes import ExportCode, Finding, Found
from .scxml_export_moves import event_warnings, move_warnings
from .scxml_export_states import Arrow, is_data


def export_warnings(chart: Chart, arrows: Sequence[Arrow], ends_late: bool) -> list[Problem]:
    """One warning for every construct, by the place where it stands; those about the whole machine once.

    ``ends_late``: the machine ends by way of a helper state, on a done event.
    """
    found: dict[tuple[str, str], Problem] = {}
    if ends_late and _can_end(chart):
        message = "The machine ends on a done event here: events raised before it are taken first; XState drops them."
        found["completion", ""] = Problem(ExportCode.COMPLETION.slug, "", message, severity="warning")
    for check in (_machine, _states, move_warnings, event_warnings, _code):
        for code, pointer, message in check(chart, arrows):
            problem = Problem(code.slug, pointer, message, severity="warning")
            found.setdefault((code.slug, pointer), problem)
    return list(found.values())


def _can_end(chart: Chart) -> bool:
    root = chart.outline.root
    return root.kind == "parallel" or any(child.kind == "final" for child in children(root))


def _machine(chart: Chart, arrows: Sequence[Arrow]) -> Found:
    """The rules that are about the machine as a whole."""
    root = chart.outline.root
    config = root.config
    nodes = list(walk(root))
    if any(invokes(node) for node in nodes) or any(arrow.member("guard") is not None for arrow in arrows):
        yield Finding(
            ExportCode.ERROR_POLICY,
            "",
            "A guard, action or actor that fails ends an XState machine. SCXML goes on with the event "
            "`error.execution` or `error.communication`, which a `*` transition takes.",
        )
    if any(invokes(node) for node in nodes):
        yield Finding(
            ExportCode.STOPPED_CHILDREN,
            "",
            "SCXML runs the exit actions of an invoked machine that is stopped; XState stops it without.",
        )
    options = config.get("options")
    if isinstance(options, Mapping) and "maxIterations" in options:
        message = "`maxIterations` has no effect in SCXML; an endless macrostep does not end."
        yield Finding(ExportCode.MAX_ITERATIONS, "/options/maxIterations", message)
    if config.get("schemas"):
        yield Finding(ExportCode.SCHEMAS, "/schemas", "SCXML checks no values; the schemas have no effect.")
    context = config.get("context")
    if context is not None and not is_data(context):
        message = "The context is not an object of values; another engine starts without data."
        yield Finding(ExportCode.CONTEXT_CODE, "/context", message)


# --------------------------------------------------------------------- states


def _states(chart: Chart, arrows: Sequence[Arrow]) -> Found:
    with_always = {arrow.node for arrow in arrows if arrow.group == "always"}
    for node in walk(chart.outline.root):
        config = node.config
        if node.kind == "parallel":
            yield from _always_order(node, with_always)
        if (
            node.kind == "compound"
            and isinstance(config.get("initial"), Mapping)
            and config["initial"].get("actions")
        ):
            yield Finding(
                ExportCode.INITIAL_ACTIONS,
                f"{node.pointer}/initial/actions",
                f"SCXML runs these actions whenever {node.id!r} is entered by default; XState does not when it is "
                "entered on the way to another region or through history.",
            )
        if node.kind == "history":
            yield from _history(chart, node)
        if config.get("route") is not None:
            message = f"Other engines know no routes; the event `xstate.route` to {node.id!r} does nothing."
            yield Finding(ExportCode.ROUTE, f"{node.pointer}/route", message)
        yield from _actors(node)


def _always_order(node: Node, with_always: set[Node]) -> Found:
    regions = [region for region in children(node) if any(each in with_always for each in walk(region))]
    if len(regions) > 1:
        names = " and ".join(repr(region.key) for region in regions[:2])
        yield Finding(
            ExportCode.ALWAYS_ORDER,
            node.pointer,
            f"Eventless transitions in {names} are taken in document order by SCXML, by XState in the order in "
            "which their states were entered.",
        )


def _history(chart: Chart, node: Node) -> Found:
    if node.config.get("target") in (None, ""):
        return
    parent = node.parent
    assert parent is not None
    if chart.history_targets(node) != chart.history_default(node):
        yield Finding(
            ExportCode.HISTORY_DEFAULT,
            f"{node.pointer}/target",
            f"The default does not lie below {parent.id!r}, as SCXML asks; other engines enter "
            f"{chart.names(chart.history_default(node))!r}.",
        )


def _actors(node: Node) -> Found:
    is_list = isinstance(node.config.get("invoke"), (list, tuple))
    for index, invoke in enumerate(invokes(node)):
        place = f"{node.pointer}/invoke/{index}" if is_list else f"{node.pointer}/invoke"
        yield Finding(
            ExportCode.ACTOR_SOURCE,
            place,
            f"The actor {actor_id(node, index, invoke)!r} is bound by name; another engine cannot start it "
            "and raises `error.execution`.",
        )
        if "onError" in invoke:
            message = "SCXML has no event for the failure of one actor; this waits for `error.platform.<id>`."
            yield Finding(ExportCode.ON_ERROR, f"{place}/onError", message)
        if "onSnapshot" in invoke:
            message = "Other engines send no snapshots; this transition is never taken there."
            yield Finding(ExportCode.ON_SNAPSHOT, f"{place}/onSnapshot", message)
        if has_expression(invoke.get("input")):
            yield Finding(
                ExportCode.EXPRESSION,
                f"{place}/input",
                "The input is an expression; other engines pass none.",
            )


# ----------------------------------------------------------------------- code


def _code(chart: Chart, arrows: Sequence[Arrow]) -> Found:
    for arrow in arrows:
        guard = arrow.member("guard")
        if guard is not None:
            yield from _guard(guard, f"{arrow.pointer}/guard")
        yield from _actions(arrow.member("actions"), f"{arrow.pointer}/actions")
        if arrow.group == "after":
            yield from _delay(arrow)
    for node in walk(chart.outline.root):
        if node.kind == "history":
            continue
        for member in ("entry", "exit"):
            yield from _actions(node.config.get(member), f"{node.pointer}/{member}")
        initial = node.config.get("initial")
        if isinstance(initial, Mapping) and can_be_left(node):
            yield from _actions(initial.get("actions"), f"{node.pointer}/initial/actions")
        output = node.config.get("output")
        if has_expression(output):
            message = "The output is an expression; other engines have none."
            yield Finding(ExportCode.EXPRESSION, f"{node.pointer}/output", message)


def _guard(guard: Any, pointer: str) -> Found:
    if has_expression(guard):
        yield Finding(
            ExportCode.EXPRESSION, pointer, "The guard is an expression; for other engines it is false."
        )
    names = sorted(set(guard_names(guard)))
    if names:
        shown = ", ".join(repr(name) for name in names)
        yield Finding(
            ExportCode.NAMED_GUARD,
            pointer,
            f"Other engines need a function `guard` that knows {shown}; without it the condition is false.",
        )


def _delay(arrow: Arrow) -> Found:
    number = js_to_number(arrow.key)
    if number != number:
        pointer = f"{arrow.node.pointer}/after{token(arrow.key)}"
        yield Finding(
            ExportCode.NAMED_DELAY,
            pointer,
            f"Other engines need a function `delay` that knows {arrow.key!r}; without it there is no timer.",
        )


def _actions(value: Any, pointer: str) -> Found:
    if value is None:
        return
    is_list = isinstance(value, (list, tuple))
    for index, action in enumerate(listed(value)):
        yield from _action(action, f"{pointer}/{index}" if is_list else pointer)


def _action(action: Any, pointer: str) -> Found:
    name = action_name(action)
    if name is None:
        given = action.get("type") if isinstance(action, Mapping) else action
        yield Finding(ExportCode.NAMED_ACTION, pointer, f"Other engines skip the action {given!r}.")
    elif name == "emit":
        yield Finding(ExportCode.EMIT, pointer, "SCXML emits no events; other engines skip this.")
    elif name in ("spawnChild", "stopChild"):
        yield Finding(
            ExportCode.SPAWN,
            pointer,
            "SCXML starts and stops actors by <invoke> only; other engines skip this.",
        )
    elif name == "forwardTo":
        yield Finding(
            ExportCode.NAMED_ACTION,
            pointer,
            "SCXML forwards by `autoforward` only; other engines skip this.",
        )
    elif has_expression(action):
        yield Finding(
            ExportCode.EXPRESSION, pointer, "The action holds an expression; other engines skip it."
        )
    delay = action_members(action).get("delay") if name is not None else None
    if isinstance(delay, str):
        message = f"Other engines need a function `delay` that knows {delay!r}."
        yield Finding(ExportCode.NAMED_DELAY, f"{pointer}", message)
