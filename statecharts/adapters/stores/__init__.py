"""Stores: what survives a crash. All of them keep the promises of :class:`statecharts.durability.store.Store`."""
