"""Pure mode: what it refuses, what it lets through, and that it leaves no trace."""
# ruff: noqa: SIM115
# Each lambda stands for a user's function that makes the call.

from __future__ import annotations

import contextlib
import cProfile
import datetime
import inspect
import io
import json
import logging
import math
import os
import random
import secrets
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from statecharts import purity
from statecharts.errors import PurityError
from statecharts.purity import pure_wrapper, run_pure
from statecharts.purity_rules import audit_reason, c_call_reason, python_call_reason
from statecharts.values import UNDEFINED, freeze

HERE = Path(__file__)


def refusal(function: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(PurityError) as caught:
        run_pure(function, "mine", *args)
    message = str(caught.value)
    assert "'mine'" in message
    assert "event" in message and "action" in message, "says what to do"
    assert caught.value.name == "mine"
    return message


# --- refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda: open(HERE), "open"),
        (lambda: HERE.read_text(), "open"),
        (lambda: HERE.exists(), "os.stat"),
        (lambda: os.listdir("."), "os.listdir"),
        (lambda: os.getpid(), "os.getpid"),
        (lambda: os.system("true"), "os.system"),
        (lambda: socket.socket(), "socket"),
        (lambda: socket.gethostname(), "socket.gethostname"),
        (lambda: subprocess.run(["true"], check=False), "subprocess"),
        (lambda: sqlite3.connect(":memory:"), "sqlite3.connect"),
        (lambda: threading.Thread(target=print).start(), "start"),
        (lambda: print("x"), "print"),
        (lambda: time.time(), "time.time"),
        (lambda: time.monotonic(), "time.monotonic"),
        (lambda: time.perf_counter_ns(), "time.perf_counter_ns"),
        (lambda: time.sleep(0), "time.sleep"),
        (lambda: time.gmtime(), "time.gmtime"),
        (lambda: datetime.datetime.now(), "datetime.datetime.now"),
        (lambda: datetime.datetime.now(datetime.UTC), "datetime.datetime.now"),
        (lambda: datetime.date.today(), "datetime.date.today"),
        (lambda: random.random(), "random.random"),
        (lambda: random.randint(1, 6), "random.Random.randint"),
        (lambda: random.choice([1, 2]), "random.Random.choice"),
        (lambda: (random.seed(1), random.random()), "random.random"),
        (lambda: random.Random().random(), "without a seed"),
        (lambda: random.SystemRandom().random(), "os.urandom"),
        (lambda: os.urandom(4), "os.urandom"),
        (lambda: uuid.uuid4(), "uuid.uuid4"),
        (lambda: secrets.token_hex(), "secrets.token_hex"),
        (lambda: secrets.randbelow(3), "secrets.randbelow"),
        (lambda: os.environ.get("HOME"), "os.environ"),
        (lambda: os.getenv("HOME"), "os.environ"),
        (lambda: logging.getLogger("x").warning("y"), "time"),
    ],
)
def test_refused(function: Callable[[], Any], words: str) -> None:
    assert words in refusal(function)


def test_things_opened_before() -> None:
    with open(HERE) as file, socket.socket() as sock, sqlite3.connect(":memory:") as database:
        assert "io.TextIOWrapper.read" in refusal(file.read)
        assert c_call_reason(file.read, []) == "io.TextIOWrapper.read"
        assert "TextIOWrapper" in refusal(lambda: file.read(3))
        assert "socket" in refusal(lambda: sock.getsockname())
        assert "sqlite3" in refusal(lambda: database.execute("select 1"))
    database.close()


def test_a_generator_made_elsewhere_is_state() -> None:
    outside = random.Random(7)
    assert "random.random" in refusal(lambda: outside.random())


def test_a_c_function_bound_directly() -> None:
    assert "time.time" in refusal(time.time)


def test_a_caught_refusal_is_still_one() -> None:
    def sly() -> float:
        try:
            return time.time()
        except Exception:
            return 0.0

    assert "time.time" in refusal(sly)


