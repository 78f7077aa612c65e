"""One job in a process of its own, so that its memory is its own too.

`python -m benchmarks.child JOB.json` prints one line of JSON: what `work(job, arrays)` of the
module that the job names gives back.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .environment import ROOT, use_cores


def run_apart(job: dict[str, Any], *, limit: float, **arrays: np.ndarray) -> dict:
    """Do `job` in a fresh process; {"failed": why} if it does not come back in time."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        np.savez(where / "arrays.npz", **arrays)
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
    module = import_module(f"{__package__}.{job['module']}")
    with np.load(file.with_name("arrays.npz")) as stored:
        return module.work(job, dict(stored))


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
