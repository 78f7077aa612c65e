"""Stage `main`: every photograph, every rival, side by side."""

from __future__ import annotations

from functools import partial
from statistics import median

from . import trace
from .datasets import photographs, source
from .dictionaries import load
from .judge import Problem, judge
from .results import Results
from .rivals import dense_fista, ours, sporco_admm
from .rivals.sporco_admm import Tuned
from .search import at_most, certified, first_iteration, loosest_tolerance
from .settings import Settings
from .timing import Contender, Neighbours, interleave, say, timed


def run(settings: Settings, stage: dict, results: Results) -> None:
    d = load(settings.dictionary)
    photos = photographs(settings.photos, n=settings.n_images, size=settings.size)
    problems = [Problem(photo.s, d, settings.penalty) for photo in photos]
    stage["photographs"] = source(settings.photos)
    stage["images"] = []
    _warm_up(problems[0], settings)

    papers = [_paper(problem) for problem in problems[: settings.search_images]]
    stage["search"] = search_tuned(problems[: settings.search_images], papers, settings)
    fastest = settings.tuned[stage["search"]["fastest"]]
    results.save()

    for i, (photo, problem) in enumerate(zip(photos, problems, strict=True)):
        neighbours = Neighbours()
        paper = papers[i] if i < len(papers) else _paper(problem)
        found = _one_image(problem, paper, fastest, settings, i)
        stage["images"].append(
            {"name": photo.name, "cores_busy_elsewhere": neighbours.busy()} | found
        )
        results.save()
        say(f"main: image {i + 1} of {len(photos)}: {_in_short(stage['images'][-1])}")

    stage["trace"] = {"image": photos[0].name} | trace.record(problems[0], fastest, settings)
    results.save()


def search_tuned(problems: list[Problem], papers: list[Contender], settings: Settings) -> dict:
    """SPORCO's setting that comes to its own default objective soonest, on a few images."""
    rows = []
    best = [paper.seconds[0] for paper in papers]
    for how in settings.tuned:
        reached = []
        for i, (problem, paper) in enumerate(zip(problems, papers, strict=True)):
            attempt = partial(sporco_admm.tuned, problem, how, 1000)
            sporco_admm.tuned(problem, how, 2)
            arrived = at_most(problem, paper.judgements[0].objective)
            found = first_iteration(attempt, arrived, budget=1.5 * best[i])
            reached.append(found)
            if found:
                best[i] = min(best[i], found.seconds)
        rows.append(
            {
                "setting": str(how),
                "iterations": [found.n_iter if found else None for found in reached],
                "seconds": [found.seconds if found else None for found in reached],
            }
        )
        say(f"search: SPORCO with {how}: {rows[-1]['iterations']} iterations")
    return {"settings": rows, "fastest": _soonest(rows)}


def _soonest(rows: list[dict]) -> int:
    """Most images reached first, then the least median time."""

    def badness(i: int) -> tuple[int, float]:
        seconds = [s for s in rows[i]["seconds"] if s is not None]
        return len(rows[i]["seconds"]) - len(seconds), median(seconds) if seconds else 0.0

    return min(range(len(rows)), key=badness)


def _paper(problem: Problem) -> Contender:
    """SPORCO at the paper's settings, run once: its objective is everybody's target.

    That run counts; more follow in turn with everybody else's.
    """
    contender = Contender(
        "sporco_paper", partial(sporco_admm.paper, problem), 1, "relative residual 1e-3"
    )
    contender.go(problem)
    return contender


def _one_image(
    problem: Problem, paper: Contender, fastest: Tuned, settings: Settings, index: int
) -> dict:
    target = paper.judgements[0].objective
    paper.repeats = 1 + settings.rival_repeats
    contenders = [paper]

    def enter(key, run, repeats, setting, read=lambda codes: codes):
        contenders.append(Contender(key, run, repeats, setting, read))

    def enter_ours(key, tol, solver="working_set", repeats=settings.repeats):
        run = partial(ours.solve, problem, tol=tol, solver=solver)
        enter(key, run, repeats, f"{solver}, tol={tol:g}", ours.readable)

    tol = loosest_tolerance(problem, settings.tolerances, target)
    if tol is not None:
        enter_ours("ours_to_target", tol)
    enter_ours("ours_certified", settings.certificate)

    attempt = partial(sporco_admm.tuned, problem, fastest, 1000)
    found = first_iteration(attempt, at_most(problem, target), budget=3 * paper.seconds[0])
    if found:
        plain = partial(sporco_admm.tuned, problem, fastest, found.n_iter)
        setting = f"{fastest}, {found.n_iter} iterations"
        enter("sporco_fast", plain, max(settings.rival_repeats, 3), setting)

    if index < settings.fft_images:
        goals = {
            "fista_to_target": (at_most(problem, target), 1),
            "fista_certified": (certified(problem, settings.certificate), 10),
        }
        for key, (arrived, every) in goals.items():
            attempt = partial(dense_fista.solve, problem, 10_000)
            budget = 20 * paper.seconds[0]
            found = first_iteration(attempt, arrived, budget=budget, every=every)
            if found:
                plain = partial(dense_fista.solve, problem, found.n_iter)
                enter(key, plain, settings.rival_repeats, f"{found.n_iter} iterations")
        for solver in ("admm", "fista"):
            key = f"ours_{solver}_certified"
            enter_ours(key, settings.certificate, solver, settings.rival_repeats)

    interleave(problem, contenders)
    return {
        "target": target,
        "contenders": {contender.key: contender.as_json() for contender in contenders},
    }


def _warm_up(problem: Problem, settings: Settings) -> None:
    """Compile, plan the FFTs and fault the pages in before any clock runs."""
    say("warming up")
    seconds, codes = timed(lambda: ours.solve(problem, tol=settings.certificate))
    judge(problem, ours.readable(codes))
    say(f"the first call of sparse_code took {seconds:.2f} s, compiling included")
    for solver in ("admm", "fista"):
        ours.solve(problem, tol=0.5, solver=solver)
    for how in settings.tuned[:1]:
        sporco_admm.tuned(problem, how, 3)
    dense_fista.solve(problem, 3)


def _in_short(image: dict) -> str:
    names = {"sporco_paper": "SPORCO", "sporco_fast": "tuned", "ours_to_target": "ours"}
    names["ours_certified"] = "certified"
    runs = image["contenders"]
    return ", ".join(f"{names[k]} {runs[k]['median_seconds']:.3g} s" for k in names if k in runs)