def test_the_call_is_not_made(tmp_path: Path) -> None:
    target = tmp_path / "file"

    def writes() -> None:
        target.write_text("x")

    refusal(writes)
    assert not target.exists()


def test_changing_the_context() -> None:
    def mutate(context: Any) -> bool:
        context["a"]["n"] = 2
        return True

    original = {"a": {"n": 1}}
    assert "cannot be changed" in refusal(mutate, original)
    assert "changed what it was given" in refusal(mutate, freeze(original))
    assert "changed" in refusal(lambda items: items.append(1), [1])
    assert original == {"a": {"n": 1}}


def test_another_type_error_is_the_users_own() -> None:
    with pytest.raises(TypeError, match="unsupported"):
        run_pure(lambda context: context + 1, "mine", {})


def test_a_counter_in_a_closure() -> None:
    count = 0

    def counted() -> int:
        nonlocal count
        count += 1
        return count

    message = refusal(counted)
    assert "answered 1 and then 2" in message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, True), (0, False), (1, 1.0), ({"a": 1}, {"a": 2}), ({"a": 1}, {"b": 1}), ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([1], [1, 2]), ([1], {"0": 1}), (None, UNDEFINED), ("x" * 100, "x"),
    ],
)  # fmt: skip
def test_answers_that_differ(first: Any, second: Any) -> None:
    answers = [second, first]
    assert "depends on something else" in refusal(lambda: answers.pop())


def test_exceptions_that_differ() -> None:
    answers: list[Any] = [3, ValueError("b"), KeyError("a"), ValueError("a")]

    def step() -> Any:
        answer = answers.pop()
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert "with ValueError(a) and then with KeyError('a')" in refusal(step)
    assert "with ValueError(b) and then 3" in refusal(step)


# --- let through ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (lambda: UNDEFINED, UNDEFINED),
        (lambda: {"a": [1, freeze({"b": 2})]}, {"a": [1, {"b": 2}]}),
        (lambda: random.Random(7).random(), random.Random(7).random()),
        (lambda: random.Random("seed").randint(1, 6), random.Random("seed").randint(1, 6)),
        (lambda: os.path.join("a", "b"), os.path.join("a", "b")),
        (lambda: str(Path("a") / "b"), str(Path("a") / "b")),
        (lambda: datetime.datetime.fromisoformat("2020-01-01").year, 2020),
        (lambda: time.strptime("2020", "%Y").tm_year, 2020),
        (lambda: io.StringIO("x").read(), "x"),
        (lambda: sorted({3, 1, 2}, key=lambda n: -n), [3, 2, 1]),
        (lambda: uuid.uuid5(uuid.NAMESPACE_URL, "x").version, 5),
    ],
)
def test_pure_functions_pass(function: Callable[[], Any], answer: Any) -> None:
    assert run_pure(function, "mine") == answer


def test_nan_equals_itself_here() -> None:
    assert math.isnan(run_pure(lambda: float("nan"), "mine"))


def test_an_import_inside_is_not_io() -> None:
    def lazy() -> str:
        import colorsys

        return colorsys.__name__

    sys.modules.pop("colorsys", None)
    assert run_pure(lazy, "mine") == "colorsys"


def test_an_exception_propagates_unchanged() -> None:
    def fails(context: Any) -> None:
        raise LookupError("gone", context["a"])

    with pytest.raises(LookupError) as caught:
        run_pure(fails, "mine", {"a": 1})
    assert caught.value.args == ("gone", 1)
    assert "fails" in [entry.name for entry in caught.traceback]


def test_interrupts_are_not_held_up() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_pure(interrupted, "mine")
    assert sys.getprofile() is None


def test_evaluated_exactly_twice() -> None:
    calls: list[int] = []
    run_pure(lambda: calls.append(1), "mine")
    assert len(calls) == 2


# --- no trace ---------------------------------------------------------------------------------------


def test_outside_a_pure_section_nothing_is_refused() -> None:
    run_pure(lambda: 1, "mine")
    assert sys.getprofile() is None
    time.time()
    random.random()
    HERE.read_text()


