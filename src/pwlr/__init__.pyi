from .datasets import load_dataset as load_dataset
from .engine import embed_grid as embed_grid
from .engine import persistence as persistence
from .errors import (
    DatasetError as DatasetError,
)
from .errors import (
    GraphFormatError as GraphFormatError,
)
from .errors import (
    MissingExtraError as MissingExtraError,
)
from .errors import (
    OptionError as OptionError,
)
from .errors import (
    PwlrError as PwlrError,
)
from .errors import (
    PwlrWarning as PwlrWarning,
)
from .errors import (
    UnseenError as UnseenError,
)
from .errors import (
    UnseenWarning as UnseenWarning,
)
from .estimators import (
    PAPER_VARIANTS as PAPER_VARIANTS,
)
from .estimators import (
    PWLRClassifier as PWLRClassifier,
)
from .estimators import (
    PWLRTransformer as PWLRTransformer,
)
from .graphs import GraphBatch as GraphBatch

__version__: str
