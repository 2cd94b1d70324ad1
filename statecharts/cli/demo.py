"""The demonstration: a day at the support desk, told step by step. ``python -m statecharts.cli.demo``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from . import say_missing

if TYPE_CHECKING:
    from .day import Day, Played


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Play the day and exit: 0 as expected, 1 not, 2 nothing to play, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        from ..errors import StatechartError
        from .terminal import make_safe, say_error
    except ModuleNotFoundError as error:
        say_missing(error)
    if len(given) > 1 or any(argument.startswith("-") for argument in given):
        asked = given in (["-h"], ["--help"])
        stream = sys.stdout if asked else sys.stderr
        stream.write("usage: python -m statecharts.cli.demo [DAY.JSON]\n")
        sys.exit(0 if asked else 2)
    make_safe(sys.stdout)
    try:
        code = _play(Path(given[0]) if given else None)
    except StatechartError as error:
        say_error(str(error))
        code = 2
    except BrokenPipeError:  # the reader has seen enough
        sys.stdout = None
        code = 1
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        code = 130
    sys.exit(code)


def _play(path: Path | None) -> int:
    from .day import Played, find_day, load_day, play_step
    from .day_view import DayView
    from .guard_answers import GuardAnswers
    from .session import Session
    from .terminal import make_console

    day = load_day(find_day() if path is None else path)
    view = DayView(make_console())
    view.opening(day)
    played: list[Played] = []
    for ticket in day.tickets:
        view.ticket(ticket.name or "")
        one = Played(ticket, Session(day.machine, GuardAnswers(), input=ticket.input))
        played.append(one)
        for step in ticket.steps:
            report, wrong = play_step(one, step)
            view.step(step.say, report, wrong)
            if wrong:
                break
    return _close(day, played, view)


def _close(day: Day, played: list[Played], view: object) -> int:
    from .day_view import DayView

    assert isinstance(view, DayView)
    view.outcomes(played)
    return 0 if all(one.is_as_expected for one in played) else 1


if __name__ == "__main__":
    main()
