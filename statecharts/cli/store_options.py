"""The options that the store's commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from ..errors import UsageError
from .typed import read_value

Command = Callable[..., Any]
URL_MISSING = "which store? Give --url sqlite:///file.db or postgresql://host/name, or set STATECHARTS_URL"


@dataclass(frozen=True)
class Target:
    """Which store, whose instances, and how to answer."""

    url: str
    app: str | None = None
    namespace: str = "default"
    as_json: bool = False


def url_option(command: Command) -> Command:
    """``--url``."""
    return click.option(
        "--url", metavar="URL", envvar="STATECHARTS_URL", help="The store: sqlite:///file.db or postgresql://…"
    )(command)


def json_option(command: Command) -> Command:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")(command)


def store_options(command: Command) -> Command:
    """``--url``, ``--app``, ``--namespace`` and ``--json``, handed over as a :class:`Target`."""

    @url_option
    @click.option("--app", metavar="MODULE:OBJECT", help="The machines: a Machine, a list, or a function that returns them.")
    @click.option("--namespace", metavar="NS", default="default", show_default=True, help="Whose instances.")
    @json_option
    @wraps(command)
    def call(*, url: str | None, app: str | None, namespace: str, as_json: bool, **given: Any) -> Any:
        return command(Target(required_url(url), app, namespace, as_json), **given)

    return call


def required_url(url: str | None) -> str:
    """``url``, or a message that says how to give one."""
    if not url:
        raise click.UsageError(URL_MISSING)
    return url


def order_options(command: Command) -> Command:
    """Who does it, and why: in the log for ever, so nobody may leave it out."""
    command = click.option("--reason", metavar="TEXT", required=True, help="Why; it is kept in the log.")(command)
    return click.option("--actor", metavar="WHO", required=True, help="Who does this; it is kept in the log.")(command)


def limit_option(default: int) -> Callable[[Command], Command]:
    """``--limit``."""
    return click.option(
        "--limit", type=click.IntRange(min=1), default=default, show_default=True, help="At most so many."
    )


def json_value(_context: Any, parameter: Any, value: str | None) -> Any:
    """A click callback that reads JSON; ``None`` when the option is not there; what is there comes as :class:`Given`."""
    if value is None:
        return None
    try:
        return Given(read_value(value))
    except UsageError as error:
        raise click.UsageError(f"{parameter.opts[0]}: {error}") from None


@dataclass(frozen=True)
class Given:
    """A value that was given, be it ``null``."""

    value: Any