def test_the_profiler_of_before_is_set_again() -> None:
    seen: list[str] = []

    def profiler(_frame: Any, event: str, _arg: Any) -> None:
        seen.append(event)

    sys.setprofile(profiler)
    try:
        run_pure(lambda: 1, "mine")
        with pytest.raises(PurityError):
            run_pure(time.time, "mine")
        assert sys.getprofile() is profiler
        before = len(seen)
        len("x")
        assert len(seen) > before
    finally:
        sys.setprofile(None)


def test_under_cprofile() -> None:
    profile = cProfile.Profile()
    profile.enable()
    run_pure(lambda: 1, "mine")
    math.factorial(5)
    profile.disable()
    assert any("factorial" in str(entry.code) for entry in profile.getstats())


def test_sections_nest() -> None:
    def outer() -> int:
        inner = run_pure(lambda: 20, "inner")
        return inner + 1

    assert run_pure(outer, "outer") == 21

    def bad_outer() -> float:
        run_pure(lambda: 20, "inner")
        return time.time()

    assert "'mine'" in refusal(bad_outer), "the outer section watches again after the inner one"

    def bad_inner() -> float:
        return run_pure(time.time, "inner")

    with pytest.raises(PurityError, match=r"'inner' called time\.time"):
        run_pure(bad_inner, "outer")

    def swallows() -> int:
        with contextlib.suppress(PurityError):
            run_pure(time.time, "inner")
        return 1

    assert "time.time" in refusal(swallows)


def test_threads_do_not_disturb_one_another() -> None:
    stop = threading.Event()
    faults: list[BaseException] = []

    def impure_work() -> None:
        try:
            while not stop.is_set():
                time.time()
                random.random()
                os.stat(HERE)
        except BaseException as error:
            faults.append(error)

    def pure_work() -> None:
        try:
            for turn in range(150):
                assert run_pure(lambda turn=turn: [turn, turn * 2], "mine") == [turn, turn * 2]
                with pytest.raises(PurityError):
                    run_pure(time.time, "mine")
        except BaseException as error:
            faults.append(error)

    impure = threading.Thread(target=impure_work)
    pure = [threading.Thread(target=pure_work) for _ in range(4)]
    impure.start()
    for thread in pure:
        thread.start()
    for thread in pure:
        thread.join()
    stop.set()
    impure.join()
    assert faults == []


def test_importing_the_module_installs_nothing() -> None:
    code = (
        "import sys\n"
        "installed = []\n"
        "sys.addaudithook(lambda event, args: installed.append(event) if event == 'sys.addaudithook' else None)\n"
        "import statecharts.purity as p\n"
        "before = len(installed); p.run_pure(int, 'n'); p.run_pure(int, 'n')\n"
        "print(before, len(installed), [m for m in ('random', 'uuid', 'asyncio', 'sqlite3') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0 1 []"


# --- the rules, called directly (a coverage tool does not see inside profilers and audit hooks) ------


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (time.time, "time.time"),
        (time.strptime, None),
        (os.stat, "os.stat"),
        (os.fspath, None),
        (print, "print"),
        (len, None),
        (open, "io.open"),
        (datetime.datetime.now, "datetime.datetime.now"),
        (datetime.datetime.fromisoformat, None),
        (random.random, "random.random"),
        (random.Random(1).getrandbits, "random.getrandbits"),
        (io.StringIO().write, None),
        ([].append, None),
        (lambda: 1, None),
    ],
)
def test_c_call_rules(function: Any, reason: str | None) -> None:
    found = c_call_reason(function, [])
    assert found is None if reason is None else str(found).startswith(reason)


def test_a_generator_seeded_here_may_be_drawn_from() -> None:
    made = random.Random(3)
    assert c_call_reason(made.random, [object(), made]) is None


