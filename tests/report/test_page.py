"""The page of a run: whole, in one file, and alive in a real browser."""

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

import convdict as cd
from convdict.report.html import POINTS, report

from ..oracles import runs

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
SWITCHES = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=4000",
    "--host-resolver-rules=MAP*~NOTFOUND",
]

# Moves the slider to each end and says what is seen, and what went wrong.
VISITOR = """
<script>
window.seen = [];
window.addEventListener("error", (e) => window.seen.push("error: " + e.message));
const complain = console.error;
console.error = (...said) => { window.seen.push("error: " + said.join(" ")); complain(...said); };
window.addEventListener("load", () => {
  const slider = document.getElementById("when");
  const look = () => [
    document.getElementById("kernels").naturalWidth > 0,
    document.getElementById("kernels").src.length,
    document.getElementById("shown").textContent,
  ];
  const found = {end: look()};
  slider.value = 0;
  slider.dispatchEvent(new Event("input", {bubbles: true}));
  found.start = look();
  found.errors = window.seen;
  found.curves = document.querySelectorAll("#charts path").length;
  found.bars = document.querySelectorAll("#usage rect").length;
  found.images = document.querySelectorAll("#explained img").length;
  found.rows = document.querySelectorAll("#settings tr").length;
  found.title = document.title;
  const said = document.createElement("pre");
  said.id = "said";
  said.textContent = JSON.stringify(found);
  document.body.appendChild(said);
});
</script>
"""


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for i, s in enumerate(runs.signals((25, 18), 6, (4, 3), 0)):
        Image.fromarray(np.clip(s * 40 + 128, 0, 255).astype(np.uint8)).save(folder / f"{i}.png")
    return folder


@pytest.fixture(scope="module")
def learned(photos):
    """A learner, the kernels after each step, and its files."""
    files = cd.SignalFiles(photos, n_axes=2)
    learner = cd.ConvDictLearner(3, (4, 3), 0.05, random_state=0, n_epochs=2)
    shown = []
    learner.fit(
        files,
        validation=files,
        callback=lambda at: shown.append((at.n_steps_, at.dictionary_)) and None,
    )
    return learner, shown, files


def data_of(page):
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]
    return json.loads(text.replace("<\\/", "</"))


def test_the_page_holds_the_run(learned):
    learner, shown, files = learned
    page = report(learner, snapshots=shown, images=files, settings={"images": ["</script>"]})
    data = data_of(page)
    assert data["settings"] == [["images", '["</script>"]']]
    np.testing.assert_allclose(data["history"]["value"], learner.history_.value, rtol=1e-5)
    assert [one["step"] for one in data["snapshots"]] == list(range(1, 13))
    assert data["snapshots"][-1]["picture"].startswith("data:image/png;base64,")
    assert sum(data["usage"]) == pytest.approx(1, abs=1e-3)
    assert sorted(data["usage"], reverse=True) == data["usage"]
    groups = [group["title"] for group in data["explained"]]
    assert groups == ["Explained worst", "Explained best"]
    shares = [
        float(one["caption"].split(": ")[1].split(" %")[0])
        for group in data["explained"][::-1]
        for one in group["images"]
    ]
    assert shares[0] <= shares[1] <= max(shares) == shares[2]
    assert dict(data["environment"])["convdict"]


def test_it_needs_nothing_else(learned):
    page = report(learned[0])
    assert not re.search(r'(src|href)\s*=\s*"(?!data:)', page)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_long_runs_are_thinned_out():
    learner = cd.ConvDictLearner(2, 5, 0.3, random_state=0)
    noise = np.random.default_rng(0).standard_normal((POINTS + 301, 20)).astype(np.float32)
    learner.partial_fit(list(noise))
    history = data_of(report(learner))["history"]
    assert len(history["step"]) == POINTS
    assert np.mean(history["value"]) == pytest.approx(learner.history_.value.mean(), rel=0.01)


@pytest.mark.parametrize("kind", runs.KINDS)
def test_every_kind_of_run_has_a_page(kind):
    learner, images, mask = runs.make(kind)
    page = report(learner.fit(images, mask), snapshots=[(1, learner.dictionary_)])
    assert data_of(page)["steps"] == learner.n_steps_


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_it_lives_in_a_browser(learned, tmp_path):
    learner, shown, files = learned
    page = report(learner, snapshots=shown, images=files, settings={"λ": 0.05, "seed": 0})
    (tmp_path / "report.html").write_text(page.replace("<head>", "<head>" + VISITOR))
    done = subprocess.run(
        [BROWSER, *SWITCHES, f"--user-data-dir={tmp_path / 'home'}", "--dump-dom",
         (tmp_path / "report.html").as_uri()],
        capture_output=True, text=True, timeout=120,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    said = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.S)
    assert said, done.stdout[-2000:] + done.stderr[-2000:]
    found = json.loads(html.unescape(said[1]))
    assert found["errors"] == []
    assert not re.search(r"CONSOLE.*(error|Uncaught)", done.stderr, re.I)
    assert [found[when][0] for when in ("end", "start")] == [True, True], "kernels are drawn"
    assert found["end"][2] == "after step 12 of 12"
    assert found["start"][2] == "after step 1 of 12"
    assert found["end"][1] != found["start"][1], "the slider shows another dictionary"
    assert found["curves"] == 2 * 6 + 1
    assert found["bars"] == 3
    assert found["images"] == 8
    assert found["rows"] == 2
