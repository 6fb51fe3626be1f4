"""Examples in Python, run from the root of the repository: `python -m examples.training`, `python -m examples.quantum`."""
