"""Compresses a field that is larger than the memory that the command may use, and decodes and judges it.

    python benches/large.py DIR [--edge 1710] [--memory-mib 256] [--cgroup /sys/fs/cgroup/memory/NAME]

DIR needs room for two fields. `ulimit -d` limits the memory that the command may allocate; pages of mapped files do not count.
With --cgroup the limit is that of this control group, in which they do. The peak is the largest RssAnon, sampled 20 times a second. Each stream is also written
to a pipe, from an array that comes from one, and compared.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FERROSZ = ROOT / "target/release/ferrosz"


def run(line: str, folder: Path, memory: int | Path | None) -> tuple[float, int]:
    """Runs the command with so many MiB, or in a control group; seconds, and the largest anonymous memory in MiB."""
    match memory:
        case None:
            limit = ""
        case Path():
            limit = f"echo $$ > {memory}/cgroup.procs; "
        case mib:
            limit = f"ulimit -d {mib * 1024}; "
    start = time.monotonic()
    child = subprocess.Popen(["sh", "-c", f"{limit}exec {FERROSZ} {line} --quiet --device cpu"], cwd=folder)
    peak = 0
    while child.poll() is None:
        try:
            status = Path(f"/proc/{child.pid}/status").read_text()
        except OSError:
            break
        for row in status.splitlines():
            if row.startswith("RssAnon"):
                peak = max(peak, int(row.split()[1]) // 1024)
        time.sleep(0.05)
    if child.wait() != 0:
        sys.exit(f"failed: {line}")
    return time.monotonic() - start, peak


def digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--edge", type=int, default=1710)
    parser.add_argument("--memory-mib", type=int, default=256)
    parser.add_argument("--cgroup", type=Path)
    parser.add_argument("--codecs", default="--codec plain,--codec interp,--small")
    parser.add_argument("--more", action="append", default=[], help="options of a further compression, such as '--codec interp --pwrel 1e-2'")
    parser.add_argument("--verify", default="--codec interp", help="codecs whose streams are verified, which takes longest")
    args = parser.parse_args()
    field = args.folder / "field.f32"
    edge = args.edge
    if not field.exists():
        maker = ROOT / "benches/make_large_field.py"
        subprocess.run([sys.executable, maker, field, str(edge), str(edge), str(edge)], check=True)
    size = os.path.getsize(field)
    shape = f"--dtype f32 --dims {edge},{edge},{edge}"
    print(f"{size} bytes, at most {args.memory_mib} MiB\n")
    print("| codec | command | seconds | GB/s | peak, MiB | ratio |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    usual = [(codec, f"{codec} --range 1e-3 --fill none") for codec in args.codecs.split(",") if codec]
    for codec, options in usual + [(more, more) for more in args.more]:
        stream = args.folder / "limited.fsz"
        lines = [
            ("compress", f"compress field.f32 limited.fsz {shape} {options} --force"),
            ("check", "check limited.fsz"),
            ("decompress", "decompress limited.fsz out.f32 --force"),
        ]
        ratio = ""
        for name, line in lines:
            seconds, peak = run(line, args.folder, args.cgroup or args.memory_mib)
            ratio = f"{size / os.path.getsize(stream):.2f}"
            print(f"| `{codec}` | {name} | {seconds:.1f} | {size / seconds / 1e9:.2f} | {peak} | {ratio} |", flush=True)
        (args.folder / "out.f32").unlink()
        if codec in args.verify.split(","):
            seconds, peak = run(f"verify field.f32 limited.fsz {shape} --json >verified.json", args.folder, args.cgroup or args.memory_mib)
            print(f"| `{codec}` | verify | {seconds:.1f} | {size / seconds / 1e9:.2f} | {peak} | {ratio} |", flush=True)
        limited = digest(stream)
        stream.unlink()
        line = f"compress - - {shape} {options} <field.f32 >limited.fsz"
        seconds, peak = run(line, args.folder, args.cgroup or args.memory_mib)
        print(f"| `{codec}` | compress, from pipe to pipe | {seconds:.1f} | {size / seconds / 1e9:.2f} | {peak} | {ratio} |", flush=True)
        if digest(stream) != limited:
            sys.exit("the streams differ")
        stream.unlink()


if __name__ == "__main__":
    main()
