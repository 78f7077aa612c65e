"""Convolutional sparse codes and dictionaries, with a proof of accuracy.

All public names are listed in `__init__.pyi`, and loaded when they are first asked for: the
command line answers at once, and only who codes waits for the kernels.
"""

import lazy_loader

from .version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
