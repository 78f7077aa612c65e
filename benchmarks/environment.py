"""What a result must say about where it was made."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "convdict",
    "numpy",
    "scipy",
    "numba",
    "sporco",
    "pyfftw",
    "numexpr",
    "scikit-image",
    "scikit-learn",
    "PyWavelets",
)
ROOT = Path(__file__).resolve().parent.parent


def use_cores(n: int) -> int:
    """Keep this process, and every child, on `n` cores; return how many it has."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n])
    return cores_at_hand()


def cores_at_hand() -> int:
    """How many cores this process may use; FFTs of every rival run on as many threads."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def provenance(n_cores: int) -> dict:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": {
            "processor": _processor(),
            "cores_used": n_cores,
            "cores": os.cpu_count(),
            "memory_gib": _memory_gib(),
            "system": f"{platform.system()} {platform.machine()}",
            "load_at_start": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        },
        "versions": {"python": platform.python_version()} | {p: _version(p) for p in PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None


def _commit() -> str | None:
    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    commit = git("rev-parse", "--short", "HEAD")
    return f"{commit} with changes" if commit and git("status", "--porcelain") else commit or None
