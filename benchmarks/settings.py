"""Everything that a run of the experiment `coding` can be told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from .rivals.sporco_admm import Tuned

TOLERANCES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)
TUNED = (
    *(Tuned(rho=rho) for rho in (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)),
    Tuned(period=1),
    Tuned(period=10),
    Tuned(rho=5.0, period=10, gentle=True),
    Tuned(rho=5.0, threads=1),
    Tuned(period=10, threads=1),
)


@dataclass(frozen=True)
class Settings:
    photos: Path | None = None
    dictionary: Path | None = None
    out: Path = Path("docs/results")
    n_images: int = 10
    size: int = 256
    penalty: float = 0.1
    certificate: float = 1e-3  # the gap at which codes count as certified
    tolerances: tuple[float, ...] = TOLERANCES
    tuned: tuple[Tuned, ...] = TUNED
    search_images: int = 2  # images on which SPORCO's fastest setting is searched
    fft_images: int = 3  # images on which dense FISTA and our own FFT solvers run
    repeats: int = 5  # of our runs; the median counts
    rival_repeats: int = 1
    trace_points: int = 60
    cores: int = 2
    seed: int = 0
    quick: bool = False
    large: int = 4096
    scaling_tol: float = 1e-2
    sizes: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048)
    kernel_counts: tuple[int, ...] = (16, 32, 64, 128, 256)
    kernel_sizes: tuple[int, ...] = (4, 6, 8, 12, 16, 24)
    penalties: tuple[float, ...] = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
    solvers: tuple[str, ...] = ("working_set", "admm", "fista")  # ours, in fresh processes
    fft_size_limit: int = 512  # FFT solvers hold dense maps: not beyond this
    time_limit: float = 300.0  # seconds for one cell of a scaling sweep

    def as_json(self) -> dict:
        told = asdict(self) | {"tuned": [str(how) for how in self.tuned]}
        del told["photos"], told["out"]  # places on somebody's machine
        told["dictionary"] = self.dictionary.name if self.dictionary else "SPORCO's G:12x12x64"
        return told


QUICK = {
    "n_images": 2,
    "size": 64,
    "tolerances": (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4),
    "tuned": (Tuned(rho=5.0), Tuned(period=10)),
    "search_images": 1,
    "fft_images": 1,
    "repeats": 3,
    "trace_points": 12,
    "solvers": ("working_set",),
    "large": 256,
    "sizes": (64, 128),
    "kernel_counts": (16, 32),
    "kernel_sizes": (6, 12),
    "penalties": (0.3, 0.1),
    "fft_size_limit": 64,
    "time_limit": 20.0,
    "quick": True,
}
