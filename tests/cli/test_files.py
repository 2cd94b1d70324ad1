"""Files: read whole or refused, written whole or not at all, laid out as they were."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from statecharts.cli import files
from statecharts.cli.application import application
from statecharts.cli.files import write_text
from statecharts.cli.layout import Layout
from statecharts.errors import UsageError

OLD = {"id": "m", "initial": "b", "states": {"b": {"onEntry": "x", "on": {"10": "a", "9": "a"}}, "a": {}}}


def run(*arguments: str, stdin: Any = None) -> Result:
    return CliRunner().invoke(application, arguments, input=stdin)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (
            json.dumps(OLD, indent=2),
            '{\n  "id": "m",\n  "initial": "b",\n  "states": {\n    "b": {\n      "entry"',
        ),
        (json.dumps(OLD, indent=4), '{\n    "id": "m"'),
        (json.dumps(OLD, indent="\t"), '{\n\t"id": "m"'),
        (json.dumps(OLD), '{"id": "m", "initial": "b", "states": {"b": {"entry": "x"'),
        (json.dumps(OLD, separators=(",", ":")), '{"id":"m","initial":"b","states":{"b":{"entry":"x"'),
        (json.dumps(OLD, indent=2).replace("\n", "\r\n"), '{\r\n  "id": "m",\r\n  "initial": "b"'),
    ],
)
def test_the_layout_is_kept(folder: Path, text: str, start: str) -> None:
    (folder / "old.json").write_bytes(text.encode())
    result = run("upgrade", "old.json", "-o", "new.json")
    assert result.exit_code == 0, result.stderr
    written = (folder / "new.json").read_bytes().decode()
    assert written.startswith(start)
    assert written.endswith("}\r\n" if "\r" in text else "}\n")
    assert "\r" in text or "\r" not in written
    assert list(json.loads(written)["states"]) == ["b", "a"]
    assert list(json.loads(written)["states"]["b"]["on"]) == ["10", "9"]


def test_characters_stay_as_they_are_written(folder: Path) -> None:
    plain = '{"id": "caf\u00e9", "initial": "a", "states": {"a": {"onEntry": "x"}}}'
    (folder / "plain.json").write_text(plain, encoding="utf-8")
    assert "café" in run("upgrade", "plain.json").stdout
    (folder / "escaped.json").write_text(plain.replace("\u00e9", "\\u00e9"), encoding="utf-8")
    assert "caf\\u00e9" in run("upgrade", "escaped.json").stdout
    (folder / "half.json").write_text(plain.replace("\u00e9", "\u00e9\\ud800"), encoding="utf-8")
    assert json.loads(run("upgrade", "half.json").stdout)["id"] == "café\ud800"


def test_numbers_stay_as_they_are_written(folder: Path) -> None:
    text = '{"id": "m", "initial": "a", "context": {"n": 1.0, "big": 12345678901234567890}, "states": {"a": {"onEntry": "x"}}}'
    (folder / "old.json").write_text(text, encoding="utf-8")
    assert '"n": 1.0, "big": 12345678901234567890' in run("upgrade", "old.json").stdout


def test_what_needs_no_upgrade_is_not_touched(folder: Path) -> None:
    odd = '\ufeff{"id":"m" , "initial":"a",\n\n "states":{"a":{}}}'
    (folder / "odd.json").write_text(odd, encoding="utf-8")
    assert run("upgrade", "odd.json").stdout == odd
    before = (folder / "odd.json").stat().st_mtime_ns
    assert run("upgrade", "odd.json", "--in-place").exit_code == 0
    assert (folder / "odd.json").stat().st_mtime_ns == before


def test_in_place_keeps_links_and_permissions(folder: Path) -> None:
    real = folder / "real.json"
    real.write_text(json.dumps(OLD), encoding="utf-8")
    real.chmod(0o640)
    (folder / "link.json").symlink_to(real)
    assert run("upgrade", "link.json", "--in-place").exit_code == 0
    assert (folder / "link.json").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "onEntry" not in real.read_text("utf-8")


def test_a_failed_write_leaves_the_old_file_and_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sub").mkdir()
    target = folder / "sub" / "out.json"
    target.write_text("old", encoding="utf-8")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", refuse)
    with pytest.raises(UsageError, match=r"out\.json: cannot be written: No space left on device"):
        write_text(str(target), "new")
    assert target.read_text("utf-8") == "old"
    assert os.listdir(folder / "sub") == ["out.json"]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(str(target), "new")
    assert os.listdir(folder / "sub") == ["out.json"]


def test_a_folder_that_is_not_there(folder: Path) -> None:
    result = run("upgrade", "v4.json", "-o", "nowhere/out.json")
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "statecharts: nowhere/out.json: cannot be written: No such file or directory\n"
    )


def test_files_that_cannot_be_read(folder: Path) -> None:
    (folder / "latin.json").write_bytes(b'{\n"id": "caf\xe9"}')
    result = run("validate", "latin.json")
    assert result.exit_code == 2
    assert result.stderr == "statecharts: latin.json: is not UTF-8 text (line 2, byte 12); save it as UTF-8\n"
    result = run("upgrade", "machines")
    assert (result.exit_code, result.stderr) == (2, "statecharts: machines: is a folder; name a file in it\n")
    result = run("run", "light.json", stdin=b"\xff\n")
    assert (result.exit_code, result.stderr) == (2, "statecharts: <stdin>: is not UTF-8 text\n")


def test_an_xml_file_says_its_encoding(folder: Path) -> None:
    text = (folder / "door.scxml").read_text("utf-8").replace("UTF-8", "ISO-8859-1").replace("slam", "zuschl\u00e4gt")
    (folder / "latin.scxml").write_bytes(text.encode("latin-1"))
    assert run("validate", "latin.scxml").exit_code == 0
    (folder / "odd.scxml").write_bytes(text.replace("ISO-8859-1", "x-odd").encode("utf-8"))
    result = run("validate", "odd.scxml")
    assert (result.exit_code, result.stderr) == (2, "statecharts: odd.scxml: its encoding 'x-odd' is not known; save it as UTF-8\n")


def test_folders(folder: Path) -> None:
    for name in (
        "node_modules/m.json",
        ".hidden/m.json",
        "deep/er/typo.json",
        "deep/other.json",
        "deep/text.txt",
    ):
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / name).write_text(
            '{"initial": "x", "states": {}}' if "other" not in name else "[]", "utf-8"
        )
    result = run("validate", "tree")
    assert result.exit_code == 1
    assert "tree/deep/er/typo.json:1 " in result.stdout
    assert result.stdout.splitlines()[-1].startswith("1 file checked: ")
    assert result.stdout.splitlines()[-1].endswith(", 1 other file skipped")
    (folder / "empty").mkdir()
    result = run("validate", "empty")
    assert (result.exit_code, result.stderr) == (2, "statecharts: empty: no machine in this folder\n")


def test_json_that_nests_too_deeply(folder: Path) -> None:
    depth = 3000
    text = '{"states": {"a": ' * depth + "{}" + "}}" * depth
    (folder / "deep.json").write_text(text, encoding="utf-8")
    for arguments in (("validate", "deep.json"), ("upgrade", "deep.json"), ("run", "deep.json")):
        result = run(*arguments)
        assert (result.exit_code, "too-deep" in result.output) == (1, True)
    assert run("validate", "--loose", "deep.json").exit_code == 1


def test_layout_of_an_empty_text() -> None:
    assert Layout.of("").write({}) == "{}\n"
