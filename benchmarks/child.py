"""One job in a process of its own, so that its memory is its own too.

`python -m benchmarks.child JOB.json` prints one line of JSON. Memory is what Linux counts as
VmHWM, the most the process ever held resident, less what it held after the imports and with
its input loaded. (`ru_maxrss` would not do: it survives `exec` and so may be the parent's.)
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from .environment import ROOT, use_cores


def run_apart(job: dict[str, Any], *, s: np.ndarray, d: np.ndarray, limit: float) -> dict:
    """Do `job` in a fresh process; {"failed": why} if it does not come back in time."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        np.save(where / "s.npy", s)
        np.save(where / "d.npy", d)
        (where / "job.json").write_text(json.dumps(job))
        command = [sys.executable, "-m", "benchmarks.child", str(where / "job.json")]
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return {"failed": f"over {limit:.0f} s"}
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or ["no word"])[-1][:200]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def main(file: Path) -> dict:
    job = json.loads(file.read_text())
    use_cores(job["cores"])
    from .judge import Problem, judge
    from .rivals import ours
    from .timing import timed

    if job["solver"] == "sporco":
        from sporco.admm import cbpdn  # noqa: F401

        from .rivals import sporco_admm

        def solve(problem):
            return sporco_admm.paper(problem)
    else:
        import convdict  # noqa: F401  (imports belong before the baseline)

        def solve(problem):
            return ours.solve(problem, tol=job["tol"], solver=job["solver"])

    s, d = np.load(file.with_name("s.npy")), np.load(file.with_name("d.npy"))
    problem = Problem(s, d, job["penalty"])
    _forget_peak()
    imported = _resident()
    corner = job.get("warm_up")  # a small corner first: compiled kernels come off the disk
    if corner:
        solve(Problem(np.ascontiguousarray(s[:corner, :corner]), d, job["penalty"]))
    warmed = _resident()
    seconds, codes = timed(lambda: solve(problem))
    times = [seconds]
    peak = _resident("VmHWM")
    while len(times) < job.get("repeats", 1) and sum(times) < 3.0:
        times.append(timed(lambda: solve(problem))[0])
    found = {
        "seconds": median(times),
        "memory_mb": _megabytes(peak, imported),
        "memory_after_warm_up_mb": _megabytes(peak, warmed) if corner else None,
        "imports_mb": _megabytes(imported, 0),
    }
    if job.get("judge", True):
        seen = judge(problem, codes if job["solver"] == "sporco" else ours.readable(codes))
        found |= {"objective": seen.objective, "gap": seen.gap}
        found |= {"nnz": seen.nnz, "density": seen.density}
    return found


def _resident(which: str = "VmRSS") -> int | None:
    """KiB, from /proc; None where there is none."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(which + ":"):
                return int(line.split()[1])
    except OSError:
        pass
    return None


def _forget_peak() -> None:
    """VmHWM starts again from now, so that a transient of the imports does not count."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _megabytes(kib: int | None, less: int | None) -> float | None:
    return None if kib is None or less is None else round((kib - less) * 1024 / 1e6, 1)


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
