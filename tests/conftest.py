"""What holds for all tests."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # a first call compiles, and machines are busy
settings.load_profile("untimed")
