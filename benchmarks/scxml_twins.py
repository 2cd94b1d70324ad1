"""The charts as SCXML documents, for peers that read nothing else.

Made from the same tree as every other peer's form. An id is the state's path with
dashes: with dots, ``done.state.work`` would also name the ends of the states below.
XState's transitions that leave and enter again are SCXML's default, so nothing
else has to be said.
"""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

from .drivers.charts_read import Node, history_of, read_tree, transitions_of

NAMESPACE = "http://www.w3.org/2005/07/scxml"
TAGS = {"parallel": "parallel", "final": "final", "history": "history"}
SCRIPT = """<script>
def is_open(n):
    return n >= 0

def increment(n):
    return n + 1
</script>"""
CONDITIONS = {"isOpen": "is_open(n)"}
CONTENT = {"increment": '<assign location="n" expr="increment(n)"/>'}


def twin_of(config: dict[str, Any], datamodel: str = "python") -> str:
    """The document. ``python`` is tinyactors' datamodel; where there is no data, ``null`` will do as well."""
    root = read_tree(config)
    data = config.get("context", {})
    told = {"xmlns": NAMESPACE, "version": "1.0", "name": root.key, "datamodel": datamodel}
    inside = []
    if data:
        values = "".join(f'<data id="{name}" expr="{value!r}"/>' for name, value in data.items())
        inside = [f"<datamodel>{values}</datamodel>", SCRIPT]
    if root.kind == "parallel":
        inside.append(_state(root))
    else:
        assert root.initial is not None
        told["initial"] = _id(root.initial)
        inside += [_state(child) for child in root.children]
    return _element("scxml", told, inside)


def _id(node: Node) -> str:
    return node.path.replace(".", "-")


def _state(node: Node) -> str:
    told = {"id": _id(node)}
    if node.initial is not None:
        told["initial"] = _id(node.initial)
    inside = []
    if node.kind == "history":
        told["type"] = "shallow"
        inside.append(_element("transition", {"target": _id(history_of(node))}, []))
    for one in transitions_of(node):
        facts = {"event": one.event or f"done.state.{_id(node)}", "target": _id(one.target)}
        if one.guard is not None:
            facts["cond"] = CONDITIONS[one.guard]
        inside.append(_element("transition", facts, [CONTENT[one.action]] if one.action else []))
    inside += [_state(child) for child in node.children]
    return _element(TAGS.get(node.kind, "state"), told, inside)


def _element(tag: str, told: dict[str, str], inside: list[str]) -> str:
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in told.items())
    body = "\n".join(inside)
    return f"<{tag}{attributes}>{body}</{tag}>" if inside else f"<{tag}{attributes}/>"
