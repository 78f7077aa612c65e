"""How much memory this process holds, and the most it ever held.

That is what Linux counts as VmRSS and VmHWM. (`ru_maxrss` would not do: it survives `exec`
and so may be the parent's.)
"""

from __future__ import annotations

import contextlib
from pathlib import Path


def resident(which: str = "VmRSS") -> int | None:
    """KiB, from /proc; None where there is none."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(which + ":"):
                return int(line.split()[1])
    except OSError:
        pass
    return None


def forget_peak() -> None:
    """VmHWM starts again from now, so that a transient of the imports does not count."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def megabytes(kib: int | None, less: int | None) -> float | None:
    return None if kib is None or less is None else round((kib - less) * 1024 / 1e6, 1)
