"""`statecharts store`: what the transcripts cannot show: the clock of a zone, tracebacks, signals, what is imported, and faults."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_transcripts import CHECKOUT, parse
from click.testing import CliRunner, Result

from statecharts import Limits, UsageError
from statecharts.adapters.engines.durable import opened
from statecharts.adapters.stores.sqlite import SqliteStore
from statecharts.cli import store as store_module
from statecharts.cli.application import application
from statecharts.cli.store_options import URL_MISSING
from statecharts.cli.store_times import ago, ahead, local, utc
from statecharts.cli.typed import read_pair
from statecharts.durability.rows import DEAD, InboxRow

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("store_*.txt"))
STORE = application.commands["store"]
APP = ("--app", "store_app:machines")
ORDER = ("--actor", "ops:3", "--reason", "because")


def run(*words: str, code: int = 0) -> Result:
    """A command that ends as it should."""
    result = CliRunner().invoke(application, ["store", *words], prog_name="statecharts")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.output
    return result


def lines(*words: str, code: int = 0) -> list[Any]:
    """The objects that a command writes, one a line."""
    return [json.loads(line) for line in run(*words, "--json", code=code).stdout.splitlines()]


@pytest.fixture
def made(folder: Path) -> Path:
    """A folder with an empty store."""
    run("migrate")
    return folder


def poisoned(*more: str) -> None:
    run("start", "counter", "tally", *APP)
    run("send", "tally", "ADD", "by=two", "--event-id", "bad", *more, *APP, code=1)


# ------------------------------------------------------------- completeness


def commands() -> list[str]:
    return list(store_module._PLACES)


@pytest.mark.parametrize("name", commands())
def test_every_option_of_a_command_is_in_a_transcript(name: str) -> None:
    typed = [block.command.split() for path in TRANSCRIPTS for block in parse(path.read_text("utf-8"))]
    words = {word for command in typed if command[1:3] == ["store", name] for word in command}
    assert {"store", name, "--help"} <= words
    everywhere = {word for command in typed for word in command}
    for parameter in STORE.get_command(None, name).params:  # type: ignore[attr-defined,arg-type]
        for option in parameter.opts:
            shared = option in ("--url", "--app", "--namespace", "--limit", "--after")
            untold = option in ("--traceback", "--json")  # below: what they show depends on the machine they run on
            assert not option.startswith("-") or option in (everywhere if shared else words) or untold, option


def test_nothing_of_the_runtime_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys\nfrom statecharts.cli.application import application\n"
        "try: application.main({arguments!r})\nexcept SystemExit: pass\n"
        "print(*sorted({{'sqlite3', 'asyncio', 'psycopg', 'statecharts.runtime'}} & set(sys.modules)))"
    )
    file = str(Path(__file__).parent / "files" / "light.json")
    for arguments in (["validate", file], ["--help"], ["store", "zzz"]):
        found = subprocess.run(
            [sys.executable, "-c", code.format(arguments=arguments)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )
        assert found.stdout.splitlines()[-1] == "", arguments


# -------------------------------------------------------------------- stores


def test_a_store_has_to_be_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STATECHARTS_URL")
    for words in (["list"], ["migrate"]):
        assert URL_MISSING in run(*words, code=2).stderr
    run("migrate", "--url", "sqlite:///other.db")
    assert Path("other.db").is_file()


def test_no_other_command_makes_a_file(folder: Path) -> None:
    for words in (["list"], ["show", "x"], ["start", "counter", "x", *APP], ["work", "--once", *APP], ["migrate", "--sql"]):
        run(*words, code=0 if words[0] == "migrate" else 2)
        assert not Path("support.db").exists(), words


def test_no_other_command_changes_the_schema(folder: Path) -> None:
    sqlite3.connect("support.db").close()
    assert "schema 0, this release needs 1; run `statecharts store migrate`" in run("list", code=2).stderr
    run("migrate")
    run("list")


def test_the_printed_statements_make_the_same_schema(made: Path) -> None:
    script = run("migrate", "--sql", "--url", "sqlite:///by_hand.db").stdout
    with sqlite3.connect("by_hand.db") as connection:
        connection.executescript(script)
    schemas = []
    for name in ("support.db", "by_hand.db"):
        with sqlite3.connect(name) as connection:
            schema = connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
            meta = connection.execute("SELECT name, value FROM meta ORDER BY name").fetchall()
            schemas.append((schema, meta, connection.execute("PRAGMA application_id").fetchone()))
    assert schemas[0] == schemas[1]
    run("list", "--url", "sqlite:///by_hand.db")
    assert run("migrate", "--url", "sqlite:///by_hand.db").stdout == "the schema is up to date (1)\n"


def test_a_queue_that_is_full_is_a_problem_not_a_mistake(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("start", "counter", "tally", *APP)
    monkeypatch.setattr(opened, "Limits", lambda: Limits(queue=1))
    run("send", "tally", "RING")
    assert "which is the limit; send again later" in run("send", "tally", "RING", code=1).stderr


# ------------------------------------------------------------- dead letters


def test_tracebacks(made: Path) -> None:
    poisoned("--actor", "user:1")
    shown = run("dead", "--traceback").stdout
    assert "    Traceback (most recent call last):" in shown and "    TypeError: unsupported operand" in shown
    (letter,) = lines("dead", "tally")
    assert letter.pop("traceback").startswith("Traceback (most recent call last):")
    assert letter == {
        "instance": "tally",
        "eventId": "bad",
        "kind": "event",
        "event": {"type": "ADD", "by": "two"},
        "target": None,
        "actor": "user:1",
        "receivedAt": "2027-01-15T08:00:20.000Z",
        "diedAt": "2027-01-15T08:00:20.000Z",
        "reason": "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
    }
    (page,) = [json.loads(run("show", "tally", "--json").stdout)]
    assert [one["eventId"] for one in page["deadLetters"]] == ["bad"]
    assert [(one["action"], one["eventId"]) for one in page["operations"]][2:] == [("dead --retry", "bad"), ("dead --drop", "bad")]


def test_there_may_be_more_than_are_listed(made: Path) -> None:
    poisoned()
    run("send", "tally", "ADD", "by=three", *APP, code=1)
    assert "there are more than 1" in run("dead", "--limit", "1").stdout
    assert len(lines("dead", "--limit", "1")) == 1
    for _ in range(2):
        run("send", "tally", "RING", *APP)
    assert "there are more than 1" in run("effects", "--limit", "1").stdout


# ------------------------------------------------------------------- effects


def test_what_a_page_says_of_an_unknown_effect(made: Path) -> None:
    run("start", "support_agent", "t", *APP)
    run("send", "t", "START", "ticketRef=t", *APP)
    run("work", "--once", "--app", "store_app:broken")
    run("send", "t", "APPROVE", *APP)
    run("work", "--once", "--app", "store_app:broken")
    page = json.loads(run("show", "t", "--json", *APP).stdout)
    (effect,) = page["effects"]
    assert (effect["status"], effect["attempt"], effect["attempts"]) == ("UNKNOWN", 1, 1)
    assert effect["calledAt"] > page["enteredAt"] and effect["error"] == "ConnectionError: the line went dead"
    assert {"action": "settle", "instance": "t", "effect": effect["id"], "eventId": None} in page["operations"]
    assert [row["instance"] for row in lines("list", "--effect", "unknown")] == ["t"]
    assert lines("retry", effect["id"], *ORDER)[0]["outcome"] == "applied"
    assert json.loads(run("show", "t", "--json").stdout)["effects"][0]["status"] == "PENDING"
    run("work", "--once", "--app", "store_app:support")
    assert json.loads(run("show", "t", "--json").stdout)["output"]["outcome"] == "sent"


def test_an_effect_that_is_postponed_or_running(made: Path) -> None:
    run("start", "support_agent", "t", *APP)
    run("send", "t", "START", "ticketRef=t", *APP)
    with sqlite3.connect("support.db") as connection:
        connection.execute("UPDATE effect SET next_at = next_at + 60000, is_cancelled = 1, external_id = 'ext 7' WHERE number = 0")
        connection.execute("UPDATE effect SET status = 'RUNNING', owner = 'worker 1', fence = 3, called_at = next_at WHERE number = 1")
    shown = " ".join(run("show", "t").stdout.split())
    assert "not before 2027-01-15T08:01:20.000+00:00 (in 50 s), its state was left" in shown
    assert "key run-1:2:0, external id ext 7" in shown
    assert "worker worker 1, claim 3" in " ".join(run("effects", "--id", "run-1:2:1").stdout.replace("worker  ", "worker ").split())
    (_, last) = lines("work", "--once", "--app", "store_app:counter", code=1)
    assert last["left"] == {"instances": 0, "effects": 1, "unknown": 0}


def test_an_instance_that_was_cancelled_in_its_sleep_does_not_sleep_on(made: Path) -> None:
    run("start", "counter", "tally", *APP)
    run("suspend", "tally", *ORDER)
    run("cancel", "tally", *ORDER)
    assert json.loads(run("show", "tally", "--json").stdout)["operations"] == []


def test_work_is_not_idle_while_effects_wait_for_another_machine(made: Path) -> None:
    run("start", "counter", "tally", *APP)
    run("send", "tally", "RING", *APP)
    (_, last) = lines("work", "--once", "--app", "store_app:support", code=1)
    assert last == {"namespace": "default", "event": "stopped", "idle": False, "left": {"instances": 0, "effects": 1, "unknown": 0}}


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_ends_when_it_is_told_to(made: Path, number: int) -> None:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "statecharts.cli", "store", "work", "--poll", "0.05", *APP]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "working for counter, support_agent in namespace default\n"
        time.sleep(0.3)  # the handlers are set by then
        worker.send_signal(number)
        assert worker.stdout.read() == "stopped\n"
        assert worker.wait(20) == 0


# ------------------------------------------------------- words, times, pieces


def test_attention_is_listed_and_shown(made: Path) -> None:
    run("start", "counter", "tally", *APP)
    with sqlite3.connect("support.db") as connection:
        connection.execute("UPDATE instance SET needs_attention = 1, last_error = 'TypeError: odd', parent = 'from@3'")
    assert [row["instance"] for row in lines("list", "--attention")] == ["tally"]
    assert "active attention" in run("list").stdout
    shown = run("show", "tally").stdout
    for words in ("active, needs attention", "last error", "TypeError: odd", "from@3"):
        assert words in shown


def test_a_tampered_log_is_found(made: Path) -> None:
    poisoned()
    with sqlite3.connect("support.db") as connection:
        connection.execute("UPDATE log SET actor = 'nobody'")
    assert "version 1: tampered: its members are not what was hashed" in run("verify", "tally", code=1).stdout
    (report,) = lines("verify", "tally", code=1)
    assert (report["clean"], report["findings"][0]["kind"]) == (False, "tampered")
    with sqlite3.connect("support.db") as connection:
        connection.execute("UPDATE log SET actor = NULL, payload = NULL, salt = NULL")
    assert "version 1: erased" in run("verify", "tally").stdout
    assert "(erased)" in run("log", "tally", "--payloads").stdout
    assert lines("log", "tally", "--payloads")[0]["payload"] is None


def test_a_state_that_cannot_be_read(made: Path) -> None:
    run("start", "counter", "tally", *APP)
    with sqlite3.connect("support.db") as connection:
        connection.execute("UPDATE instance SET state = '{}'")
    assert "unknown: the state cannot be read" in run("show", "tally", *APP).stdout
    assert json.loads(run("show", "tally", "--json", *APP).stdout)["events"] is None


def test_a_version_that_fits_several_definitions(made: Path) -> None:
    run("start", "counter", "one", *APP)
    run("start", "counter", "two", "--app", "store_app:newer")
    hashes = {row["instance"]: row["definition"] for row in lines("list")}
    assert [row["instance"] for row in lines("list", "--version", hashes["two"][:6])] == ["two"]
    assert "fits 2 definitions; write more of the hash" in run("list", "--version", "", code=2).stderr


@pytest.mark.parametrize(
    ("word", "pair"),
    [
        ("n=1", ("n", 1)),
        ("s=two words", ("s", "two words")),
        ("e=", ("e", "")),
        ("q=a=b", ("q", "a=b")),
        ('j={"a": [1]}', ("j", {"a": [1]})),
        ("t=true", ("t", True)),
    ],
)
def test_pairs(word: str, pair: tuple[str, Any]) -> None:
    assert read_pair(word) == pair


@pytest.mark.parametrize("word", ["x", "=1", "two words=1", '"a"=1'])
def test_what_is_no_pair(word: str) -> None:
    with pytest.raises(UsageError, match="is not key=value"):
        read_pair(word)


def test_times_in_a_zone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    now = 1_800_000_000_001
    assert local(now) == "2027-01-15T09:00:00.001+01:00"
    assert local(now + 180 * 86_400_000) == "2027-07-14T10:00:00.001+02:00"
    assert utc(now) == "2027-01-15T08:00:00.001Z" and utc(None) is None
    assert ago(now, now + 1000).endswith("(1 s ago)") and ago(now, now - 1000).endswith("(in 1 s)")
    assert ahead(now, now + 1000).endswith("(1 s overdue)")


def test_without_unicode_and_colours(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("start", "support_agent", "t", *APP)
    run("send", "t", "START", "ticketRef=\u202ex", "--actor", "a[b]\x1b", *APP)
    shown = CliRunner(charset="ascii").invoke(application, ["store", "log", "t"]).stdout
    assert "idle ->" in shown
    assert "\x1b" not in shown and "a[b]\\x1b" in shown
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("show", "t", *APP).stdout


def test_a_letter_without_a_receipt_has_the_end_of_its_traceback() -> None:
    from statecharts.cli.store_json import reason_of

    members: dict[str, Any] = dict.fromkeys(InboxRow.__dataclass_fields__)
    assert reason_of(InboxRow(**{**members, "status": DEAD, "error": "a\nTypeError: b\n"})) == "TypeError: b"
    assert reason_of(InboxRow(**{**members, "status": DEAD})) == "unknown"


def test_a_missing_file_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"there is no file .*: schema 0, this release needs 1; run `statecharts store migrate`"):
        SqliteStore(tmp_path / "x.db").open(migrating=False)
    assert list(tmp_path.iterdir()) == []
