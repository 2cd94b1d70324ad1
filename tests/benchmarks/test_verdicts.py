"""What is made of figures: agreement, targets, the page. No figure is measured here."""

from __future__ import annotations

from benchmarks.agreement import disagreement, wrong_end
from benchmarks.peers import PEERS
from benchmarks.plan import FULL, GROUPS, QUICK, measurements
from benchmarks.processes import _spread
from benchmarks.report import report, target_table
from benchmarks.targets import nearest_peer, targets

FACTS = {"date": "2026-01-01", "processor": "P", "cores": 2, "system": "S", "versions": {"pure": "1"}}


def a_run(value: float = 1.0) -> dict:
    run = {one.key: {"median": value, "samples": [value]} for _, one in measurements(FULL)}
    for name, result in run.items():
        if "/memory/" in name:
            result["context"] = 0
        if "/memo/" in name:
            result["limit"] = 2.0
        if "/build/" in name:
            result["ready"] = value
    return run


def target(line: str, what: str):
    return next(one for one in targets() if line in one.line and one.what == what)


def test_every_measurement_has_a_name_of_its_own_and_a_known_group():
    made = list(measurements(FULL))
    assert len({one.key for _, one in made}) == len(made)
    assert {group for group, _ in made} == set(GROUPS)
    assert {one.peer for _, one in made} == set(PEERS)


def test_every_target_finds_what_it_needs():
    run = a_run()
    assert all(one.figure(run) is not None for one in targets())


def test_the_worst_run_decides():
    one = target("`simulate(...).send` against XState", "a")
    good, bad = a_run(), a_run()
    good["xstate/events/a/send"]["median"] = 3.0
    bad["xstate/events/a/send"]["median"] = 2.9
    assert one.verdict([good]) == one.verdict([good, good]) == "met"
    assert one.verdict([good, bad]) == one.verdict([bad, good]) == "missed"


def test_at_most_is_judged_by_the_largest():
    one = target("build", "10,000 states against 1,010")
    good, bad = a_run(), a_run()
    bad["pure/build/build-10000/build"]["median"] = 12.1
    assert one.worst([good, bad]) == 12.1
    assert one.verdict([good, bad]) == "missed"


def test_what_one_run_lacks_is_not_measured():
    one = target("compiled against pure: `transition()`", "a")
    lacking = a_run()
    lacking["compiled/events/a/transition"] = {"not_measured": "no compiler"}
    assert one.verdict([a_run(5.0), lacking]) == "not measured"


def test_memory_is_counted_beyond_the_context():
    run = a_run()
    run["pure/memory/b/snapshot"] = {"median": 1_300.0, "context": 184}
    one = target("memory of an instance", "bare `Snapshot`")
    assert one.figure(run) == 1_116
    assert one.verdict([run]) == "met"


def test_the_nearest_peer_is_the_fastest_in_any_of_its_ways():
    run = a_run(9.0)
    run["harel/events/a/process"]["median"] = 4.0
    run["sismic/events/a/send"] = {"cannot": "x"}
    assert nearest_peer(run, "a") == ("harel", 4.0)


def test_a_peer_that_went_elsewhere_is_told_where():
    ours = {"trail": [["a"], ["b"], ["a"]], "events": 6, "context": {"n": 6}}
    assert disagreement(ours, ours, True) is None
    astray = {**ours, "trail": [["a"], ["c"], ["a"]]}
    assert disagreement(astray, ours, True) == "after event 2 it is in ['c'], ours in ['b']"
    ended = {**ours, "trail": [["a"], ["b"], ["b"]]}
    assert disagreement(ended, ours, True) == "at the end it is in ['b'], ours in ['a']"
    miscounted = {**ours, "context": {"n": 5}}
    assert "context" in (disagreement(miscounted, ours, True) or "")
    assert disagreement(miscounted, ours, False) is None


def test_a_shorter_pass_is_compared_where_both_have_been():
    ours = {"trail": [["a"], ["b"], ["a"]], "events": 6, "context": {"n": 6}}
    shorter = {"trail": [["a"], ["b"], ["b"]], "events": 3, "context": {"n": 3}}
    assert disagreement(shorter, ours, True) is None
    assert disagreement({**shorter, "trail": [["a"], ["c"], ["b"]]}, ours, True) is not None


def test_another_end_of_the_agents_run_is_wrong():
    assert wrong_end({"end": {"outcome": "failed"}}) is not None
    assert wrong_end({"cannot": "x"}) is None


def test_xstates_repetitions_are_spread_and_no_one_elses():
    chosen = {one.key: one for _, one in measurements(FULL)}
    for name, processes in (
        ("xstate/events/a/send", 5),
        ("pure/events/a/send", 1),
        ("xstate/build/build-1010/build", 1),
    ):
        one = chosen[name]
        task = one.task(__file__)
        tasks = _spread(one, task)
        assert len(tasks) == processes
        assert sum(each["repetitions"] for each in tasks) == task["repetitions"]


def test_the_page_shows_figures_gaps_and_misses():
    run = a_run()
    run["transitions/events/f/send"] = {"cannot": "no history states"}
    run["sismic/events/h/send"]["passes"] = "driven with 50 of 9900 events a pass, for being slow"
    run |= {name: {"absent": "no compiler"} for name in run if name.startswith("compiled/")}
    page = report(FACTS, [run, run])
    assert "`transitions/events/f/send`: cannot express: no history states" in page
    assert "driven with 50 of 9900" in page
    assert page.count("compiled: not measured: no compiler") == 1
    assert "**missed**" in page
    assert "| pure | send | 1.00 / 1.00 |" in page


def test_a_partial_run_shows_only_what_it_has():
    run = {name: result for name, result in a_run().items() if "/events/a/" in name}
    lines = target_table([run], measured_only=True).splitlines()
    assert all("not measured" not in line for line in lines)
    assert any("XState `transition()`" in line for line in lines)
    assert len(list(measurements(QUICK))) == len(list(measurements(FULL)))
