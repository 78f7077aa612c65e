"""Steps: what they do, that it is undone exactly, and that they can be written down."""

import json
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.ndimage import gaussian_filter

from convdict.command.runs import as_toml
from convdict.errors import InputError
from convdict.signals.lowpass import lowpass_split
from convdict.signals.steps import (
    STEPS,
    Contrast,
    Crop,
    Lowpass,
    Mask,
    Saturated,
    Scale,
    prepare,
    steps_of,
    written,
)

INVERTIBLE = [
    Scale(),
    Scale(0.25),
    Lowpass(),
    Lowpass(20.0, total_variation=True),
    Contrast(4.0),
    Crop(3),
    Saturated(),
]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32", "float64"])
@pytest.mark.parametrize("channel_axis", [None, 0, -1])
@given(st.lists(st.sampled_from(INVERTIBLE), max_size=5, unique=True))
def test_steps_are_undone(dtype, channel_axis, steps):
    rng = np.random.default_rng(1)
    shape = [24, 20]
    if channel_axis is not None:
        shape.insert(channel_axis % 3, 3)
    image = (rng.standard_normal(shape) * 20 + 90).astype(dtype)
    ready = prepare(image, steps, channel_axis=channel_axis)
    again = ready.undo(ready.s)
    scale = np.abs(image.astype(np.float64)).max()
    np.testing.assert_allclose(again, image, atol=2e-4 * scale)


def test_whole_numbers_are_scaled_by_their_range():
    for dtype, top in (("uint8", 255), ("uint16", 65535), ("int16", 32767)):
        s = prepare(np.array([0, top], dtype), [Scale()]).s
        np.testing.assert_array_equal(s, [0, 1])
        assert s.dtype == np.float32
    assert prepare(np.array([3.5]), [Scale()]).s[0] == 3.5
    assert prepare(np.array([8], np.uint16), [Scale(0.25)]).s[0] == 2


def test_lowpass_leaves_the_details(rng):
    image = rng.random((32, 32)).astype(np.float32)
    low, high = lowpass_split(image, 5.0)
    ready = prepare(image, [Lowpass(5.0)])
    np.testing.assert_array_equal(ready.s, high)
    np.testing.assert_array_equal(ready.undo(np.zeros_like(high)), low)


def test_contrast_evens_out_the_strength_of_details(rng):
    weak_and_strong = rng.standard_normal((64, 128)) * np.where(np.arange(128) < 64, 0.1, 3.0)
    ready = prepare(weak_and_strong, [Contrast(8.0, 1e-3)])
    local = np.sqrt(gaussian_filter(weak_and_strong**2, 8.0)) + 1e-3
    np.testing.assert_allclose(ready.s, weak_and_strong / local, rtol=1e-6)
    halves = ready.s[:, :40].std(), ready.s[:, -40:].std()
    assert halves == pytest.approx((1, 1), abs=0.1)


def test_contrast_does_not_look_at_what_is_hidden(rng):
    s = rng.standard_normal((40, 40))
    w = (rng.random((40, 40)) < 0.7).astype(np.float32)
    spoilt = np.where(w > 0, s, 1e6)
    seen = w > 0
    a, b = (prepare(x, [Contrast(5.0)], w=w).s for x in (s, spoilt))
    np.testing.assert_allclose(a[seen], b[seen], rtol=1e-9)


def test_a_crop_comes_back_into_its_frame(rng):
    image = rng.random((10, 12))
    ready = prepare(image, [Crop(2)], w=np.ones((10, 12)))
    assert ready.s.shape == ready.w.shape == (6, 8)
    again = ready.undo(ready.s + 5)
    np.testing.assert_array_equal(again[2:-2, 2:-2], image[2:-2, 2:-2] + 5)
    again[2:-2, 2:-2] = image[2:-2, 2:-2]
    np.testing.assert_array_equal(again, image)
    with pytest.raises(InputError, match="crop leaves nothing"):
        prepare(image, [Crop(5)])


def test_saturated_samples_are_hidden():
    s = np.array([[0, 7, 255], [255, 3, 0]], np.uint8)
    np.testing.assert_array_equal(prepare(s, [Saturated()]).w, [[1, 1, 0], [0, 1, 1]])
    np.testing.assert_array_equal(prepare(s, [Saturated(low=0)]).w, [[0, 1, 0], [0, 1, 0]])
    np.testing.assert_array_equal(prepare(s / 100, [Saturated(high=2.5)]).w[0], [1, 1, 0])
    assert prepare(s[:, 1:2], [Saturated()]).w is None, "nothing is hidden"
    w = np.array([[0.5, 0.5, 0.5]] * 2)
    np.testing.assert_array_equal(prepare(s, [Saturated()], w=w).w, [[0.5, 0.5, 0], [0, 0.5, 0.5]])


def test_a_mask_from_a_file(tmp_path, rng):
    seen = rng.random((8, 9)) < 0.6
    Image.fromarray(seen).save(tmp_path / "mask.png")
    step = Mask(str(tmp_path / "mask.png"))
    np.testing.assert_array_equal(prepare(np.ones((8, 9)), [step]).w, seen)
    w = prepare(np.ones((8, 9, 3)), [step], channel_axis=-1).w
    np.testing.assert_array_equal(w, np.repeat(seen[..., None], 3, axis=-1))
    with pytest.raises(InputError, match=r"mask.png has shape \(8, 9\), not \(7, 9\)"):
        prepare(np.ones((7, 9)), [step])


def test_by_default_images_lose_what_is_smooth_and_sounds_do_not():
    assert steps_of("auto", 1) == (Scale(),)
    assert steps_of("auto", 2) == steps_of("auto", 3) == (Scale(), Lowpass())
    assert steps_of(None, 2) == ()


@pytest.mark.parametrize("steps", [[kind()] for kind in STEPS.values()] + [INVERTIBLE])
def test_steps_can_be_written_down(steps):
    assert steps_of(json.loads(json.dumps(written(steps))), 2) == tuple(steps)
    assert steps_of(tomllib.loads(as_toml({"steps": written(steps)}))["steps"], 2) == tuple(steps)


def test_steps_by_name():
    assert steps_of("scale", 2) == steps_of(["scale"], 2) == (Scale(),)
    assert steps_of(["scale", {"step": "lowpass", "strength": 9}], 2) == (Scale(), Lowpass(9))
    assert steps_of(Crop(2), 2) == (Crop(2),)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("blur", "has the step 'blur': there are scale, lowpass"),
        (["scale", 3], "has the step 3"),
        ({"step": "lowpass", "size": 3}, "has settings of strength, total_variation"),
        (7, "preprocess is 7"),
        ({"strength": 3}, "has the step"),
    ],
)
def test_unknown_steps_are_refused(told, message):
    with pytest.raises(InputError, match=message):
        steps_of(told, 2)
