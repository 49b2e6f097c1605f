"""pwlr: graphs in, named numbers per graph out, a model and a picture of why at the end."""

import lazy_loader

__version__ = "0.1.0"

__getattr__, _lazy_dir, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]


def __dir__() -> list[str]:
    return sorted({*_lazy_dir(), "__version__"})
