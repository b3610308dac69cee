"""What people see: figures, tables and the sentences beside them; nothing is computed here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["figures", "tables"])
