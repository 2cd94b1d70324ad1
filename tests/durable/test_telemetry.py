"""What OpenTelemetry is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sample_agents import Open, World, mailer


@pytest.fixture(scope="module")
def told() -> Any:
    """Spans and metrics, collected in memory. A process has one provider of each, so the tests share them."""
    reason = "OpenTelemetry is not installed, so spans and metrics are not tested: pip install 'statecharts[dev]'"
    trace = pytest.importorskip("opentelemetry.trace", reason=reason)
    pytest.importorskip("opentelemetry.sdk", reason=reason)
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([reader]))
    return spans, reader


def points(reader: Any) -> dict[tuple[str, str], Any]:
    """Metrics by name and outcome."""
    found = {}
    data = reader.get_metrics_data()
    for resource in data.resource_metrics if data is not None else ():
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in metric.data.data_points:
                    found[metric.name, point.attributes.get("outcome", "")] = getattr(point, "value", getattr(point, "count", None))
    return found


def test_spans_of_an_event_and_its_effect_are_linked(opened: Open, told: Any) -> None:
    spans, reader = told
    spans.clear()

    async def main() -> None:
        async with opened(mailer(World())) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO", event_id="e")
            await runtime.send("m", "GO", event_id="e")
            await runtime.send("m", "NOBODY")
            await runtime.run_worker(until_idle=True)

    asyncio.run(main())
    finished = spans.get_finished_spans()
    events = [span for span in finished if span.name == "statecharts.event"]
    effects = [span for span in finished if span.name == "statecharts.effect"]
    assert [span.attributes["statecharts.event"] for span in events] == ["GO", "GO", "NOBODY"]
    (send,) = [span for span in effects if span.attributes["statecharts.name"] == "send"]
    assert send.links[0].context.span_id == events[0].context.span_id
    assert send.parent is None
    metrics = points(reader)
    for outcome in ("applied", "duplicate", "refused"):
        assert metrics["statecharts.events", outcome] >= 1
    assert metrics["statecharts.effects", "DONE"] >= 2
    for name in ("attempts", "outbox.lag", "inbox.lag", "dwell", "commit"):
        assert metrics[f"statecharts.{name}", ""] >= 1
