"""The second demonstration: a worker is killed while it sends. ``python -m statecharts.cli.demo_survival``."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from . import say_missing

if TYPE_CHECKING:
    from ..durability.receipts import Receipt
    from ..runtime import Runtime
    from .demo_receiver import Receiver

TICKET = "ticket-77"
WAIT = 30.0


def main() -> NoReturn:
    """Play it and exit: 0 when all is as promised, 1 when not."""
    try:
        from .terminal import make_safe
    except ModuleNotFoundError as error:
        say_missing(error)
    make_safe(sys.stdout)
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(asyncio.run(_play(Path(folder))))


async def _play(folder: Path) -> int:
    from ..runtime import Runtime
    from .demo_receiver import Receiver
    from .demo_worker import support_agent

    url = f"sqlite:///{folder / 'support.db'}"
    with Receiver() as receiver:
        async with Runtime.open(url, [support_agent(receiver.url)]) as runtime:
            return await _Story(runtime, receiver, url).play()


class _Story:
    def __init__(self, runtime: Runtime, receiver: Receiver, url: str) -> None:
        from .terminal import make_console

        self._runtime = runtime
        self._receiver = receiver
        self._url = url
        self._console = make_console()
        self._wrong: list[str] = []
        self._worker: subprocess.Popen[bytes] | None = None

    async def play(self) -> int:
        from rich.rule import Rule
        from rich.text import Text

        from .terminal import is_unicode

        self._console.print()
        line = "━" if is_unicode(self._console) else "="
        self._console.print(Rule(Text("killed while sending", style="bold"), align="left", characters=line, style="cyan"))
        self._console.print("The support agent in a SQLite file, a worker in a process of its own, a receiver that knows a key again.\n")
        try:
            await self._until_it_sends()
            await self._kill_and_restart()
            await self._look_back()
        finally:
            self._stop_worker()
        self._console.print()
        for wrong in self._wrong:
            self._console.print(Text.assemble(("WRONG ", "bold red"), wrong))
        if not self._wrong:
            self._console.print(Text("one send, one transition, nothing lost: everything as expected", style="bold green"))
        return 1 if self._wrong else 0

    async def _until_it_sends(self) -> None:
        await self._runtime.start("support_agent", TICKET)
        self._say("started", f"{TICKET}: support_agent")
        self._start_worker()
        await self._runtime.send(TICKET, {"type": "START", "ticketRef": "ticket://77"}, event_id="start_evt_1")
        await self._runtime.wait(TICKET, lambda row: "waiting_for_approval" in row.configuration, timeout=WAIT)
        self._say("worker", "has drafted and checked; a person is asked")
        self._receipt("approval", await self._approve())
        if not await asyncio.to_thread(self._receiver.was_called.wait, WAIT):
            self._wrong.append("the receiver was never called")
        self._say("worker", "is sending: the receiver has the call and has not answered yet")

    async def _kill_and_restart(self) -> None:
        worker = self._worker
        assert worker is not None
        worker.send_signal(signal.SIGKILL)
        await asyncio.to_thread(worker.wait)
        self._say("SIGKILL", f"the worker is gone (exit {worker.returncode}); nobody knows whether the answer went out", "bold red")
        self._receipt("approval again", await self._approve())
        self._receiver.slow = False
        self._start_worker()
        self._say("worker", "a new one is there; the lease of the old one runs out")
        await self._runtime.wait(TICKET, lambda row: row.status == "done", timeout=WAIT)
        self._receipt("and again", await self._approve())

    async def _look_back(self) -> None:
        log = await self._runtime.log(TICKET)
        transitions = sum(row.event_id == "approval_evt_91" for row in log)
        send = next(row for row in await self._runtime.effects(instance=TICKET) if "sendAnswer" in row.name)
        sent, calls, asked = len(self._receiver.sent), len(self._receiver.calls), len(self._receiver.asked)
        self._say("effect", f"{send.key}: {send.status}, at attempt {send.attempts}: it was UNKNOWN, so the receiver was asked")
        self._say("receiver", f"{sent} answer sent, by {calls} call; asked about it {asked} time{'' if asked == 1 else 's'}")
        self._say("log", f"{len(log)} versions, {transitions} of them by the approval")
        report = await self._runtime.verify(TICKET, replay=True)
        self._say("verify", f"{report.versions} versions chained, {report.replayed} replayed: {'clean' if report.is_clean else 'NOT CLEAN'}")
        self._expect(sent == 1 and calls == 1, f"{sent} sends by {calls} calls")
        self._expect(asked >= 1 and send.status == "DONE", f"asked {asked} times, the effect is {send.status}")
        self._expect(transitions == 1, f"{transitions} transitions by one approval")
        self._expect(report.is_clean and report.replayed == report.versions, f"verify: {report.findings}")

    async def _approve(self) -> Receipt:
        return await self._runtime.send(TICKET, {"type": "APPROVE"}, event_id="approval_evt_91", actor="user:1042")

    def _receipt(self, what: str, receipt: Receipt) -> None:
        said = receipt.outcome if receipt.first is None else f"{receipt.outcome} (the first was {receipt.first.outcome})"
        self._say(what, f"approval_evt_91 by user:1042: {said}, version {receipt.version}")
        self._expect(receipt.outcome == ("applied" if what == "approval" else "duplicate"), f"{what}: {receipt.outcome}")

    def _expect(self, is_so: bool, otherwise: str) -> None:
        if not is_so:
            self._wrong.append(otherwise)

    def _say(self, what: str, text: str, style: str = "cyan") -> None:
        from rich.text import Text

        self._console.print(Text.assemble((f"{what:<15}", style), text))

    def _start_worker(self) -> None:
        command = [sys.executable, "-m", "statecharts.cli.demo_worker", self._url, self._receiver.url]
        self._worker = subprocess.Popen(command, env={**os.environ, "PYTHONWARNINGS": "ignore"})

    def _stop_worker(self) -> None:
        if self._worker is not None and self._worker.poll() is None:
            self._worker.terminate()
            self._worker.wait(10)


if __name__ == "__main__":
    main()