def test_python_call_rules() -> None:
    frames: list[Any] = []

    def record(frame: Any, event: str, _arg: Any) -> None:
        if event == "call":
            frames.append((python_call_reason(frame, generators), frame.f_code.co_name))

    generators: list[object] = []
    held = sys.getprofile()
    sys.setprofile(record)
    try:
        os.environ.get("HOME")
        random.Random(3)
        random.Random()
        state = random.getstate()
        random.seed(1)
        random.setstate(state)
    finally:
        sys.setprofile(held)
    reasons = [reason for reason, _ in frames if reason]
    assert reasons == ["os.environ", "random.Random() without a seed"]
    assert len(generators) == 1, "the shared generator is never allowed"


class _Frame:
    """As much of a frame as the rules for Python functions look at."""

    def __init__(self, function: Any, variables: dict[str, Any]) -> None:
        self.f_code = function.__code__
        self.f_locals = variables


def test_python_call_rules_on_frames() -> None:
    generators: list[object] = []
    made = random.Random(1)
    environ = _Frame(type(os.environ).__getitem__, {})
    assert python_call_reason(environ, generators) == "os.environ"  # type: ignore[arg-type]
    for variables, reason in (
        ({"self": made, "a": 1}, None),
        ({"self": made, "a": None}, "random.Random() without a seed"),
        ({"self": random._inst, "a": 1}, None),
    ):
        assert python_call_reason(_Frame(random.Random.seed, variables), generators) == reason  # type: ignore[arg-type]
    assert generators == [made]
    assert python_call_reason(_Frame(refusal, {}), generators) is None  # type: ignore[arg-type]


def test_audit_rules() -> None:
    assert audit_reason("open") == "open"
    assert audit_reason("socket.connect") == "socket.connect"
    assert audit_reason("compile") is None


def test_watching_and_auditing_directly() -> None:
    section = purity._Section("mine", None)
    frame = sys._getframe()
    section._watch(frame, "return", None)
    section._watch(frame, "call", None)
    section._watch(frame, "c_call", len)
    with pytest.raises(PurityError, match=r"called time\.time"):
        section._watch(frame, "c_call", time.time)
    assert section.refused == "called time.time"
    purity._audit("open", ())
    token = purity._SECTION.set(section)
    try:
        purity._audit("compile", ())
        with pytest.raises(PurityError, match="called open"):
            purity._audit("open", ())
    finally:
        purity._SECTION.reset(token)


def test_what_is_described() -> None:
    assert purity._described("x", None) == "called x"
    assert purity._described("x", sys._getframe()) == "called x"

    class Encoder(json.JSONEncoder):
        def default(self, _value: object) -> object:
            raise _Stopped(sys._getframe(1))

    with pytest.raises(_Stopped) as caught:
        json.dumps([object()], cls=Encoder, indent=1)
    library = caught.value.frame
    assert purity._described("x", library).startswith("called json.")
    assert not purity._is_importing(library)


class _Stopped(Exception):
    def __init__(self, frame: Any) -> None:
        super().__init__("stopped")
        self.frame = frame


def test_importing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        def find_spec(self, name: str, *_args: Any) -> None:
            if name == "nothing_of_this_name":
                seen.append(purity._is_importing(sys._getframe()))
                purity._SECTION.set(section)
                purity._audit("open", ())
                section._watch(sys._getframe(), "c_call", time.time)
                purity._SECTION.set(None)

    seen: list[bool] = []
    section = purity._Section("mine", None)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    with pytest.raises(ImportError):
        __import__("nothing_of_this_name")
    assert seen == [True]
    assert section.refused is None


# --- the wrapper ------------------------------------------------------------------------------------


def test_the_wrapper_keeps_the_signature() -> None:
    def guard(context: dict[str, int], event: object, *, limit: int = 3) -> bool:
        """Doc."""
        return context["n"] < limit

    wrapped = pure_wrapper(guard, "canRetry")
    assert inspect.signature(wrapped) == inspect.signature(guard)
    assert (wrapped.__name__, wrapped.__doc__) == ("guard", "Doc.")
    assert wrapped({"n": 1}, None) is True
    assert wrapped({"n": 1}, None, limit=1) is False
    with pytest.raises(PurityError, match=r"'now' called time\.time"):
        pure_wrapper(time.time, "now")()
