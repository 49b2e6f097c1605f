"""The paper, told once, in its order and its symbols, in plain NumPy and SciPy: features, diffusion, filtration, ..."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submodules=["diffusion", "features", "filtration", "persistence", "vectors"]
)
