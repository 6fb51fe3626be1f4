#!/usr/bin/env python3
"""The data sets of the papers: fetched, checked, and named for `ferrosz-lab papers`.

    python3 fetch_papers.py list
    python3 fetch_papers.py get SET... [--out DIR]
    python3 fetch_papers.py arguments SET... [--out DIR]

`get` downloads archives, continues those that were cut off, and unpacks them. A set is complete if it has as many files
of the length of its fields as the papers say. The sites publish no checksums: the first download of a set writes
DIR/SET/sha256, and later ones are compared with it. `arguments` prints the fields of complete sets as
`ferrosz-lab papers` takes them:

    ferrosz-lab papers $(python3 fetch_papers.py arguments NYX HACC)

Sets are in fetch_papers.json beside this file; `--sets FILE` names another one. Only Python is needed.
"""

import argparse
import hashlib
import json
import math
import pathlib
import shutil
import sys
import tarfile
import urllib.request

BLOCK = 1 << 20


class Set:
    """A data set of the catalogue, in a folder."""

    def __init__(self, name, entry, site, out):
        self.name, self.dims, self.dtype, self.fields = name, entry["dims"], entry["type"], entry["fields"]
        self.url = site + entry["file"]
        self.folder = out / name
        self.archive = self.folder / self.url.rsplit("/", 1)[1]
        self.field_bytes = math.prod(self.dims) * {"f32": 4, "f64": 8}[self.dtype]

    def files(self):
        """The files with the length of a field."""
        found = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        found = [path for path in found if path.suffix not in (".part", ".refused")]
        return [path for path in found if path.stat().st_size == self.field_bytes]

    def is_complete(self):
        return len(self.files()) == self.fields

    def arguments(self):
        dims = ",".join(map(str, self.dims))
        return [f"{self.name}={path}:{dims}" for path in self.files()]

    def get(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.is_complete():
            return
        download(self.url, self.archive)
        self.compare_digest()
        if self.archive.name.endswith(".tar.gz"):
            with tarfile.open(self.archive) as archive:
                # Refuses members outside of the folder, links out of it, and devices.
                archive.extractall(self.folder, filter="data")
            self.archive.unlink()
        if not self.is_complete():
            sys.exit(
                f"{self.name}: {len(self.files())} files have the {self.field_bytes} bytes of a field, "
                f"and the papers count {self.fields} fields"
            )

    def compare_digest(self):
        found = digest(self.archive)
        kept = self.folder / "sha256"
        if not kept.exists():
            kept.write_text(f"{found}  {self.archive.name}\n")
        elif kept.read_text().split()[0] != found:
            refused = self.archive.rename(self.archive.with_name(self.archive.name + ".refused"))
            sys.exit(f"{refused}: its SHA-256 is {found}, and {kept} has another one of an earlier download")


def download(url, path):
    """Writes the file of a URL, or the rest of it if a part is there."""
    if path.exists():
        return
    part = path.with_name(path.name + ".part")
    start = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={start}-"} if start else {})
    with urllib.request.urlopen(request) as answer:
        # A server that knows no ranges sends all of the file.
        goes_on = answer.status == 206
        length = answer.headers.get("Content-Length")
        with open(part, "ab" if goes_on else "wb") as file:
            shutil.copyfileobj(answer, file, BLOCK)
    expected = int(length) + (start if goes_on else 0) if length else None
    if expected not in (None, part.stat().st_size):
        sys.exit(f"{url}: {part.stat().st_size} of {expected} bytes came; run the command again for the rest")
    part.rename(path)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sets_of(catalogue, names, out):
    entries = catalogue["sets"]
    for name in names:
        if name in catalogue["not_public"]:
            sys.exit(f"{name} cannot be fetched: {catalogue['not_public'][name]}")
        if name not in entries:
            sys.exit(f"{name} is no set: {', '.join(entries)}")
        yield Set(name, entries[name], catalogue[entries[name]["from"]], out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("action", choices=["list", "get", "arguments"])
    parser.add_argument("set", nargs="*")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("papers"))
    parser.add_argument("--sets", type=pathlib.Path, default=pathlib.Path(__file__).with_suffix(".json"))
    given = parser.parse_args()
    catalogue = json.loads(given.sets.read_text())
    if given.action == "list":
        for one in sets_of(catalogue, catalogue["sets"], given.out):
            dims = " x ".join(map(str, one.dims))
            print(f"{one.name}: {one.fields} fields of {dims} {one.dtype}, {one.fields * one.field_bytes / 1e9:.2f} GB")
        for name, reason in catalogue["not_public"].items():
            print(f"{name}: {reason}")
    for one in sets_of(catalogue, given.set, given.out):
        if given.action == "get":
            one.get()
        elif not one.is_complete():
            sys.exit(f"{one.name} is not in {given.out}: get it first")
        if given.action != "list":
            print("\n".join(one.arguments()))


if __name__ == "__main__":
    main()
