"""Datamodels: what the expressions of an SCXML document mean (SCXML §5, appendix B)."""
