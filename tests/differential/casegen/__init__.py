"""Random cases of the case protocol: a random machine, a few ingredients mixed in, and steps that drive them."""
