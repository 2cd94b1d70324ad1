"""``statecharts run``: play with a machine at a prompt, or let a script do it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ..machine import Machine
from ..values import UNDEFINED
from .durations import parse_duration
from .files import STDIN, read_json_file, shown_name
from .guard_answers import GuardAnswers
from .line_source import Asker, LineSource, Pipe, Terminal
from .loading import ACTOR_KINDS, implementations_from, load, require_unbound, with_stand_ins
from .outputs import JsonOutput, Output, TextOutput
from .problem_lines import counted
from .prompt import Prompt, save, words
from .recording_clock import CLOCKS
from .script import run_all
from .session import Session
from .steps_file import Scenario, read_steps
from .terminal import say_error
from .typed import read_value


@dataclass(frozen=True)
class _Options:
    """What was said on the command line, read."""

    file: str
    app: str | None
    impl: str | None
    steps: str | None
    input: Any
    snapshot: str | None
    save: str | None
    clock: str
    guards: dict[str, bool]
    delays: dict[str, float]
    actors: dict[str, str]
    loose: bool
    trusted: bool


def _pair(text: str, option: str, what: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise click.UsageError(f"{option} is NAME={what}, not {text!r}")
    return name, value


def _guards(_context: Any, _parameter: Any, values: tuple[str, ...]) -> dict[str, bool]:
    found = {}
    for name, value in (_pair(text, "--guard", "true|false") for text in values):
        if value not in ("true", "false"):
            raise click.UsageError(f"--guard {name} is true or false, not {value!r}")
        found[name] = value == "true"
    return found


def _delays(_context: Any, _parameter: Any, values: tuple[str, ...]) -> dict[str, float]:
    return {name: parse_duration(span) for name, span in (_pair(text, "--delay", "10s") for text in values)}


def _actors(_context: Any, _parameter: Any, values: tuple[str, ...]) -> dict[str, str]:
    found = dict(_pair(text, "--actor", "|".join(ACTOR_KINDS)) for text in values)
    for name, kind in found.items():
        if kind not in ACTOR_KINDS:
            raise click.UsageError(f"--actor {name} is one of {', '.join(ACTOR_KINDS)}, not {kind!r}")
    return found


def _json(_context: Any, _parameter: Any, value: str | None) -> Any:
    return UNDEFINED if value is None else read_value(value)


@click.command(
    short_help="Run a machine at a prompt or from a steps file.",
    epilog="At the prompt, :help lists the commands. Names that nobody bound are stubbed.",
)
@click.argument("file", metavar="FILE")
@click.option(
    "--app", metavar="MODULE:OBJECT", help="Implementations (or a Machine) in an importable module."
)
@click.option(
    "--impl", metavar="PATH.PY", help="Implementations in a Python file (PATH.PY:NAME if it has several)."
)
@click.option("--steps", metavar="FILE", help="Run a steps file instead of the prompt; - for standard input.")
@click.option("--input", "input_", metavar="JSON", callback=_json, help="The machine's input.")
@click.option("--snapshot", metavar="FILE", help="Go on from a saved snapshot, ours or XState's.")
@click.option("--save", "save_to", metavar="FILE", help="Save a snapshot at the end.")
@click.option("--clock", type=click.Choice(list(CLOCKS)), default="exact", show_default=True,
              help="Each timer at its own time, or XState's SimulatedClock.")  # fmt: skip
@click.option(
    "--guard",
    "guards",
    metavar="NAME=BOOL",
    multiple=True,
    callback=_guards,
    help="Answer for an unbound guard.",
)
@click.option(
    "--delay",
    "delays",
    metavar="NAME=SPAN",
    multiple=True,
    callback=_delays,
    help="Length of an unbound delay.",
)
@click.option("--actor", "actors", metavar="NAME=KIND", multiple=True, callback=_actors,
              help="What an unbound actor is: promise (default), observable, event-observable, callback.")  # fmt: skip
@click.option("--loose", is_flag=True, help="Read and behave as XState does, without our corrections.")
@click.option("--trusted", is_flag=True, help="Let the Python in a sismic chart run.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per step.")
@click.option("--no-color", is_flag=True, help="No colours, even on a terminal.")
def run(*, input_: Any, save_to: str | None, as_json: bool, no_color: bool, **given: Any) -> int:
    """Run a machine on a virtual clock."""
    options = _Options(input=input_, save=save_to, **given)
    if options.app is not None and options.impl is not None:
        raise click.UsageError("choose one of --app and --impl")
    if options.file == STDIN and options.steps in (None, STDIN):
        raise click.UsageError(
            "standard input cannot be the machine and the steps; name a file for one of them"
        )
    if options.snapshot is not None and options.input is not UNDEFINED:
        raise click.UsageError("a snapshot has had its input; leave out --input or --snapshot")
    output: Output = JsonOutput() if as_json else TextOutput(no_color=no_color)
    machine = _machine(options)
    snapshot = None if options.snapshot is None else read_json_file(options.snapshot)
    scenarios = (
        None
        if options.steps is None
        else read_steps(read_json_file(options.steps), shown_name(options.steps))
    )
    missing = [one for one in machine.missing if one.kind != "guard" or one.name not in options.guards]
    output.welcome(machine, missing, _hint(options, machine))
    if scenarios is None:
        return _run_prompt(options, machine, snapshot, output)
    return _run_script(options, machine, snapshot, scenarios, output)


def _machine(options: _Options) -> Machine[Any, Any]:
    bound = implementations_from(options.app, options.impl)
    machine = load(options.file, bound, loose=options.loose, warn=say_error, trusted=options.trusted)
    for name in options.guards:
        require_unbound(machine, "guard", name)
    return with_stand_ins(machine, options.delays, options.actors)


def _hint(options: _Options, machine: Machine[Any, Any]) -> str | None:
    """Python that lies beside the file is not run unasked, only pointed at."""
    beside = Path(options.file).with_name("implementations.py")
    if (
        machine.missing
        and options.app is None
        and options.impl is None
        and options.file != STDIN
        and beside.is_file()
    ):
        return f"there is Python beside it: --impl {beside}"
    return None


def _run_script(
    options: _Options, machine: Machine[Any, Any], snapshot: Any, scenarios: list[Scenario], output: Output
) -> int:
    def start(scenario: Scenario) -> Session:
        given = scenario.input if options.input is UNDEFINED and snapshot is None else options.input
        answers = GuardAnswers(options.guards)
        return Session(machine, answers, input=given, snapshot=snapshot, clock=options.clock)

    failed, session = run_all(scenarios, start, output)
    steps = counted(sum(len(scenario.steps) for scenario in scenarios), "step")
    if failed:
        output.say(f"{failed} of {len(scenarios)} failed")
    else:
        output.say(f"{steps}, everything as expected")
    _save(options, session)
    return 1 if failed else 0


def _run_prompt(options: _Options, machine: Machine[Any, Any], snapshot: Any, output: Output) -> int:
    sessions: list[Session] = []
    is_person = sys.stdin.isatty() and sys.stdout.isatty()
    source: LineSource = Terminal(lambda: words(sessions[0]) if sessions else []) if is_person else Pipe()
    answers = GuardAnswers(options.guards)
    answers.ask = Asker(source, output.echo, answers.fixed)
    session = Session(machine, answers, input=options.input, snapshot=snapshot, clock=options.clock)
    sessions.append(session)
    output.step(session.first)
    code = Prompt(session, output, source).run()
    _save(options, session)
    return code


def _save(options: _Options, session: Session) -> None:
    if options.save is not None:
        save(session, options.save)
