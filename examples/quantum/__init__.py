"""A simulator of quantum circuits whose amplitudes are kept compressed. README.md says how to run it."""
