"""Joining a transaction that is somebody else's."""

from __future__ import annotations

from typing import Any


def driver_connection(connection: Any) -> Any:
    """The driver's own connection behind ``connection``: of SQLAlchemy's, or itself."""
    pooled = getattr(connection, "connection", None)
    found = getattr(pooled, "driver_connection", None)
    return connection if found is None else found
