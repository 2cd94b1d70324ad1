"""Scripts that run in a peer's own process."""
