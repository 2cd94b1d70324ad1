"""Where a machine is read from, in which format, and what is said about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from statecharts import (
    DefinitionError,
    DefinitionWarning,
    Implementations,
    UsageError,
    load_machine,
    simulate,
)
from statecharts.sources import format_of, read_source

DOCUMENT: dict[str, Any] = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {}}}
TEXT = json.dumps(DOCUMENT)


def test_a_mapping_a_text_and_a_path_mean_the_same(tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    file.write_text(TEXT, encoding="utf-8")
    for source in (DOCUMENT, TEXT, f"\n  {TEXT}", f"\ufeff{TEXT}", file, str(file)):
        machine = load_machine(source)
        assert (machine.id, simulate(machine).send("GO").value) == ("m", "b")


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert load_machine(file).id == "m"


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    latin = tmp_path / "latin.json"
    latin.write_bytes('{"id": "ü"}'.encode("latin-1"))
    with pytest.raises(UsageError, match=r"there is no file 'nowhere\.json'; pass a path, a text, or a dict"):
        load_machine("nowhere.json")
    with pytest.raises(UsageError, match=r"latin\.json is not UTF-8 text"):
        load_machine(latin)
    with pytest.raises(UsageError, match="cannot be read: "):
        load_machine(tmp_path)
    with pytest.raises(UsageError, match="a machine is read from a path, a text or a dict, not bytes"):
        load_machine(TEXT.encode())  # type: ignore[arg-type]


def test_problems_name_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    file.write_text('{\n "id": "m",\n "initial": "a",\n "states": {\n  "a": {"on": {"GO": "nowhere"}}\n }\n}')
    with pytest.raises(DefinitionError) as caught:
        load_machine(file)
    [problem] = caught.value.problems
    assert (problem.file, problem.line, problem.pointer) == (str(file), 5, "/states/a/on/GO")
    with pytest.raises(DefinitionError) as loose:
        load_machine(file, strict=False)
    assert (loose.value.problems[0].line, loose.value.machine_id) == (5, "m")
    with pytest.raises(DefinitionError, match="<text>:2"):
        load_machine("{\n")
    with pytest.raises(DefinitionError, match="a machine is a JSON object"):
        load_machine("\n[]", strict=False)


@pytest.mark.parametrize(
    ("source", "form"),
    [
        ("<scxml/>", "scxml"), ("\n \ufeff<scxml/>", "scxml"), ("m.scxml", "scxml"), ("m.XML", "scxml"), ("m.yaml", "sismic"),
        ("m.yml", "sismic"), ('{"semantics": "scxml"}', "scxml"), ('{"x": "scxml"}', "xstate"), ('{"x": "scxml"', "xstate"),
        ("statechart:\n  name: x", "sismic"), ("\nname: x", "xstate"),
    ],
)  # fmt: skip
def test_the_format_shows_in_extension_or_content(
    source: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("m.scxml", "m.XML", "m.yaml", "m.yml"):
        (tmp_path / name).write_text("x")
    assert format_of(*read_source(source)) == form


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_an_xml_file_says_its_encoding(encoding: str, tmp_path: Path) -> None:
    namespace = "http://www.w3.org/2005/07/scxml"
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    text = f'<?xml version="1.0" encoding="{declared}"?><scxml xmlns="{namespace}" version="1.0" datamodel="null"><state id="\u00e9t\u00e9"/></scxml>'
    file = tmp_path / "m.scxml"
    file.write_bytes(text.encode(encoding))
    assert simulate(load_machine(file)).snapshot.atomic_states == ("\u00e9t\u00e9",)
    file.write_bytes(text.replace(declared, "x-none").encode("utf-8"))
    with pytest.raises(UsageError, match="its encoding is 'x-none', which is not known"):
        load_machine(file)


def test_a_mapping_says_by_its_semantics_what_it_is() -> None:
    assert format_of({"semantics": "scxml"}, None) == "scxml"
    assert format_of({"id": "m"}, None) == "xstate"


def test_the_format_can_be_said() -> None:
    assert load_machine(DOCUMENT, format="xstate").id == "m"
    with pytest.raises(UsageError, match="format 'uml' is not known"):
        load_machine(DOCUMENT, format="uml")


@pytest.mark.parametrize(
    ("options", "semantics"),
    [
        ({}, "xstate"),
        ({"strict": False}, "xstate-exact"),
        ({"semantics": "xstate-exact"}, "xstate-exact"),
        ({"strict": False, "semantics": "xstate"}, "xstate"),
    ],
)
def test_reading_and_behaviour_are_chosen_apart(options: dict[str, Any], semantics: str) -> None:
    assert load_machine(DOCUMENT, **options).semantics == semantics


def test_an_unknown_behaviour_is_refused() -> None:
    with pytest.raises(UsageError, match="semantics is 'xstate' or 'xstate-exact', not 'scxml'"):
        load_machine(DOCUMENT, semantics="scxml")


def test_harmless_oddities_warn() -> None:
    with pytest.warns(DefinitionWarning, match=r"/states/b/zzz: .*zzz"):
        load_machine({**DOCUMENT, "states": {**DOCUMENT["states"], "b": {"zzz": 1}}})


def test_surplus_names_warn_and_suggest_what_was_meant() -> None:
    guarded = {**DOCUMENT, "on": {"X": {"guard": "isReady", "target": ".b"}}}
    with pytest.warns(DefinitionWarning, match="guard 'isRedy' is bound but not used") as found:
        load_machine(guarded, {"guards": {"isRedy": lambda: True}})
    assert "Did you mean 'isReady'?" in str(found[0].message)
    with pytest.warns(DefinitionWarning) as strange:
        load_machine(DOCUMENT, {"delays": {"zzz": 1}})
    assert "Did you mean" not in str(strange[0].message)
    load_machine(DOCUMENT, {"delays": {"zzz": 1}}, strict=False)


def test_a_context_that_is_program_text_needs_a_function() -> None:
    exported = {**DOCUMENT, "context": "{{ ({ input }) => ({}) }}"}
    with pytest.raises(DefinitionError, match="context"):
        load_machine(exported)
    with pytest.raises(DefinitionError, match="a function must be bound for it.*context-is-code"):
        load_machine(exported, {"guards": {}})
    impl = Implementations()
    impl.context(lambda input: {"n": input})
    assert simulate(load_machine(exported, impl), input=3).snapshot.context == {"n": 3}
