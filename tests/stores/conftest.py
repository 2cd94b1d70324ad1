"""Every test here that asks for a ``backend`` runs over memory, SQLite and PostgreSQL."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from store_backends import KINDS, Backend
from store_desk import Desk


@pytest.fixture(params=KINDS)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Data of each kind, with a clock that the test sets."""
    made = Backend(request.param, tmp_path)
    yield made
    made.close()


@pytest.fixture
def store(backend: Backend) -> Any:
    """An open store."""
    return backend.store()


@pytest.fixture
def desk(store: Any) -> Desk:
    """Somebody who decides over it."""
    return Desk(store)


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[Backend]:
    """PostgreSQL only."""
    made = Backend("postgres", tmp_path)
    yield made
    made.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Backend]:
    """SQLite only."""
    made = Backend("sqlite", tmp_path)
    yield made
    made.close()
