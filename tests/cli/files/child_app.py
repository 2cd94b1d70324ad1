"""Other ways to hand implementations over: a machine, a dict, and something that is none."""

from media_impl import impl as media

from statecharts import load_machine

machine = load_machine("media.json", media)
bindings = {"guards": {"ok": True}}
number = 5
