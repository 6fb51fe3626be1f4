"""Decodes the streams of a directory and compares: python check_golden.py DIR [COMMAND ...]

DIR/index.txt has lines `NAME SHA256`, more columns are ignored, `#` begins a comment. NAME.fsz is
the stream, or NAME.fzpc the container of parts, and SHA256 that of the decoded elements' bytes,
little-endian and in C order. With COMMAND, such as `qemu-aarch64-static ferrosz`, the streams are
decoded by `COMMAND decompress NAME.fsz FILE`.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import parts
from decode import decode, digest


def read_index(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        columns = line.split("#")[0].split()
        if not columns:
            continue
        if len(columns) < 2:
            raise ValueError(f"{path}: a line without a SHA-256: {line!r}")
        yield columns[0], columns[1].lower()


def decoded(directory, name):
    container = directory / f"{name}.fzpc"
    if container.exists():
        return parts.decode(container.read_bytes())
    return decode((directory / f"{name}.fsz").read_bytes())


def decoded_by(command, directory, name):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "elements"
        subprocess.run(
            [*command, "decompress", directory / f"{name}.fsz", out, "--quiet"], check=True, capture_output=True
        )
        return np.fromfile(out, np.uint8)


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    directory, command = Path(sys.argv[1]), sys.argv[2:]
    passed = failed = 0
    for name, expected in read_index(directory / "index.txt"):
        try:
            found = digest(decoded_by(command, directory, name) if command else decoded(directory, name))
            reason = None if found == expected else f"SHA-256 is {found}, not {expected}"
        except Exception as error:  # whatever goes wrong is a failure of this stream
            reason = f"{type(error).__name__}: {error}"
        if reason is None:
            passed += 1
        else:
            failed += 1
            print(f"{name}: {reason}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
