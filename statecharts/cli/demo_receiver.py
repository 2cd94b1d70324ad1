"""The outside world of the demonstration: sends answers, knows a key again, and takes its time."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, unquote
from urllib.request import Request, urlopen


class Receiver:
    """An HTTP service in a thread: ``POST /send`` with a key, ``GET /sent/KEY``.

    ``calls`` are the keys of all calls, ``asked`` of all questions, ``sent`` what was sent by key.
    ``slow`` makes it answer a while after it has done its work: long enough to
    be killed in.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.asked: list[str] = []
        self.sent: dict[str, str] = {}
        self.slow = True
        self.was_called = threading.Event()
        self._release = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._release.set()
        self._server.shutdown()
        self._server.server_close()

    def send(self, key: str) -> str:
        """Send, once a key; the reply comes late."""
        self.calls.append(key)
        reference = self.sent.setdefault(key, f"sent://{len(self.sent) + 1}")
        self.was_called.set()
        if self.slow:
            self._release.wait(10)
        return reference


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._reply(200, {"sendResultRef": receiver.send(self.headers["Idempotency-Key"])})

        def do_GET(self) -> None:
            key = unquote(self.path.removeprefix("/sent/"))
            receiver.asked.append(key)
            known = receiver.sent.get(key)
            self._reply(200, {"sendResultRef": known}) if known else self._reply(404, {})

        def _reply(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):  # the caller was killed, which is the point
                return

        def log_message(self, format: str, *_arguments: Any) -> None:
            """Nobody reads it."""

    return Handler


def post(url: str, key: str, body: Any) -> dict[str, Any]:
    """Ask the receiver to send."""
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    with urlopen(Request(f"{url}/send", json.dumps(body).encode(), headers), timeout=30) as reply:
        found: dict[str, Any] = json.load(reply)
        return found


def look_up(url: str, key: str) -> dict[str, Any] | None:
    """What the receiver has sent under a key, if anything."""
    from urllib.error import HTTPError

    try:
        with urlopen(f"{url}/sent/{quote(key, safe='')}", timeout=10) as reply:
            found: dict[str, Any] = json.load(reply)
            return found
    except HTTPError as error:
        if error.code == 404:
            return None
        raise
