"""JSON values on one line, for people."""

from __future__ import annotations

import json
from typing import Any

from ..values import UNDEFINED, plain


def readable(value: Any) -> str:
    """A value as JSON with room between its parts; ``undefined`` when there is none."""
    data = plain(value)
    return "undefined" if data is UNDEFINED else json.dumps(data, ensure_ascii=False)


def members(value: Any) -> str:
    """The members of an object as ``key value, key value``, without those that are ``null``; else :func:`readable`."""
    data = plain(value)
    if not isinstance(data, dict) or not data:
        return readable(value)
    return ", ".join(f"{key} {readable(member)}" for key, member in data.items() if member is not None)
