"""What the notebooks draw: each a function with plain arguments, and one shell that puts controls
above any of them.

fnb.lessons.pairing(c=20)                                # a chart
fnb.lessons.choose(fnb.lessons.pairing, c=range(0, 58))  # the same chart under a slider
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
