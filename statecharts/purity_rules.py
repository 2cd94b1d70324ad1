"""What pure mode refuses: audit events, C functions and Python functions, by name.

Modules are looked up by name and never imported here, so that the definition
layer stays free of clocks, threads and randomness.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType, ModuleType
from typing import Any, Final

_AUDIT_PREFIXES: Final = (
    "os.", "socket.", "subprocess.", "shutil.", "tempfile.", "sqlite3.", "urllib.", "http.", "ftplib.", "smtplib.",
    "imaplib.", "poplib.", "telnetlib.", "nntplib.", "glob.", "pathlib.", "fcntl.", "mmap.", "signal.", "syslog.",
    "pty.", "resource.", "webbrowser.", "winreg.", "msvcrt.", "_winapi.", "_thread.start", "time.",
    "builtins.input", "builtins.breakpoint",
)  # fmt: skip
_AUDIT_EVENTS: Final = frozenset({"open"})

_WHOLE_MODULES: Final[dict[str, frozenset[str]]] = {
    # module → the functions in it that neither look at the world nor change it
    "time": frozenset({"strptime"}),
    "posix": frozenset({"fspath", "_path_normpath", "_path_splitroot", "_path_splitroot_ex"}),
    "nt": frozenset({"fspath", "_path_normpath", "_path_splitroot", "_path_splitroot_ex"}),
    "_socket": frozenset(),
    "select": frozenset(),
    "_ssl": frozenset(),
    "_uuid": frozenset(),
    "_posixsubprocess": frozenset(),
    "_winapi": frozenset(),
    "_sqlite3": frozenset(),
    "fcntl": frozenset(),
    "syslog": frozenset(),
    "termios": frozenset(),
}
_FUNCTIONS: Final[dict[str, frozenset[str]]] = {
    "builtins": frozenset({"print", "input", "open", "breakpoint"}),
    "io": frozenset({"open", "open_code"}),
    "_io": frozenset({"open", "open_code"}),
    "_thread": frozenset({"start_new_thread", "start_new", "start_joinable_thread"}),
}
_OPEN_OBJECTS: Final = frozenset({"_io", "_socket", "_ssl", "sqlite3", "mmap", "select"})
_IN_MEMORY: Final = frozenset({"StringIO", "BytesIO", "IncrementalNewlineDecoder"})
_PUBLIC: Final = {"posix": "os", "nt": "os", "_io": "io", "_thread": "threading"}
_CLOCK_METHODS: Final = frozenset({"now", "utcnow", "today"})


def audit_reason(event: str) -> str | None:
    """What the audit event stands for when a pure function may not cause it, else ``None``."""
    return event if event in _AUDIT_EVENTS or event.startswith(_AUDIT_PREFIXES) else None


def c_call_reason(function: Any, generators: list[object]) -> str | None:
    """The name of a C function that a pure function may not call, else ``None``.

    ``generators`` are the random generators that were seeded during this
    evaluation; those may be drawn from.
    """
    owner = getattr(function, "__self__", None)
    name = str(getattr(function, "__name__", ""))
    if owner is None:
        return None
    if isinstance(owner, ModuleType):
        return _module_function(owner.__name__, name)
    if isinstance(owner, type):
        clocks = name in _CLOCK_METHODS and any(kind.__module__ == "datetime" for kind in owner.__mro__)
        return f"{owner.__module__}.{owner.__qualname__}.{name}" if clocks else None
    kinds = type(owner).__mro__
    modules = {kind.__module__ for kind in kinds}
    if not modules.isdisjoint(_OPEN_OBJECTS) and not any(kind.__name__ in _IN_MEMORY for kind in kinds):
        return f"{_PUBLIC.get(kinds[0].__module__, kinds[0].__module__)}.{kinds[0].__name__}.{name}"
    if name in ("random", "getrandbits") and "_random" in modules:
        return None if any(owner is made for made in generators) else f"random.{name}"
    return None


def _module_function(module: str, name: str) -> str | None:
    allowed = _WHOLE_MODULES.get(module)
    refused = name in _FUNCTIONS.get(module, ()) if allowed is None else name not in allowed
    if not refused:
        return None
    public = _PUBLIC.get(module, module.lstrip("_"))
    return name if module == "builtins" else f"{public}.{name}"


def python_call_reason(frame: FrameType, generators: list[object]) -> str | None:
    """As :func:`c_call_reason`, for a Python function that is about to run in ``frame``.

    Seeding a generator with a value adds it to ``generators``.
    """
    code = frame.f_code
    if code.co_name == "__getitem__" and code is _code("os", "_Environ", "__getitem__"):
        return "os.environ"
    if code.co_name == "seed" and code is _code("random", "Random", "seed"):
        if frame.f_locals["a"] is None:
            return "random.Random() without a seed"
        if frame.f_locals["self"] is not getattr(sys.modules["random"], "_inst", None):
            generators.append(frame.f_locals["self"])
    return None


def _code(module: str, kind: str, method: str) -> CodeType | None:
    owner = getattr(sys.modules.get(module), kind, None)
    code = getattr(getattr(owner, method, None), "__code__", None)
    return code if isinstance(code, CodeType) else None
