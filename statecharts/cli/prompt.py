"""The prompt: one line, one thing done. Lines from a pipe are echoed, so that a log reads like a dialogue."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from ..errors import StatechartError, UsageError
from ..events import descriptor_matches
from ..validation.nearest import nearest
from .doings import SEND, Doing
from .files import read_json_file, write_text
from .guard_answers import UnansweredGuard
from .line_source import LineSource
from .outputs import Output
from .session import Session
from .typed import DOING_COMMANDS, read_doing, split_word

QUERIES = (":state", ":context", ":events", ":children", ":timers")
HELP = """\
EVENT                        send an event; data as key=value … or as a JSON object
{"type": "EVENT", …}         send an event the machine may not know
:resolve ID [JSON]           a waiting promise ends well      :reject ID [JSON]      or badly
:feed ID JSON                an observable yields a value     :complete ID           and ends
:break-off ID [JSON]         an observable ends badly         :run ID                call the bound actor
:send-back ID EVENT …        a callback sends to its parent   :send-to ID EVENT …    an event for a child
:advance 10s|500ms|1000      let time pass                    :settle                until nothing is due
:stop                        stop the machine
:state  :context  :events  :children  :timers                 look at the present
:guard NAME true|false|ask   answer for a guard nobody bound
:save FILE  :load FILE       keep and take up a snapshot      :undo                  take the last step back
:help  :quit"""


class Prompt:
    """Reads lines until the end and does what they say."""

    def __init__(self, session: Session, output: Output, source: LineSource) -> None:
        self.session = session
        self.output = output
        self.source = source
        self.mistakes = 0
        self._commands: dict[str, Callable[[str], None]] = {
            ":guard": self._guard,
            ":save": self._save,
            ":load": self._load,
            ":undo": self._undo,
            ":help": self._help,
        }

    def run(self) -> int:
        """Read to the end. 0, or 1 when a line from a pipe could not be done."""
        while (line := self.source.line()) is not None:
            text = line.strip()
            if not self.source.is_person and text:
                self.output.echo(text)
            if text in (":quit", ":q"):
                break
            if text and not text.startswith("#"):
                self._try(text)
        return 1 if self.mistakes and not self.source.is_person else 0

    def _try(self, text: str) -> None:
        try:
            self._do(text)
        except UnansweredGuard as error:
            self._mistake(f"{error}, or :guard {error.name} true. Nothing was done")
        except StatechartError as error:
            self._mistake(str(error))

    def _mistake(self, message: str) -> None:
        self.mistakes += 1
        self.output.error(message)

    def _do(self, text: str) -> None:
        command, rest = split_word(text)
        if command in QUERIES:
            self.output.query(command[1:], self.session.now())
        elif command in self._commands:
            self._commands[command](rest)
        elif command.startswith(":") and command not in DOING_COMMANDS:
            raise UsageError(unknown_command(command))
        else:
            doing = read_doing(text)
            if doing.verb == SEND and not text.startswith("{"):
                self._require_known(doing)
            self.output.step(self.session.do(doing))

    def _require_known(self, doing: Doing) -> None:
        kind = doing.value["type"]
        known = list(dict.fromkeys(descriptors(self.session)))
        if any(descriptor_matches(kind, descriptor) for descriptor in known):
            return
        words = [f":{word}" for word in ("help", "quit")]
        near = nearest(kind, [*known, *words])
        listed = ", ".join(name for name in known if not name.startswith("xstate.")) or "none"
        hint = f"did you mean {near}?" if near else f"events of this machine: {listed}; :help lists commands"
        raise UsageError(f"nothing in this machine handles {kind!r}; {hint}")

    # ------------------------------------------------------------ commands

    def _guard(self, rest: str) -> None:
        name, _, answer = rest.rpartition(" ")
        name = name.strip()
        unbound = [missing.name for missing in self.session.machine.missing if missing.kind == "guard"]
        if answer not in ("true", "false", "ask") or not name:
            raise UsageError("write :guard NAME true, :guard NAME false, or :guard NAME ask")
        if name not in unbound:
            near = nearest(name, unbound)
            hint = f"did you mean {near}?" if near else f"unbound guards: {', '.join(unbound) or 'none'}"
            raise UsageError(f"{name!r} is not a guard that waits for an answer; {hint}")
        self.session.answers.fixed.pop(name, None)
        if answer != "ask":
            self.session.answers.fixed[name] = answer == "true"
        self.output.say(f"{name}: {answer}")
        self.output.query("events", self.session.now())

    def _save(self, rest: str) -> None:
        if not rest:
            raise UsageError("write :save FILE")
        save(self.session, rest)
        self.output.say(f"saved to {rest}")

    def _load(self, rest: str) -> None:
        if not rest:
            raise UsageError("write :load FILE")
        self.output.step(self.session.load(read_json_file(rest)))

    def _undo(self, rest: str) -> None:
        if rest:
            raise UsageError(":undo takes the last step back and nothing else")
        self.output.step(self.session.undo())

    def _help(self, _rest: str) -> None:
        self.output.say(HELP)


COMMANDS = (*QUERIES, *DOING_COMMANDS, ":guard", ":save", ":load", ":undo", ":help", ":quit")


def unknown_command(command: str) -> str:
    """A sentence with the nearest command."""
    near = nearest(command, COMMANDS)
    return f"there is no command {command}; " + (
        f"did you mean {near}?" if near else ":help lists the commands"
    )


def descriptors(session: Session) -> Iterator[str]:
    """Every event descriptor of the machine, in document order."""
    for node in session.machine.definition.nodes:
        yield from node.transitions


def words(session: Session) -> list[str]:
    """What the tab key completes: events that are named now, then commands, then actors."""
    events = [option.type for option in session.options()]
    return [*events, *COMMANDS, *(one.path for one in session.simulation.waiting)]


def save(session: Session, name: str) -> None:
    """Write the whole run as a snapshot file."""
    write_text(name, json.dumps(session.simulation.save(), indent=2, ensure_ascii=False) + "\n")
