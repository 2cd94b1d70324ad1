"""``python -m statecharts.cli``."""

from . import main

main()
