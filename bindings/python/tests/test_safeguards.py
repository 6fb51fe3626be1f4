"""Safeguards: promises about each value beside the bound."""

import pickle

import ferrosz
import numpy as np
import pytest

FIELD = np.sin(np.arange(60000).reshape(100, 600) / 300).astype("float32")


def test_safeguards_hold_together():
    bounds = np.full(FIELD.shape, np.inf)
    bounds[10:20, 50:80] = 1e-5
    safeguards = {"keep_above": [0.3, -0.2], "limits": (-1, 1), "abs_field": bounds, "abs_square": 0.05, "monotone": 1}
    stream = ferrosz.compress(FIELD, abs=0.05, safeguards=safeguards)
    decoded = ferrosz.decompress(stream)
    for side in (0.3, -0.2):
        assert ((FIELD >= np.float64(side)) == (decoded >= np.float64(side))).all()
    assert abs(decoded).max() <= 1
    assert (abs(FIELD.astype("float64") - decoded) <= np.minimum(bounds, 0.05)).all()
    squares = [np.square(values.astype("float64")) for values in (FIELD, decoded)]
    assert abs(squares[0] - squares[1]).max() <= 0.05
    before, after = np.diff(FIELD, axis=1), np.diff(decoded, axis=1)
    assert ((before < 0) | (after >= 0)).all() and ((before > 0) | (after <= 0)).all()
    assert stream.info.safeguards[0] == "keep-above 0.3" and stream.info.section_bytes > 0
    assert ferrosz.verify(FIELD, stream).kept


def test_a_compressor_keeps_its_safeguards():
    compressor = ferrosz.Compressor(abs=0.05, safeguards={"keep_above": 0.5})
    again = pickle.loads(pickle.dumps(compressor))
    assert bytes(again.compress(FIELD)) == bytes(compressor.compress(FIELD))


@pytest.mark.parametrize(
    ("safeguards", "text"),
    [
        ({"keep_over": 1}, "keep_over"),
        ({"limits": (2, 1)}, "limits 2,1"),
        ({"limits": (-0.5, 1)}, "at place 1100 is outside"),
        ({"abs_field": np.ones((5, 600))}, "the shape"),
        ({"monotone": 2}, "axis 2"),
    ],
)
def test_impossible_safeguards_are_refused(safeguards, text):
    with pytest.raises(ferrosz.errors.ArgumentError, match=text):
        ferrosz.compress(FIELD, abs=0.05, safeguards=safeguards)
