"""Small programs for people who work on tacit; not part of the package."""
