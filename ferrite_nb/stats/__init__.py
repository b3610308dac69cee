"""Statistics: numbers in, numbers out.

No routine here sees a table of outcomes, prints, draws or rounds. Each is loaded when it is first
asked for, so that importing this package costs no more than numpy.
"""

import lazy_loader

# Routines with the name of their module. Bound here, at once, the routine wins: bound later, it
# would be hidden by the module as soon as somebody imports that.
from .components import components as components
from .forecast import forecast as forecast
from .homogeneity import homogeneity as homogeneity
from .trend import trend as trend
from .worst import worst as worst

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
