"""Stage `memory`: the most that one image needs, an ordinary one and a very large one."""

from __future__ import annotations

from .child import run_apart
from .datasets import mosaic, photographs, source
from .dictionaries import load
from .results import Results
from .settings import Settings
from .timing import say


def run(settings: Settings, stage: dict, results: Results) -> None:
    d = load(settings.dictionary)
    photo = photographs(settings.photos, n=1, size=settings.size)[0]
    stage["photographs"] = source(settings.photos)
    stage["rows"] = []
    tol = settings.certificate
    jobs = [(solver, photo.s) for solver in (*settings.solvers, "sporco")]
    jobs.append(("working_set", mosaic(settings.photos, settings.large)))

    for solver, s in jobs:
        job = {"module": "one_image", "solver": solver, "cores": settings.cores}
        job |= {"penalty": settings.penalty, "tol": tol}
        if solver != "sporco":  # so that compiled kernels lie on the disk
            run_apart(job | {"judge": False}, s=photo.s, d=d, limit=600.0)
        found = run_apart(job, s=s, d=d, limit=3600.0)
        stage["rows"].append({"solver": solver, "size": s.shape[0], "tol": tol} | found)
        say(f"memory: {solver}, {s.shape[0]}²: {found}")
        results.save()
