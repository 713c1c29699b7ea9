"""Rows at several sites: what travels to them, what a site admits, and the table that stands for all of them."""
