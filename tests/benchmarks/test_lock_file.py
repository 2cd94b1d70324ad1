"""What Node's side installs."""

from __future__ import annotations

import json

from benchmarks.environments import NODE


def test_the_lock_file_names_no_registry_and_the_wanted_version():
    text = (NODE / "package-lock.json").read_text("utf-8")
    assert "resolved" not in text and "http" not in text.replace(
        '"url": "https://opencollective.com/xstate"', ""
    )
    assert json.loads(text)["packages"]["node_modules/xstate"]["version"] == "5.33.3"
