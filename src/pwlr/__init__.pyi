from .datasets import load_dataset as load_dataset
from .engine import embed_grid as embed_grid, persistence as persistence
from .errors import (
    DatasetError as DatasetError,
    GraphFormatError as GraphFormatError,
    MissingExtraError as MissingExtraError,
    OptionError as OptionError,
    PwlrError as PwlrError,
    PwlrWarning as PwlrWarning,
    UnseenError as UnseenError,
    UnseenWarning as UnseenWarning,
)
from .estimators import (
    PAPER_VARIANTS as PAPER_VARIANTS,
    PWLRClassifier as PWLRClassifier,
    PWLRTransformer as PWLRTransformer,
)
from .graphs import GraphBatch as GraphBatch

__version__: str
