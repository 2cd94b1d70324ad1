"""What a document needs from the edges beyond Python callables.

XState JSON needs none of it. An SCXML document names a datamodel, may name
other documents, and may send through I/O processors; who loads it says what
those are. The core only passes them on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Resolver = Callable[[str], Any]
"""From a URI in a document (``src``) to what it stands for: text, a mapping, or a machine.

It is asked while machines are loaded and, for computed URIs, in the middle of
a step: it must give the same answer each time. Whatever it raises means that
there is no such document.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """The outside of a document.

    ``datamodels`` maps a datamodel's name to a factory, ``read`` makes a
    machine from a document's text or JSON and the URI it was found at (empty
    for none), ``processors`` maps the type of an
    I/O processor to a callback actor (a function with ``send_back`` and
    ``receive``, which may have a ``location``).
    """

    datamodels: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[Any, str], Any] | None = None
    resolve: Resolver | None = None
    processors: Mapping[str, Any] = field(default_factory=dict)


NO_ENVIRONMENT = Environment()
