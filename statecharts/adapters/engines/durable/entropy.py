"""Ids, salts and jitter: the host's dice."""

from __future__ import annotations

import random
import secrets
import uuid


class SystemEntropy:
    """Chance, from the operating system."""

    def incarnation(self) -> str:
        """A name for an instance that is never used again."""
        return uuid.uuid4().hex

    def salt(self) -> str:
        """What makes the hash of an erased payload worthless."""
        return secrets.token_hex(16)

    def event_id(self) -> str:
        """An id for an event whose sender has none."""
        return str(uuid.uuid4())

    def jitter(self) -> float:
        """A number from 0 to 1."""
        return random.random()
