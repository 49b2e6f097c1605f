"""pwlr: graphs in, named numbers per graph out, a model and a picture of why at the end."""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
