"""Convolutional sparse codes and dictionaries, with a proof of accuracy."""

from .coding.admm import ADMM
from .coding.fista import FISTA
from .coding.sparse_code import lambda_max, reconstruct, sparse_code
from .coding.working_set import WorkingSet
from .model.codes import Codes
from .model.problem import Progress
from .signals.lowpass import lowpass_split, lowpass_split_tv
from .threads import get_num_threads, set_num_threads

__version__ = "0.1.0"

__all__ = [
    "ADMM",
    "FISTA",
    "Codes",
    "Progress",
    "WorkingSet",
    "get_num_threads",
    "lambda_max",
    "lowpass_split",
    "lowpass_split_tv",
    "reconstruct",
    "set_num_threads",
    "sparse_code",
]
