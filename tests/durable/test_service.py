"""The FastAPI example, as it stands in ``examples``."""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).resolve().parents[2] / "examples" / "support_service.py"


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("fastapi", reason="FastAPI is not installed, so its example is not tested: pip install 'statecharts[dev]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client, about its own transport
        from fastapi.testclient import TestClient
    monkeypatch.setenv("STATECHARTS_URL", f"sqlite:///{tmp_path / 'support.db'}")
    spec = importlib.util.spec_from_file_location("support_service", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["support_service"] = module
    spec.loader.exec_module(module)
    with TestClient(module.app) as made:
        yield made


def test_a_ticket_over_http(client: Any) -> None:
    assert client.put("/tickets/t-1").json()["outcome"] == "applied"
    assert client.put("/tickets/t-1").json()["outcome"] == "duplicate"
    event = {"type": "START", "ticketRef": "ticket://1"}
    assert client.post("/tickets/t-1/events", json=event, headers={"Idempotency-Key": "k1"}).status_code == 200
    for _ in range(200):
        if "waiting_for_approval" in client.get("/tickets/t-1").json()["states"]:
            break
        time.sleep(0.02)
    headers = {"Idempotency-Key": "k2", "User": "user:1042"}
    first, second = (client.post("/tickets/t-1/events", json={"type": "APPROVE"}, headers=headers) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert (first.json()["outcome"], second.json()["outcome"]) == ("applied", "duplicate")
    for _ in range(200):
        if client.get("/tickets/t-1").json()["status"] == "done":
            break
        time.sleep(0.02)
    assert '"outcome":"sent"' in client.get("/tickets/t-1").json()["output"]
    refused = client.post("/tickets/t-1/events", json={"type": "APPROVE"}, headers={"Idempotency-Key": "k3"})
    assert (refused.status_code, refused.json()["reason"]) == (409, "the instance is done")


def test_what_is_wrong_says_so(client: Any) -> None:
    nobody = client.post("/tickets/t-9/events", json={"type": "X"}, headers={"Idempotency-Key": "k"})
    assert (nobody.status_code, nobody.json()["error"]) == (404, "there is no instance 't-9'; start it first")
    client.put("/tickets/t-1")
    bad = client.post("/tickets/t-1/events", json={"type": "xstate.stop"}, headers={"Idempotency-Key": "k"})
    assert bad.status_code == 400 and "the machine's own" in bad.json()["error"]
    assert client.post("/tickets/t-1/events", json={"type": "X"}).status_code == 422
