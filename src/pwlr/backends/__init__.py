"""The same method, retold fast: each backend is one file with one door, ``rows(prepared, grid, p=, tie_tol=)``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

from pwlr.errors import MissingExtraError, OptionError
from pwlr.method.filtration import EventRow

__all__ = ["BACKENDS", "Rows", "check_backend", "resolve"]

Rows = Callable[..., Iterator[EventRow]]

BACKENDS = ("auto", "numpy", "numba")
"""``auto`` is numba where it can be imported and numpy elsewhere; it never looks at the data."""


def check_backend(backend: str) -> None:
    """Refuse a backend that does not exist, without importing any."""
    if backend not in BACKENDS:
        raise OptionError(f"backend={backend!r} is not known: choose one of {', '.join(map(repr, BACKENDS))}")


def resolve(backend: str) -> Rows:
    """Return the ``rows`` door of a backend."""
    check_backend(backend)
    if backend == "auto":
        backend = "numba" if importlib.util.find_spec("numba") else "numpy"
    if backend == "numba":
        if not importlib.util.find_spec("numba"):
            raise MissingExtraError("numba", "numba", "backend='numba'")
        from pwlr.backends import numba_cpu

        return numba_cpu.rows
    from pwlr.method import filtration

    return filtration.rows
