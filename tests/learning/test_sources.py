"""Files, data sets and loaders: learned from as arrays of the same values are."""

import os
import threading

import numpy as np
import pytest
import tifffile
from PIL import Image
from scipy.io import wavfile

import convdict as cd
from convdict.errors import InputError
from convdict.signals.folder import ReadNote, SkippedFile
from convdict.signals.steps import prepare, steps_of

from ..oracles import runs


def learner(**changes):
    told = {"n_kernels": 3, "kernel_size": (4, 3), "penalty": 0.05, "random_state": 7}
    return cd.ConvDictLearner(**{**told, **changes})


@pytest.fixture
def images():
    """Sums of three kernels, as bytes; of two sizes."""
    found = []
    for shape, seed in (((25, 18), 0), ((20, 22), 1)):
        for image in runs.signals(shape, 3, (4, 3), seed):
            found.append(np.clip(image * 40 + 128, 0, 255).astype(np.uint8))
    return found


@pytest.fixture
def photos(tmp_path, images):
    for i, image in enumerate(images):
        Image.fromarray(image).save(tmp_path / f"{i}.png")
    return tmp_path


def prepared(images, **options):
    return [prepare(image, steps_of("auto", 2), **options).s for image in images]


def same(a, b):
    np.testing.assert_array_equal(a.dictionary_, b.dictionary_)
    np.testing.assert_array_equal(a.history_.value, b.history_.value)


@pytest.mark.parametrize("options", [{}, {"n_epochs": 3}, {"shuffle": False}, {"batch_size": 4}])
def test_a_folder_is_learned_from_as_its_pictures_are(photos, images, options):
    expected = learner(**options).fit(prepared(images))
    for paths in (str(photos), photos, str(photos / "*.png"), sorted(photos.iterdir())):
        same(learner(**options).fit(paths), expected)


def test_partial_fit_transform_and_evaluate_take_files(photos, images):
    expected = learner().partial_fit(prepared(images))
    found = learner().partial_fit(photos)
    same(found, expected)
    assert found.transform(photos) == expected.transform(prepared(images))
    assert found.evaluate(photos).value == expected.evaluate(prepared(images)).value
    by_hand = cd.evaluate(found.dictionary_, str(photos), 0.05)
    assert by_hand.value == pytest.approx(found.evaluate(photos).value)


def test_how_files_are_prepared_can_be_said(photos, images):
    plain = learner(preprocess="scale").fit(photos)
    same(plain, learner().fit([image * np.float32(1 / 255) for image in images]))
    with pytest.raises(InputError, match="has the step 'blur'"):
        learner(preprocess=["blur"]).fit(photos)
    arrays = learner(preprocess="scale").fit(prepared(images))
    same(arrays, learner().fit(prepared(images)))


