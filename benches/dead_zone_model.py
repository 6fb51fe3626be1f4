"""What a dead zone gains, in a model: residuals of a Laplace distribution, codes of their entropy.

python benches/dead_zone_model.py

Prints by how many dB the error is smaller at the same entropy than without a dead zone, with values decoded at the
multiple of the step, and at the mean of the residuals of their code.
"""

import numpy as np

STEPS = np.exp(np.linspace(-2.5, 3, 400))
BITS = (0.1, 0.3, 0.6, 1, 1.5, 2.5, 4)


def point(step, dead, at_mean):
    """Entropy of the codes and mean square error, with a dead zone in steps; the mean magnitude of residuals is 1."""
    k = np.arange(1, 400)
    low, high = (k - 0.5 + dead) * step, (k + 0.5 + dead) * step
    parts = np.exp(-low) - np.exp(-high)
    all_parts = np.concatenate([[1 - np.exp(-low[0])], parts / 2, parts / 2])
    all_parts = all_parts[all_parts > 1e-300]
    entropy = -(all_parts * np.log2(all_parts)).sum()
    mean = low + 1 - step * np.exp(-step) / (1 - np.exp(-step))

    def squares(low, high, value):
        def integral(r):
            return -((r - value) ** 2 + 2 * (r - value) + 2) * np.exp(-r)

        return integral(high) - integral(low)

    value = mean if at_mean else k * step
    return entropy, squares(0.0, low[0], 0.0) + squares(low, high, value).sum()


def decibels(dead, at_mean):
    points = np.array([point(step, dead, at_mean) for step in STEPS])
    points = points[np.argsort(points[:, 0])]
    return np.interp(BITS, points[:, 0], -10 * np.log10(points[:, 1]))


def main():
    usual = decibels(0.0, False)
    print("| dead zone, steps | decoded at |", " | ".join(f"{bits} bits" for bits in BITS), "|")
    print("| --- | --- |", " | ".join("---" for _ in BITS), "|")
    for dead in (0.0, 0.05, 0.1, 0.15, 0.2):
        for at_mean, name in ((False, "multiple"), (True, "mean")):
            gains = decibels(dead, at_mean) - usual
            print(f"| {dead} | {name} |", " | ".join(f"{gain:+.2f}" for gain in gains), "|")


if __name__ == "__main__":
    main()
