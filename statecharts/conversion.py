"""From one format to another: a machine as SCXML text. (A machine as JSON is its ``document``.)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .definition import SCXML
from .machine import Machine

if TYPE_CHECKING:
    from .adapters.formats.scxml import Export


def to_scxml(machine: Machine[Any, Any] | Mapping[str, Any]) -> Export:
    """A machine (or its document) as SCXML: ``.text``, and ``.warnings`` about what other engines read differently.

    An SCXML document comes out as it is. An XState machine carries what SCXML
    cannot say in attributes of a name space of its own, so that loading the
    text again gives the same machine; each construct that another SCXML
    engine would run otherwise has a warning. Raises :class:`UsageError` for
    a document that holds Python objects.
    """
    from .adapters.formats import scxml

    document = machine.document if isinstance(machine, Machine) else machine
    if document.get("semantics") == SCXML:
        return scxml.Export(scxml.write_document(document))
    return scxml.to_scxml(document)
