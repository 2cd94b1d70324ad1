"""The strict reading of an XState machine: everything that cannot mean what its author wanted.

:func:`check_document` looks at the parsed document alone. It needs no
implementations, runs nothing, and reports all problems at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecharts.errors import Problem
from statecharts.values import UNDEFINED

from .acceptance import accepted
from .actions import check_actions
from .codes import Code
from .expressions import check_values
from .extras import check_root_extras
from .invokes import InvokeReader
from .keys import check_keys, level_of
from .loops import check_endless, check_unreachable
from .outline import Node, build_outline
from .report import Report, described, is_list, is_object, is_opaque
from .structure import check_structure
from .targets import TargetChecker
from .transitions import TransitionReader, check_annotations

__all__ = ["Code", "accepted", "check_document"]


def check_document(document: object, *, implementations_known: bool = False) -> list[Problem]:
    """All problems of an XState v5 machine document, in document order.

    ``document`` is parsed JSON. Python functions and other objects may stand
    where a guard, action, actor, delay, input, output or context does; they
    are accepted unseen. With ``implementations_known`` the caller compares
    names with what is bound, so guesses about unbound names are left out.
    """
    report = Report(document)
    if not is_object(document):
        report.add(
            Code.NOT_AN_OBJECT,
            "",
            f"The document is {described(document)}; a machine is an object.",
            'The smallest machine is `{"id": "name", "initial": "a", "states": {"a": {}}}`.',
        )
        return report.problems()
    _check_machine(report, document, implementations_known)
    return report.problems()


def _check_machine(report: Report, document: Mapping[Any, Any], implementations_known: bool) -> None:
    outline = build_outline(document, report)
    targets = TargetChecker(report, outline)
    reader = TransitionReader(report, outline, targets, implementations_known)
    invokes = InvokeReader(report, reader)
    check_root_extras(report, document, implementations_known)
    for node in outline.nodes:
        _check_node(report, reader, invokes, node)
    invokes.check_collisions()
    check_unreachable(report, reader.found)
    check_endless(report, outline, reader.found)


def _check_node(report: Report, reader: TransitionReader, invokes: InvokeReader, node: Node) -> None:
    config = node.config
    extra = "final" if node.kind == "final" else ""
    check_keys(report, level_of(node.depth), config, node.pointer, extra)
    check_annotations(report, config, node.pointer)
    for key in ("entry", "exit"):
        if key in config:
            check_actions(report, config[key], f"{node.pointer}/{key}", key)
    if "tags" in config:
        _check_tags(report, node)
    if "output" in config:
        check_values(report, config["output"], f"{node.pointer}/output")
    if node.kind == "history":  # what a history state carries never runs, so its contents are not read
        check_structure(report, reader, node)
        return
    reader.read_node(node)
    actor_ids = invokes.read_node(node)
    reader.read_route(node)
    check_structure(report, reader, node)
    _check_replaced(report, node, actor_ids)


def _check_tags(report: Report, node: Node) -> None:
    tags = node.get("tags")
    pointer = f"{node.pointer}/tags"
    if tags is UNDEFINED or isinstance(tags, str):
        return
    if tags is None:
        report.null_value(pointer, "tags")
    elif not is_list(tags):
        report.wrong_type(pointer, "tags", tags, "a string or a list of strings")
    else:
        for index, tag in enumerate(tags):
            if tag is None:
                report.null_value(f"{pointer}/{index}", "tags", "Remove it from the list.")
            elif not isinstance(tag, str):
                report.wrong_type(f"{pointer}/{index}", "tags", tag, "a string")


def _check_replaced(report: Report, node: Node, actor_ids: list[str]) -> None:
    """A later handler of the same descriptor replaces the one under ``on``."""
    handlers = node.get("on")
    if not is_object(handlers) or not any(str(name).startswith("xstate.") for name in handlers):
        return
    rivals: list[tuple[str, str]] = []
    if node.get("onDone"):
        rivals.append((f"xstate.done.state.{node.id}", "onDone"))
    invoked = node.get("invoke")
    listed = invoked if is_list(invoked) else [invoked][: len(actor_ids)]
    for actor_id, item in zip(actor_ids, listed, strict=True):
        if is_object(item):
            for key, prefix in (
                ("onDone", "done.actor"),
                ("onError", "error.actor"),
                ("onSnapshot", "snapshot"),
            ):
                if item.get(key):
                    rivals.append((f"xstate.{prefix}.{actor_id}", f"invoke's {key}"))
    for descriptor, rival in rivals:
        if descriptor in handlers and not is_opaque(handlers[descriptor]):
            pointer = f"{node.pointer}/on/{descriptor.replace('~', '~0').replace('/', '~1')}"
            report.add(
                Code.REPLACED_HANDLER,
                pointer,
                f"This handler is replaced by {rival}, which handles the same event.",
                f"Put both into {rival}, as a list.",
            )
