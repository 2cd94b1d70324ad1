"""What is written to a terminal, a log or a pipe: consoles, colours, and text that cannot do harm."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.text import Text

WIDTH_WITHOUT_TERMINAL = 100
# C0 and C1 controls and the characters that reorder or hide what follows them
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)

_TRAILING = re.compile(r" +((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)


def make_safe(stream: Any) -> None:
    """Let a stream with a small character set escape what it cannot write, instead of failing."""
    if isinstance(stream, io.TextIOWrapper) and not (stream.encoding or "").lower().startswith("utf"):
        stream.reconfigure(errors="backslashreplace")


def clean(text: str) -> str:
    """``text`` with control characters shown as escapes: names in a document may hold anything."""
    return _UNSAFE.sub(lambda match: _escaped(match[0]), text)


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def one_line(text: str) -> str:
    """``text`` on a single line, cleaned."""
    return clean(text.replace("\r\n", "\n").replace("\n", "⏎").replace("\t", "\\t"))


def styled(text: str, style: str = "") -> Text:
    """Cleaned text in a style; square brackets in it mean nothing."""
    return Text(clean(text), style=style)


def make_console(stream: TextIO | None = None, *, no_color: bool = False) -> Console:
    """A console for ``stream`` (standard output now): colours only on a terminal, never with ``NO_COLOR``."""
    target = sys.stdout if stream is None else stream
    forced = bool(os.environ.get("FORCE_COLOR"))
    is_terminal = forced or bool(getattr(target, "isatty", lambda: False)())
    colourless = no_color or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb" or not is_terminal
    width = None if is_terminal or os.environ.get("COLUMNS") else WIDTH_WITHOUT_TERMINAL
    return Console(
        file=target,
        color_system=None if colourless else "auto",
        force_terminal=is_terminal,
        force_interactive=False,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def show(console: Console, renderable: RenderableType) -> None:
    """Print without the blanks with which tables fill their lines."""
    with console.capture() as captured:
        console.print(renderable)
    console.file.write(_TRAILING.sub(r"\1", captured.get()))
    console.file.flush()


def say_error(message: str, *, prefix: bool = True) -> None:
    """One message on standard error."""
    sys.stdout.flush()
    text = clean(message)
    sys.stderr.write(f"statecharts: {text}\n" if prefix else f"{text}\n")
    sys.stderr.flush()


def is_unicode(console: Console) -> bool:
    """Whether the console's stream can show arrows and lines."""
    return console.encoding.lower().startswith("utf")


def write_markup(text: str) -> None:
    """XML on standard output; what the stream cannot say is a character reference."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(text.encode(encoding, "xmlcharrefreplace").decode(encoding))
    sys.stdout.flush()


def write_json(value: Any, *, indent: int | None = None) -> None:
    """JSON on standard output; characters that a terminal or the stream would garble are escaped."""
    narrow = not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    text = json.dumps(value, indent=indent, ensure_ascii=narrow)
    sys.stdout.write(_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")
    sys.stdout.flush()
