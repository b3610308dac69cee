"""Properties are checked without a deadline: how long an example takes is a fact of the machine, not of a statistic."""

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
