"""Whatever a function of an observable returns, as a stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any


async def values_of(source: Any) -> AsyncGenerator[Any, None]:
    """An async iterator over an async generator, an async iterable or a plain iterable (or an awaitable of one)."""
    if hasattr(source, "__await__"):
        source = await source
    if hasattr(source, "__aiter__"):
        try:
            async for value in source:
                yield value
        finally:
            if hasattr(source, "aclose"):
                await source.aclose()
    else:
        for value in source:
            yield value
