"""A wire between a client and PostgreSQL that can be cut at a given statement, before or after the server has seen it."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Proxy:
    """Listens on a port of this computer. ``cut_at``: the statement; ``when``: ``"before"`` it is sent on, or ``"after"`` it was answered."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"postgresql://postgres@127.0.0.1:{self._listener.getsockname()[1]}{parts.path}?sslmode=disable&gssencmode=disable"
        self.cut_at: bytes | None = None
        self.when = "after"
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                wire = _Wire(client, server)
                threading.Thread(target=self._forward, args=(wire,), daemon=True).start()
                threading.Thread(target=wire.back, daemon=True).start()

    def _forward(self, wire: _Wire) -> None:
        with suppress(OSError):
            while data := wire.client.recv(1 << 20):
                if self.cut_at is not None and self.cut_at in data:
                    self.cut_at = None
                    self.cuts += 1
                    if self.when == "after":
                        wire.is_cut = True
                        wire.server.sendall(data)
                        wire.answered.wait(20)
                    break
                wire.server.sendall(data)
        _end(wire.client, wire.server)


class _Wire:
    """One connection. Once it ``is_cut``, what the server says is noticed and not passed on."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.is_cut = False
        self.answered = threading.Event()

    def back(self) -> None:
        with suppress(OSError):
            while data := self.server.recv(1 << 20):
                if self.is_cut:
                    self.answered.set()
                else:
                    self.client.sendall(data)
        if not self.is_cut:
            _end(self.client, self.server)


def _end(*ends: Any) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
