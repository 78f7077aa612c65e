"""Convolutional sparse codes and dictionaries, with a proof of accuracy."""

from .coding.admm import ADMM
from .coding.fista import FISTA
from .coding.sparse_code import lambda_max, reconstruct, sparse_code
from .coding.working_set import WorkingSet
from .learning.distance import dictionary_distance
from .learning.evaluate import Evaluation, evaluate
from .learning.history import History
from .learning.learner import ConvDictLearner
from .learning.merge import merge
from .learning.progress import ProgressLine
from .learning.storage import load
from .model.codes import Codes
from .model.problem import Progress
from .signals.lowpass import lowpass_split, lowpass_split_tv
from .threads import get_num_threads, set_num_threads

__version__ = "0.1.0"

__all__ = [
    "ADMM",
    "FISTA",
    "Codes",
    "ConvDictLearner",
    "Evaluation",
    "History",
    "Progress",
    "ProgressLine",
    "WorkingSet",
    "dictionary_distance",
    "evaluate",
    "get_num_threads",
    "lambda_max",
    "load",
    "lowpass_split",
    "lowpass_split_tv",
    "merge",
    "reconstruct",
    "set_num_threads",
    "sparse_code",
]
