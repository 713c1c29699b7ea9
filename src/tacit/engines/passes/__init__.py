"""Passes over rows: one file a kind, registered by the type of query that they answer."""
