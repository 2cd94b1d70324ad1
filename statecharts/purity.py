"""Pure mode: hold guards and updates to what a replay needs.

A guard or update must give the same answer for the same context and event,
and change nothing. In pure mode each is evaluated twice and the answers are
compared, and while it runs these are refused:

* I/O (files, sockets, processes, threads, printing): an audit hook and, for
  objects that were opened earlier, the profiler;
* clocks and randomness (``time``, ``datetime.now``, ``random``,
  ``os.urandom``, hence ``uuid4`` and ``secrets``): no audit event tells of
  them, but the profiler sees every call of a C function;
* reading ``os.environ``;
* changing what it was given, which is frozen.

``random.Random(seed)`` made inside the function is fine. Not seen: reading
and changing globals (unless the second answer differs because of it), the
order of a set of strings (it differs between processes), and what C
extensions do inside.

Nothing is installed until the first :func:`run_pure`; from then on the audit
hook (hooks cannot be removed) costs one context variable a audit event.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, Final, NoReturn, ParamSpec, TypeVar, cast

from . import values
from .errors import PurityError
from .purity_rules import audit_reason, c_call_reason, python_call_reason
from .values import freeze

T = TypeVar("T")
P = ParamSpec("P")

_ADVICE: Final = (
    "A guard or update depends on context, event and params only. Pass the value in the event, "
    "or move the work into an action or an invoked actor."
)


def run_pure(function: Callable[..., T], name: str, *args: Any) -> T:
    """Evaluate ``function(*args)`` twice under watch and return the first answer.

    ``name`` is how the machine calls the function; messages use it. Dicts and
    lists among ``args`` are deep-frozen first. An exception raised by both
    evaluations alike propagates unchanged.

    Raises :class:`PurityError` naming the function and what it did. Nests;
    safe under threads; a profiler that was set before is set again after.
    """
    _install_audit_hook()
    frozen = [freeze(value) if isinstance(value, (dict, list)) else value for value in args]
    first = _Evaluation.of(function, name, frozen)
    second = _Evaluation.of(function, name, frozen)
    if first.error is not None and second.error is not None:
        if type(first.error) is type(second.error) and _same(first.error.args, second.error.args):
            raise first.error
    elif first.error is None and second.error is None and _same(first.answer, second.answer):
        return cast(T, first.answer)
    raise PurityError(
        f"{name!r} answered {first} and then {second} to the same arguments; it depends on something else. {_ADVICE}",
        name=name,
    )


def pure_wrapper(function: Callable[P, T], name: str) -> Callable[P, T]:
    """``function`` with the same signature, run through :func:`run_pure` at every call."""

    @functools.wraps(function)
    def watched(*args: P.args, **kwargs: P.kwargs) -> T:
        if kwargs:
            return run_pure(lambda *given: function(*given, **kwargs), name, *args)
        return run_pure(function, name, *args)

    return watched


class _Evaluation:
    """The outcome of one watched call: an answer or an exception."""

    __slots__ = ("answer", "error")

    def __init__(self, answer: Any, error: Exception | None) -> None:
        self.answer = answer
        self.error = error

    def __str__(self) -> str:
        if self.error is not None:
            return f"with {type(self.error).__name__}({self.error})"
        text = repr(self.answer)
        return text if len(text) <= 80 else text[:79] + "…"

    @classmethod
    def of(cls, function: Callable[..., Any], name: str, args: list[Any]) -> _Evaluation:
        """Call ``function`` in a pure section. Raises :class:`PurityError` for what the section refused."""
        section = _Section(name, _SECTION.get())
        outcome: _Evaluation
        with section:
            try:
                outcome = cls(function(*args), None)
            except Exception as error:
                outcome = cls(None, error)
        if isinstance(outcome.error, PurityError):
            raise outcome.error
        if section.refused is not None:  # the function caught the refusal; it is one all the same
            section.refuse(section.refused)
        if outcome.error is not None and _tried_to_mutate(outcome.error.__traceback__):
            raise PurityError(
                f"{name!r} changed what it was given: {outcome.error}. {_ADVICE}", name=name
            ) from outcome.error
        return outcome


_INSTALLING: Final = threading.RLock()
_ATTEMPTS: Final = 10_000


def _set_profile(function: Callable[[FrameType, str, Any], None] | None) -> None:
    """``sys.setprofile``, one thread at a time: CPython 3.11 refuses two that meet in an audit hook.

    Other tools do not take our lock; when one of them is at it, we try again.
    """
    with _INSTALLING:
        attempts = 0
        while True:
            try:
                sys.setprofile(function)
                return
            except RuntimeError:
                attempts += 1
                if attempts == _ATTEMPTS:
                    raise


class _Section:
    """The stretch of one thread in which ``name`` is being watched."""

    __slots__ = ("_generators", "_name", "_outer", "_previous", "_token", "refused")

    def __init__(self, name: str, outer: _Section | None) -> None:
        self._name = name
        self._outer = outer
        self._generators: list[object] = []
        self.refused: str | None = None

    def __enter__(self) -> None:
        self._token = _SECTION.set(self)
        self._previous: Any = sys.getprofile()
        try:
            _set_profile(self._watch)
        except BaseException:  # the section has not begun: the audit hook must not watch on
            _SECTION.reset(self._token)
            raise

    def __exit__(self, *_exc: object) -> None:
        try:
            _set_profile(None)
        finally:
            _SECTION.reset(self._token)
        if callable(self._previous):
            _set_profile(self._previous)
        elif self._previous is not None:  # cProfile's object before Python 3.12: a profiler, not a function
            self._previous.enable()

    def refuse(self, what: str) -> NoReturn:
        section: _Section | None = self
        while section is not None:
            section.refused = what
            section = section._outer
        raise PurityError(f"{self._name!r} {what}. {_ADVICE}", name=self._name)

    def _watch(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call":
            reason = c_call_reason(arg, self._generators)
        elif event == "call":
            reason = python_call_reason(frame, self._generators)
        else:
            return
        if reason is not None and not _is_importing(frame):
            self.refuse(_described(reason, frame if event == "c_call" else frame.f_back))


_SECTION: ContextVar[_Section | None] = ContextVar("statecharts_pure_section", default=None)


def _audit(event: str, _args: tuple[Any, ...]) -> None:
    section = _SECTION.get()
    if section is not None:
        reason = audit_reason(event)
        if reason is not None:
            frame = sys._getframe(1)
            if not _is_importing(frame):
                section.refuse(_described(reason, frame))


@functools.lru_cache(maxsize=1)
def _install_audit_hook() -> None:
    sys.addaudithook(_audit)


def _described(called: str, frame: FrameType | None) -> str:
    """``called``, preceded by the standard library function through which it was reached (``uuid.uuid4``)."""
    through: FrameType | None = None
    while (
        frame is not None
        and str(frame.f_globals.get("__name__")).partition(".")[0] in sys.stdlib_module_names
    ):
        through = frame
        frame = frame.f_back
    if through is None:
        return f"called {called}"
    return f"called {through.f_globals['__name__']}.{through.f_code.co_qualname} ({called})"


def _is_importing(frame: FrameType | None) -> bool:
    """Whether an import statement is at work: it reads files, but only the first time, and the same ones."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


_REFUSE_CODE: Final[CodeType] = values._refuse.__code__


def _tried_to_mutate(trace: TracebackType | None) -> bool:
    last = None
    while trace is not None:
        last, trace = trace, trace.tb_next
    return last is not None and last.tb_frame.f_code is _REFUSE_CODE


def _same(left: Any, right: Any) -> bool:
    """Deep equality in which ``1``, ``1.0`` and ``True`` are three values and NaN equals itself.

    Actions and guards made by their creators are compared by their parts,
    functions made on the spot by code and what they hold.
    """
    if left is right:
        return True
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    if type(left) is not type(right):
        return False
    if isinstance(left, FunctionType):
        return left.__code__ is right.__code__ and _same(_held(left), _held(right))
    if is_dataclass(left) and type(left).__eq__ is object.__eq__:
        return all(_same(getattr(left, part.name), getattr(right, part.name)) for part in fields(left))
    return bool(left == right) or (left != left and right != right)


def _held(function: FunctionType) -> list[Any]:
    """What a function brings with it: defaults and the variables it closes over."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [function.__defaults__ or (), function.__kwdefaults__ or {}, cells]
