"""An installed wheel, with NumPy and ml_dtypes: python installed.py FOLDER, the folder of the golden streams.

Decodes the golden streams and compares with the digests of their index, loads the HDF5 plugin, and calls the command. It
prints the digests of streams that it compresses: `.ci/install` compares those of all processors and C libraries.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import sys
from pathlib import Path

import ferrosz
import numpy as np
from ferrosz.__main__ import main as command


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def check_golden(folder: Path) -> None:
    index = (folder / "index.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split()[:2] for line in index if not line.startswith("#")]
    wrong = [name for name, wanted in rows if digest(decoded(folder / f"{name}.fsz")) != wanted]
    assert rows and not wrong, wrong
    print(f"{len(rows)} golden streams decoded", file=sys.stderr)


def decoded(path: Path) -> bytes:
    return np.asarray(ferrosz.decompress(path.read_bytes())).tobytes()


def load_plugin() -> None:
    (plugin,) = (Path(ferrosz.__file__).parent / "plugins").iterdir()
    info = ctypes.CDLL(str(plugin)).H5PLget_plugin_info
    info.restype = ctypes.c_void_p
    assert info()


def fields() -> dict[str, np.ndarray]:
    """Fields of integers and quotients by powers of two, which are the same on each processor."""
    z, y, x = np.meshgrid(np.arange(40), np.arange(50), np.arange(60), indexing="ij")
    waves = ((z * y) % 97 + (x * x) % 89 + (z * x * y) % 13).astype("f8") / 64
    smooth = (z * z + 3 * y * x - x * x).astype("f8") / 256
    return {"waves": waves.astype("f4"), "smooth": smooth, "integers": (z * y - x * x).astype("i4")}


def compress_all() -> None:
    for name, field in fields().items():
        for preset in ("fast", "balanced", "small"):
            stream = ferrosz.compress(field, range=1e-3, preset=preset)
            assert ferrosz.verify(field, stream)
            print(name, preset, digest(bytes(stream)))


def main() -> None:
    print(platform.machine(), platform.libc_ver()[0], sys.version, file=sys.stderr)
    assert command(["--version"]) == 0
    check_golden(Path(sys.argv[1]))
    load_plugin()
    compress_all()


if __name__ == "__main__":
    main()
