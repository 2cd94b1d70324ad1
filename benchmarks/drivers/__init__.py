"""Scripts that run in a peer's own process; the harness imports ``charts_read`` only."""
