"""Writes the files of this version that all later ones must read; existing ones stay."""

from pathlib import Path

import numpy as np

from convdict.learning.storage import VERSION
from tests.oracles import runs

if __name__ == "__main__":
    here = Path(__file__).parent
    path = here / f"learner-v{VERSION}.npz"
    if path.exists():
        raise SystemExit(f"{path} is there already: files of released versions never change")
    learner, images, _ = runs.make("surrogate")
    learner.fit(images, callback=lambda at: at.n_steps_ == 3)
    learner.save(path)
    np.save(here / f"learner-v{VERSION}-dictionary.npy", learner.dictionary_)
