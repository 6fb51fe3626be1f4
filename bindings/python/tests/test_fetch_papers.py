"""benches/fetch_papers.py against a server of this test: whole and cut-off downloads, damage, and names."""

import http.server
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import threading

import pytest

SCRIPT = pathlib.Path(__file__).parents[3] / "benches" / "fetch_papers.py"
FIELD = bytes(range(24))


class Handler(http.server.BaseHTTPRequestHandler):
    """Sends `files`; of those in `cut` only the first bytes, until a range is asked for."""

    def do_GET(self):
        body = self.server.files.get(self.path)
        if body is None:
            return self.send_error(404)
        start = 0
        if ranged := self.headers.get("Range"):
            start = int(ranged.removeprefix("bytes=").removesuffix("-"))
        self.send_response(206 if ranged else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        end = len(body) if ranged else self.server.cut.get(self.path, len(body))
        self.wfile.write(body[start:end])

    def log_message(self, *_):
        pass


def archive():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, data in [("set/a.f32", FIELD), ("set/b.f32", FIELD[::-1]), ("set/about.txt", b"no field")]:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


@pytest.fixture
def site(tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.cut = {"/two.tar.gz": archive(), "/one.raw": FIELD}, {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sets = {
        "two": {"from": "site", "file": "two.tar.gz", "dims": [2, 3], "type": "f32", "fields": 2},
        "one": {"from": "site", "file": "one.raw", "dims": [3], "type": "f64", "fields": 1},
        "gone": {"from": "site", "file": "gone.raw", "dims": [3], "type": "f64", "fields": 1},
    }
    catalogue = tmp_path / "sets.json"
    address = f"http://127.0.0.1:{server.server_port}/"
    catalogue.write_text(json.dumps({"site": address, "sets": sets, "not_public": {"secret": "nobody has it"}}))

    def fetch(*words):
        command = [sys.executable, SCRIPT, *words, "--sets", catalogue, "--out", tmp_path / "out"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    yield server, fetch, tmp_path / "out"
    server.shutdown()


def test_sets_are_fetched_and_named(site):
    _, fetch, out = site
    assert fetch("arguments", "two").stderr.strip() == f"two is not in {out}: get it first"
    found = fetch("get", "two", "one")
    fields = [f"two={out}/two/set/a.f32:2,3", f"two={out}/two/set/b.f32:2,3", f"one={out}/one/one.raw:3"]
    assert (found.returncode, found.stdout.split("\n")[:3]) == (0, fields)
    assert fetch("arguments", "two", "one").stdout == found.stdout
    assert (out / "two/set/b.f32").read_bytes() == FIELD[::-1]
    assert "two: 2 fields of 2 x 3 f32" in fetch("list").stdout


def test_a_download_that_was_cut_off_goes_on(site):
    server, fetch, out = site
    server.cut["/one.raw"] = 10
    assert fetch("get", "one").returncode != 0
    assert (out / "one/one.raw.part").stat().st_size == 10
    assert fetch("get", "one").returncode == 0
    assert (out / "one/one.raw").read_bytes() == FIELD


def test_other_bytes_of_a_later_download_are_refused(site):
    server, fetch, out = site
    assert fetch("get", "one").returncode == 0
    (out / "one/one.raw").unlink()
    server.files["/one.raw"] = FIELD[::-1]
    found = fetch("get", "one")
    assert found.returncode != 0 and "an earlier download" in found.stderr
    assert fetch("arguments", "one").returncode != 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [("secret", "nobody has it"), ("other", "other is no set"), ("gone", "404")],
)
def test_sets_that_cannot_be_had_are_named(site, name, reason):
    _, fetch, _ = site
    found = fetch("get", name)
    assert found.returncode != 0 and reason in found.stderr
