"""The click application: commands, exit codes, and what a person sees when something fails."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from .._version import __version__
from ..build import description
from ..errors import DefinitionError, StatechartError
from .convert import convert
from .problem_lines import problem_lines
from .run import run
from .store import store
from .terminal import make_safe, say_error
from .upgrade import upgrade
from .validate import validate

PROBLEMS, USAGE, INTERRUPTED = 1, 2, 130
_EXITS = "Exit status: 0 fine, 1 problems were found, 2 wrong usage or an unreadable file, 130 interrupted."


class Application(click.Group):
    """A group whose errors end in one line and an exit code, never in a traceback."""

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,
    ) -> NoReturn:
        """Run and exit."""
        extra.pop("standalone_mode", None)
        make_safe(sys.stdout)
        make_safe(sys.stderr)
        sys.exit(self._run(args, prog_name, extra))

    def _run(self, args: Sequence[str] | None, prog_name: str | None, extra: dict[str, Any]) -> int:
        try:
            code = super().main(args, prog_name, standalone_mode=False, **extra)
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except click.Abort:
            return INTERRUPTED
        except DefinitionError as error:
            for line in problem_lines(error.problems):
                say_error(line, prefix=False)
            return PROBLEMS
        except StatechartError as error:
            say_error(str(error))
            return USAGE
        return code if isinstance(code, int) else 0


@click.group(
    cls=Application,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EXITS,
)
@click.version_option(__version__, message=f"statecharts %(version)s ({description()})")
def application() -> None:
    """Check, convert and run statecharts: XState JSON, SCXML, sismic YAML; look after those in a store."""


application.add_command(validate)
application.add_command(upgrade)
application.add_command(convert)
application.add_command(run)
application.add_command(store)
