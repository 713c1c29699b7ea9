"""Rows in parts on the workers of a dask cluster: what travels to them, what they do, and the table of all parts."""
