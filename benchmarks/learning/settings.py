"""Everything that a run of the experiment `learning` can be told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from ..rivals.sporco_admm import Tuned
from ..rivals.sporco_online import Hurried

RHOS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
ITERATIONS = (10, 15, 25, 50)
ADAPTED = (2.0, 5.0, 10.0)  # starts of a ρ that is adapted as SPORCO's learner does


def hurried(rhos=RHOS, adapted=ADAPTED, iterations=ITERATIONS) -> tuple[Hurried, ...]:
    ways = [Tuned(rho=rho) for rho in rhos]
    ways += [Tuned(rho=rho, period=10, gentle=True) for rho in adapted]
    return tuple(Hurried(how, n_iter) for n_iter in iterations for how in ways)


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
    quick: bool = False
    looks: tuple[float, ...] = (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 35, 40)  # images, for everybody
    fine: float = 2.0  # images from one look to the next, for our own main entrants
    passes: int = 3
    repeats: int = 3  # of our timed runs; medians count
    slow_budget: float = 60.0  # seconds for each of our domains that are known to be slow
    hurried: tuple[Hurried, ...] = hurried()
    search_images: int = 5
    finalist_passes: int = 2  # SPORCO's finalists may go on until they reach the value
    n_patches: int = 5000  # a mini-batch of scikit-learn's, from one image
    batch_seconds: float = 300.0  # for the long batch run, in two halves
    memory_images: tuple[int, ...] = (5, 20)
    hidden: float = 0.3  # the share of pixels
    mask_seeds: tuple[int, ...] = (0, 1, 2)
    n_steps: int = 10_000
    tile: int = 32
    piece_sizes: tuple[int, ...] = (64, 256, 1024)
    batch_sizes: tuple[int, ...] = (1, 4, 16)
    coding_gaps: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01)  # while learning

    def as_json(self) -> dict:
        told = asdict(self) | {"hurried": [str(setting) for setting in self.hurried]}
        del told["photos"], told["out"]  # places on somebody's machine
        return told


QUICK = {
    "n_train": 4,
    "n_test": 2,
    "size": 64,
    "n_kernels": 16,
    "kernel": 8,
    "looks": (1, 2, 4),
    "fine": 1.0,
    "passes": 2,
    "repeats": 2,
    "slow_budget": 3.0,
    "hurried": hurried((5.0,), (5.0,), (10, 25)),
    "search_images": 2,
    "n_patches": 500,
    "batch_seconds": 4.0,
    "memory_images": (2, 4),
    "mask_seeds": (0, 1),
    "n_steps": 300,
    "piece_sizes": (32, 64, 128),
    "batch_sizes": (1, 4),
    "coding_gaps": (0.3, 0.03),
    "quick": True,
}
