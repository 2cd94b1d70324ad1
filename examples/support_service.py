"""A service that keeps support agents: FastAPI in front, the durable runtime behind.

Run it with ``uvicorn examples.support_service:app``. One process answers
requests and works; more of either may run beside it, over the same store.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, Request
from fastapi.responses import JSONResponse

from statecharts import (
    Busy,
    CommitUnknown,
    Machine,
    Receipt,
    Runtime,
    UnknownInstance,
    UsageError,
    load_machine,
)

FOLDER = Path(__file__).resolve().parents[1] / "machines" / "support_agent"
STATUS = {"applied": 200, "accepted": 202, "duplicate": 200, "refused": 409, "dead": 422}


def support_agent() -> Machine[Any, Any]:
    """The machine with its Python; both actors that only read may be called again, the one that sends may not."""
    spec = importlib.util.spec_from_file_location("support_agent_implementations", FOLDER / "implementations.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.impl.version = "2026-12-01"
    for name in ("draftAnswer", "checkCompliance", "notifyApprover", "notifyReviewer", "reportFailure"):
        module.impl.effect(name, idempotent=True, attempts=3)
    module.impl.effect("sendAnswer", key=lambda input: f"send:{input['requestKey']}")
    return load_machine(FOLDER / "machine.json", module.impl)


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the store and work for as long as the service runs; what is unfinished at its end is found by its lease."""
    url = os.environ.get("STATECHARTS_URL", "sqlite:///support.db")
    async with Runtime.open(url, [support_agent()]) as runtime:
        app.state.runtime = runtime
        worker = asyncio.create_task(runtime.run_worker())
        try:
            yield
        finally:
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)


app = FastAPI(title="support agents", lifespan=lifespan)


@app.put("/tickets/{ticket}")
async def open_ticket(ticket: str, request: Request) -> JSONResponse:
    """Start an agent; a second time changes nothing."""
    runtime: Runtime = request.app.state.runtime
    return told(await runtime.start("support_agent", ticket))


@app.post("/tickets/{ticket}/events")
async def send(
    ticket: str, event: dict[str, Any], request: Request, idempotency_key: Annotated[str, Header()], user: Annotated[str, Header()] = "nobody"
) -> JSONResponse:
    """Give an event to an agent. The header ``Idempotency-Key`` is its id: a client that is not sure sends it again."""
    runtime: Runtime = request.app.state.runtime
    return told(await runtime.send(ticket, event, event_id=idempotency_key, actor=user))


@app.get("/tickets/{ticket}")
async def show(ticket: str, request: Request) -> dict[str, Any]:
    """Where an agent is."""
    runtime: Runtime = request.app.state.runtime
    row = await runtime.get(ticket)
    return {"status": row.status, "states": row.configuration, "version": row.version, "output": row.output}


def told(receipt: Receipt) -> JSONResponse:
    """A receipt as a response; a duplicate has the status of the first."""
    return JSONResponse(receipt.to_json(), STATUS[(receipt.first or receipt).outcome])


@app.exception_handler(UsageError)
def wrong(_request: Request, error: UsageError) -> JSONResponse:
    """The caller's fault, and what would be right."""
    return JSONResponse({"error": str(error)}, 404 if isinstance(error, UnknownInstance) else 400)


@app.exception_handler(Busy)
@app.exception_handler(CommitUnknown)
def later(_request: Request, error: Exception) -> JSONResponse:
    """Send it again, with its key."""
    return JSONResponse({"error": str(error)}, 503, {"Retry-After": "1"})


