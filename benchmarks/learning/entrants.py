"""Our own entrants in the race: methods, domains, and how images are split."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DEFAULT = "surrogate_lag"


@dataclass(frozen=True)
class Entrant:
    key: str
    label: str
    told: dict[str, Any] = field(default_factory=dict)  # to the learner; the rest is its default
    slow: bool = False  # stops when a budget of seconds is spent
    further: bool = False  # also runs all passes, in one more run


WHOLE = {"split": None, "shuffle": False}  # one image a step, in the order given
ENTRANTS = (
    Entrant(DEFAULT, "convdict surrogate, lag (default)", further=True),
    Entrant("surrogate_lag_whole", "convdict surrogate, lag, whole images", WHOLE),
    Entrant(
        "sgd_sparse", "convdict SGD, sparse", {"method": "sgd", "domain": "sparse"}, further=True
    ),
    Entrant(
        "sgd_sparse_whole",
        "convdict SGD, sparse, whole images",
        {"method": "sgd", "domain": "sparse"} | WHOLE,
    ),
    Entrant(
        "sgd_frequency_whole",
        "convdict SGD, frequency, whole images",
        {"method": "sgd", "domain": "frequency"} | WHOLE,
    ),
    Entrant(
        "surrogate_sparse",
        "convdict surrogate, sparse, tiles of 64²",
        {"domain": "sparse", "split": 64, "shuffle": False},
        slow=True,
    ),
    Entrant(
        "surrogate_frequency",
        "convdict surrogate, frequency, tiles of 64²",
        {"domain": "frequency", "split": 64, "shuffle": False},
        slow=True,
    ),
)
