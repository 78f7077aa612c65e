"""Everything that a run of the experiment `paper` can be told; the defaults are the paper's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    photos: Path | None = None
    out: Path = Path("docs/results")
    n_train: int = 40
    n_test: int = 20
    size: int = 256
    n_kernels: int = 64
    kernel: int = 12
    penalty: float = 0.1
    certificate: float = 2e-3  # the gap to which test images are coded
    seed: int = 0
    cores: int = 2
    repeats: int = 3  # of what is timed by itself; the median counts
    quick: bool = False
    passes: int = 3  # of runs whose course counts, not their time
    coding_tol: float = 1e-2  # of these runs: sharp, for codes are not what they compare
    looks: int = 8  # at every run, closer together at first
    fixed_steps: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03, 0.01)
    step_grid: tuple[float, ...] = (5.0, 10.0, 20.0)  # a and b of a / (b + t)
    exponents: tuple[float, ...] = (0.0, 5.0, 10.0, 20.0, 40.0, 80.0)
    tiles: tuple[int, ...] = (12, 16, 32, 64, 256)
    step_sizes: tuple[int, ...] = (256, 128, 64)  # of the tables of single steps
    shares: tuple[float, ...] = (0.1, 0.2, 0.3)  # of the pixels that impulses ruin
    batches: tuple[int, ...] = (10, 20, 40)  # images of the batch methods
    budget: float = 900.0  # seconds for each run of the main result
    memory_iterations: int = 2
    large_train: int = 1000
    large_test: int = 50
    large_kernels: int = 100

    def as_json(self) -> dict:
        told = asdict(self)
        del told["photos"], told["out"]  # places on somebody's machine
        return told


QUICK = {
    "n_train": 6,
    "n_test": 3,
    "size": 64,
    "n_kernels": 16,
    "kernel": 8,
    "passes": 2,
    "repeats": 1,
    "looks": 4,
    "fixed_steps": (1.0, 0.1, 0.01),
    "step_grid": (5.0, 10.0),
    "exponents": (0.0, 10.0, 80.0),
    "tiles": (8, 16, 32, 64),
    "step_sizes": (64, 32),
    "shares": (0.1, 0.3),
    "batches": (3, 6),
    "budget": 5.0,
    "large_train": 24,
    "large_test": 4,
    "large_kernels": 20,
    "quick": True,
}