def test_preparation_is_saved_and_goes_on(photos, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    told = [{"step": "scale"}, {"step": "lowpass", "strength": 2.0}]
    one = learner(preprocess=told, n_epochs=2)
    one.fit(photos, callback=lambda at: at.n_steps_ == 5)
    one.save(out / "half.npz")
    again = cd.load(out / "half.npz").resume(photos)
    same(again, learner(preprocess=told, n_epochs=2).fit(photos))
    assert cd.Dictionary.of(again).steps == steps_of(told, 2)


def test_colour(tmp_path, rng):
    values = rng.integers(0, 256, (3, 20, 20, 3), dtype=np.uint8)
    for i, image in enumerate(values):
        Image.fromarray(image).save(tmp_path / f"{i}.png")
    expected = learner(channel_axis=-1).fit(prepared(values, channel_axis=-1))
    same(learner(channel_axis=-1).fit(tmp_path), expected)
    assert expected.dictionary_.shape == (3, 3, 4, 3)
    with pytest.warns(ReadNote, match="made grey"):
        assert learner().fit(tmp_path).dictionary_.shape == (3, 4, 3)


def test_a_stack_of_sixteen_bits(tmp_path, images):
    stack = np.stack([image[:20, :18] for image in images]).astype(np.uint16) * 257
    tifffile.imwrite(tmp_path / "stack.tif", stack, photometric="minisblack")
    found = learner().fit(tmp_path / "stack.tif")
    same(found, learner().fit(prepared(stack)))
    assert found.n_images_ == pytest.approx(6)


def test_sounds(tmp_path, rng):
    for i in range(3):
        samples = (rng.standard_normal(400) * 3000).astype(np.int16)
        wavfile.write(tmp_path / f"{i}.wav", 8000, samples)
    found = learner(kernel_size=7).fit(tmp_path)
    scale = np.float32(1 / 32767)
    arrays = [wavfile.read(tmp_path / f"{i}.wav")[1] * scale for i in range(3)]
    same(found, learner(kernel_size=7).fit(arrays))


def test_masks_from_files(photos, images, tmp_path_factory, rng):
    folder = tmp_path_factory.mktemp("masks")
    masks = []
    for i, image in enumerate(images):
        masks.append(rng.random(image.shape) < 0.8)
        Image.fromarray(masks[-1]).save(folder / f"{i}.png")
    spoilt = [np.where(m, s, 255).astype(np.uint8) for s, m in zip(images, masks, strict=True)]
    steps = steps_of("auto", 2)
    arrays = [prepare(s, steps, w=m).s for s, m in zip(spoilt, masks, strict=True)]
    expected = learner().fit(arrays, masks)
    same(learner().fit(photos, folder), expected)
    for i, image in enumerate(spoilt):  # what is hidden does not leak into what is not
        Image.fromarray(image).save(photos / f"{i}.png")
    same(learner().fit(photos, folder), expected)
    with pytest.raises(InputError, match="mask"):
        learner().fit(photos, sorted(folder.iterdir())[:4])


def test_hidden_samples_of_files_are_hidden(tmp_path, images):
    """Saturated ones by a step, missing ones as NaN."""
    float_images = [image / np.float32(255) for image in images]
    for i, image in enumerate(float_images):
        image[3:5, 4:9] = np.nan
        tifffile.imwrite(tmp_path / f"{i}.tif", image)
    masks = [np.isfinite(image) for image in float_images]
    expected = learner().fit([np.nan_to_num(image) for image in float_images], masks)
    same(learner(preprocess=None).fit(tmp_path), expected)


def test_a_bad_file_is_skipped_and_what_is_of_no_use_too(photos, images):
    (photos / "bad.png").write_text("no picture")
    found = learner()
    with pytest.warns(SkippedFile, match=r"bad.png cannot be read"):
        found.fit(photos)
    assert found.n_images_ == pytest.approx(6)
    Image.fromarray(np.zeros((2, 2), np.uint8)).save(photos / "bad.png")
    found = learner()
    with pytest.warns(SkippedFile, match=r"smaller|fit"):
        found.fit(cd.SignalFiles(photos, n_axes=2, most_bad=0.2))
    assert found.n_images_ == pytest.approx(6)


def test_the_run_goes_on_exactly_though_a_file_is_bad(photos, tmp_path_factory):
    (photos / "3b.png").write_text("no picture")
    out = tmp_path_factory.mktemp("out") / "half.npz"
    with pytest.warns(SkippedFile):
        whole = learner(n_epochs=2).fit(photos)
    half = learner(n_epochs=2)
    with pytest.warns(SkippedFile):
        half.fit(photos, callback=lambda at: at.n_steps_ == 4)
    half.save(out)
    again = cd.load(out)
    with pytest.warns(SkippedFile):
        again.resume(photos)
    same(again, whole)


def test_many_bad_files_stop_the_run_and_nothing_is_lost(photos):
    for i in range(4):
        (photos / f"bad{i}.png").write_text("no picture")
    found = learner(shuffle=False)
    with pytest.warns(SkippedFile), pytest.raises(InputError, match="of no use"):
        found.fit(photos)
    assert found.n_steps_ > 0
    assert np.isfinite(found.dictionary_).all()


def test_files_opened_for_other_kernels_are_refused(photos):
    with pytest.raises(InputError, match="opened for kernels of 2 axes"):
        learner(kernel_size=5).fit(cd.SignalFiles(photos, n_axes=2))


def test_no_thread_stays_behind(photos):
    before = set(threading.enumerate())
    learner().fit(photos, callback=lambda at: True)
    for thread in set(threading.enumerate()) - before:
        if thread.name.startswith("convdict-read"):
            thread.join(5)
            assert not thread.is_alive()


class Tensor:
    """What is asked of PyTorch's: detach, cpu, NumPy's protocol, iteration."""

    def __init__(self, values):
        self._values = np.asarray(values)
        self.ndim, self.shape = self._values.ndim, self._values.shape

    def detach(self):
        return self

    def cpu(self):
        return self

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype)

    def __iter__(self):
        return (Tensor(v) for v in self._values)

    def __len__(self):
        return len(self._values)

    def __getitem__(self, index):
        return Tensor(self._values[index])


class Dataset:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


class Loader:
    """Batches of (images, labels), as torch.utils.data.DataLoader gives them."""

    def __init__(self, dataset, batch_size):
        self.dataset, self.batch_size = dataset, batch_size

    def __iter__(self):
        for start in range(0, len(self.dataset), self.batch_size):
            some = [self.dataset[i] for i in range(len(self.dataset))][
                start : start + self.batch_size
            ]
            yield [Tensor([np.asarray(s) for s, _ in some]), Tensor([label for _, label in some])]

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)


@pytest.fixture
def alike():
    return list(runs.signals((25, 18), 5, (4, 3), 0).astype(np.float32))


def test_data_sets_with_and_without_labels(alike):
    expected = learner().fit(alike)
    same(learner().fit(Dataset(alike)), expected)
    same(learner().fit(Dataset([(Tensor(s), 1) for s in alike])), expected)
    same(learner().fit(Dataset([(Tensor(s[np.newaxis]), 1) for s in alike])), expected)


def test_loaders_and_their_labels(alike):
    """A loader has an order of its own: that of partial_fit, and of fit without shuffling."""
    data = Dataset([(Tensor(s[np.newaxis]), 1) for s in alike])
    expected = learner(shuffle=False, n_epochs=2).fit(alike)
    found = learner(shuffle=False, n_epochs=2).fit(Loader(data, 2))
    same(found, expected)
    same(learner().partial_fit(Loader(data, 3)), learner().partial_fit(alike))


def test_channels_of_a_loader(rng):
    images = rng.standard_normal((4, 3, 20, 20)).astype(np.float32)
    data = Dataset([(Tensor(s), 0) for s in images])
    same(
        learner(channel_axis=0, shuffle=False).fit(Loader(data, 2)),
        learner(channel_axis=0, shuffle=False).fit(images),
    )


def test_pytorch_itself(alike):
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.tensor(np.stack(alike))[:, None], torch.zeros(5))
    loader = torch.utils.data.DataLoader(data, batch_size=2)
    same(learner(shuffle=False).fit(loader), learner(shuffle=False).fit(alike))
    same(learner().fit(data), learner().fit(alike))


def test_paths_may_be_anything_that_stands_for_one(photos, images):
    class Path:
        def __fspath__(self):
            return os.fspath(photos)

    same(learner().fit(Path()), learner().fit(photos))
