"""The exceptions and warnings people catch: each message says what, where, what was wanted, and the remedy."""

__all__ = [
    "DatasetError",
    "GraphFormatError",
    "MissingExtraError",
    "OptionError",
    "PwlrError",
    "PwlrWarning",
    "UnseenError",
    "UnseenWarning",
]


class PwlrError(Exception):
    """Root of everything that pwlr raises on purpose."""


class GraphFormatError(PwlrError, ValueError):
    """Graphs that are not what the method is defined on, or a file that does not say what its format promises."""


class OptionError(PwlrError, ValueError):
    """An option has a value that does not exist or does not fit the graphs."""


class DatasetError(PwlrError, ValueError):
    """A data set that is not there, cannot be fetched, or is not the one its name promises."""


class UnseenError(PwlrError, ValueError):
    """Graphs hold something that the fitted layout has no column for, and ``unseen="error"`` was asked for."""


class MissingExtraError(PwlrError, ImportError):
    """An optional library is not installed; the message has the ``pip install`` line."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        self.library, self.extra, self.purpose = library, extra, purpose
        super().__init__(f'{purpose} needs {library}, which is not installed: pip install "pwlr[{extra}]"')

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.library, self.extra, self.purpose)


class PwlrWarning(UserWarning):
    """Root of everything that pwlr warns about."""


class UnseenWarning(PwlrWarning):
    """Graphs hold something that the fitted layout has no column for; it was left out."""
