"""JSON inside XML: values written into SCXML documents and read from them, key order kept."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from .scxml_xml import FORBIDDEN


def read_value(text: str) -> Any:
    """The JSON value in ``text``. Raises ``ValueError`` saying what is wrong with it."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def write_value(value: Any) -> str:
    """``value`` as JSON in characters that XML has. Raises ``TypeError`` or ``ValueError`` for what is not JSON."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return FORBIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)  # all of them stand inside strings
