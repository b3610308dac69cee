"""What the notebooks draw: each a function with plain arguments, and one shell that puts controls
above any of them.

fnb.lessons.one_interval(k=3)                                 # a chart
fnb.lessons.choose(fnb.lessons.one_interval, k=range(0, 21))  # the same chart under a slider
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
