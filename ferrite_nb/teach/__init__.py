"""The lab of the chapter, the drawings of the lessons, and the class page."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["lab", "lessons"])
