"""Turn the raw outcomes of AI-security evaluations into numbers a careful reader can trust.

    import ferrite_nb as fnb

    runs = fnb.read("eval_report.csv")  # what was read, what was left out and why, what it supports
    fnb.rates(runs)                     # every rate with k, n, both bounds, or the reason for none
    fnb.compare(runs)                   # two modes on the same cases
    fnb.limits(runs)                    # what this data set cannot say

Names are loaded when they are first used, so that the import costs little more than that of pandas.
"""

import lazy_loader

# These functions share their name with their module. Bound later, the module would hide them.
from .estimate import estimate as estimate
from .metrics import metrics as metrics
from .outcomes import outcomes as outcomes

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
