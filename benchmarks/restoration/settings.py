"""Everything that a run of the experiment `restoration` can be told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

HOLES = (
    ("monarch", 0.5),
    ("monarch, grey", 0.5),
    ("barbara", 0.5),
    ("kodim23", 0.5),
    ("kodim23", 0.8),
)


@dataclass(frozen=True)
class Settings:
    out: Path = Path("docs/results")
    pictures: tuple[str, ...] = ("monarch", "monarch, grey", "barbara", "kodim23")  # to denoise
    noises: tuple[float, ...] = (0.05, 0.1, 0.2)  # σ
    holes: tuple[tuple[str, float], ...] = HOLES  # to fill: which picture, the share hidden
    side: int | None = 320  # of a piece from the middle of larger pictures; None: all of them
    repeats: int = 5  # of what is fast; the median counts
    fast: float = 10.0  # seconds: what takes longer runs once
    told: tuple[float, ...] = (0.8, 1.0, 1.25)  # times σ, to tune SPORCO by
    search_side: int = 192  # of the piece on which it is tuned
    sporco_iterations: int | None = None  # None: as many as its examples allow
    weights: tuple[float, ...] = (0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.5)  # of total variation, by σ
    wavelets: tuple[str, ...] = ("db1", "db2", "sym4")
    time_limit: float = 180.0  # seconds for biharmonics
    shown: int = 128  # side of the details in the figures
    cores: int = 2
    quick: bool = False

    def as_json(self) -> dict:
        told = asdict(self)
        del told["out"]  # a place on somebody's machine
        return told


QUICK = {
    "pictures": ("monarch", "barbara"),
    "noises": (0.1,),
    "holes": (("monarch", 0.5), ("kodim23", 0.8)),
    "side": 96,
    "repeats": 2,
    "told": (1.0,),
    "search_side": 64,
    "sporco_iterations": 10,
    "weights": (0.85,),
    "wavelets": ("db2",),
    "time_limit": 60.0,
    "shown": 64,
    "quick": True,
}
