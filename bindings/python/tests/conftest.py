"""Fields that the tests compress."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="session")
def field() -> np.ndarray:
    """Smooth along all axes, with some noise; 40 x 50 x 60."""
    z, y, x = np.meshgrid(*(np.linspace(0, 3, length) for length in (40, 50, 60)), indexing="ij")
    noise = np.random.default_rng(15).normal(0, 0.01, z.shape)
    values = np.sin(z) * np.cos(2 * y) + np.sin(5 * x) + noise
    return values.astype("float32")


@pytest.fixture(scope="session")
def large() -> np.ndarray:
    """64 MiB that take seconds to compress."""
    walk = np.random.default_rng(16).normal(0, 1, (256, 256, 256)).cumsum(axis=2)
    return walk.astype("float32")
