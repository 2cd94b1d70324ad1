"""What must be true of a store after whatever has happened (I1 to I9 in the order of the design's list)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from statecharts.durability.chain import salted
from statecharts.durability.definitions import Hosted
from statecharts.durability.payloads import Limits
from statecharts.durability.rows import OPEN, UNKNOWN, Instance
from statecharts.durability.store import EffectQuery, InstanceQuery
from statecharts.durability.verification import Verifier

MANY = 100_000


def violations(
    store: Any,
    namespace: str,
    machines: Mapping[str, Hosted],
    acknowledged: Mapping[tuple[str, str], str],
    calls: Mapping[str, int],
    *,
    idempotent: Iterable[str] = (),
    in_the_call: int | None = None,
    at_rest: bool = True,
) -> list[str]:
    """What does not hold. ``acknowledged``: (instance, event id) → the outcome its sender was told. ``calls``: by key.

    ``idempotent``: names of actors whose receiver honours keys. ``in_the_call``:
    how many faults came while a call was being made.
    """
    found: list[str] = []
    for instance in store.instances(InstanceQuery(namespace=namespace, limit=MANY)):
        found += _of_an_instance(store, instance, machines, acknowledged)
    effects = store.effects(EffectQuery(namespace=namespace, limit=MANY))
    ids = [row.id for row in effects]
    if len(set(ids)) != len(ids):
        found.append("I4: two effects have one id")
    safe = set(idempotent)
    for row in effects:
        name = json.loads(row.name)[-1]
        made = calls.get(row.key, 0)
        if made > 1 and name not in safe:
            found.append(f"I5: {made} calls with key {row.key} ({name})")
        if row.status == "DONE" and row.kind in ("invoke", "action") and not made:
            found.append(f"I9: effect {row.id} ({name}) is DONE and was never called")
    unknown = sum(row.status == UNKNOWN for row in effects)
    if in_the_call is not None and unknown > in_the_call:
        found.append(f"I9: {unknown} effects are UNKNOWN after {in_the_call} faults inside a call")
    if at_rest:
        found += [f"I8: effect {row.id} ({row.name}) is {row.status}" for row in effects if row.status in OPEN and row.status != UNKNOWN]
    return found


def _of_an_instance(
    store: Any, instance: Instance, machines: Mapping[str, Hosted], acknowledged: Mapping[tuple[str, str], str]
) -> list[str]:
    found = []
    log = store.log(instance.namespace, instance.id, limit=MANY)
    if [row.version for row in log] != list(range(1, instance.version + 1)):
        found.append(f"I1: {instance.id} has version {instance.version}, its log {[row.version for row in log]}")
    applied = {row.event_id for row in log}
    inbox = {row.event_id: row for row in store.inbox(instance.namespace, instance.id, limit=MANY)}
    for (name, event_id), outcome in acknowledged.items():
        if name != instance.id:
            continue
        row = inbox.get(event_id)
        if row is None:
            found.append(f"I2: {name} acknowledged {event_id} as {outcome}, and it is not in the inbox")
        elif outcome == "applied" and (row.status != "applied" or event_id not in applied):
            found.append(f"I2: {name} acknowledged {event_id} as applied, and it is {row.status}")
    verifier = Verifier(instance, machines, Limits())
    verifier.read(log)
    found += [f"I3: {instance.id}@{one.version}: {one.kind}: {one.message}" for one in verifier.report().findings]
    if log and log[-1].salt is not None and salted(log[-1].salt, instance.state or "") != log[-1].state_hash:
        found.append(f"I3: the state of {instance.id} is not the one that was hashed")
    timers = sorted((row.handle, row.due_at) for row in store.timers(instance.namespace, instance.id))
    armed = sorted((timer["handle"], int(-(-timer["due"] // 1))) for timer in json.loads(instance.state or "")["timers"])
    if timers != (armed if instance.status == "active" else []):
        found.append(f"I6: {instance.id} has timers {timers}, its state {armed}")
    if instance.pending != sum(row.status == "accepted" for row in inbox.values()):
        found.append(f"{instance.id} says that {instance.pending} rows wait")
    return found
