"""A training in PyTorch whose saved activations and gradients are compressed. README.md says how to run it."""
