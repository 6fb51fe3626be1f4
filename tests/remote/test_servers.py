"""Streams on servers: the bytes that `ferrosz` reads of them, and the values that it decodes."""

import http.server
import json
import os
import re
import ssl
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import boto3
import numpy as np
import trustme
from moto.server import ThreadedMotoServer
from RangeHTTPServer import RangeRequestHandler

FERROSZ = os.environ["FERROSZ"]
EDGE = 512
BOX = (slice(200, 264), slice(100, 164), slice(301, 365))
BOX_TEXT = "200:264,100:164,301:365"


def ferrosz(*arguments, status=0, **variables):
    """Runs the command; returns its JSON object, or the text of its error."""
    done = subprocess.run(
        [FERROSZ, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **variables}
    )
    assert done.returncode == status, f"{arguments}: {done.returncode}: {done.stderr}"
    return done.stderr if status else json.loads(done.stdout)


class Handler(RangeRequestHandler):
    """A server of ranges that notes them."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.requests.append(self.headers["Range"])
        super().do_GET()

    def log_message(self, *_):
        pass


class Fields(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        z, y, x = np.ogrid[:EDGE, :EDGE, :EDGE]
        field = np.sin(z / 31) + np.cos(y / 17 + z / 99) * np.sin(x / 23)
        field = field.astype("f4") + np.random.default_rng(1).normal(0, 1e-3, (EDGE, EDGE, EDGE)).astype("f4")
        field.tofile(cls.path / "field.f32")
        shape = ["--dtype", "f32", "--dims", f"{EDGE},{EDGE},{EDGE}"]
        cls.streams = {"plain": 3, "lorenzo+rans": 3, "interp": 3}
        for codec in cls.streams:
            ferrosz("compress", cls.path / "field.f32", cls.path / f"{codec}.fsz", *shape, "--abs", "1e-2",
                    "--codec", codec, "--rank", 3, "--json")
        cls.box = field[BOX].astype("f8")
        cls.server = cls.serve()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}"

    @classmethod
    def serve(cls, context=None):
        """A server of the folder, with TLS if there is a context."""
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), lambda *arguments: Handler(*arguments, directory=cls.folder.name)
        )
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        server.requests = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.folder.cleanup()

    def read_box(self, url, **variables):
        out = self.path / "box.f32"
        found = ferrosz("decompress", url, out, "--box", BOX_TEXT, "--json", "--force", **variables)
        values = np.fromfile(out, "f4").reshape(self.box.shape)
        self.assertLessEqual(np.abs(values - self.box).max(), 1e-2)
        return values, found

    def test_a_box_takes_three_rounds_and_few_bytes(self):
        for codec, most in self.streams.items():
            local = self.path / "local.f32"
            ferrosz("decompress", self.path / f"{codec}.fsz", local, "--box", BOX_TEXT, "--json", "--force")
            self.server.requests.clear()
            values, found = self.read_box(f"{self.url}/{codec}.fsz")
            self.assertEqual(values.tobytes(), local.read_bytes())
            self.assertLessEqual(found["rounds"], most)
            asked = [re.fullmatch(r"bytes=(\d+)-(\d+)", text).groups() for text in self.server.requests]
            size = (self.path / f"{codec}.fsz").stat().st_size
            served = sum(min(int(end), size - 1) - int(start) + 1 for start, end in asked)
            # The client joins ranges that are near each other.
            self.assertLessEqual(len(asked), found["ranges"])
            self.assertLess(served, size / 5)
            print(f"{codec}: {found['rounds']} rounds, {len(asked)} requests, {served} of {size} bytes")

    def test_info_reads_header_and_table(self):
        self.server.requests.clear()
        there = ferrosz("info", f"{self.url}/interp.fsz", "--json")
        here = ferrosz("info", self.path / "interp.fsz", "--json")
        there.pop("input"), here.pop("input")
        self.assertEqual(there, here)
        self.assertLessEqual(len(self.server.requests), 2)

    def test_a_whole_stream(self):
        found = ferrosz("verify", self.path / "field.f32", f"{self.url}/plain.fsz", "--json")
        self.assertTrue(found["kept"])

    def test_https(self):
        authority = trustme.CA()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost").configure_cert(context)
        trusted = self.path / "authority.pem"
        authority.cert_pem.write_to_path(str(trusted))
        server = self.serve(context)
        url = f"https://localhost:{server.server_port}/interp.fsz"
        try:
            self.read_box(url, SSL_CERT_FILE=str(trusted))
            # Without the authority the certificate is not trusted.
            self.assertIn(url, ferrosz("info", url, status=1))
        finally:
            server.shutdown()

    def test_s3(self):
        server = ThreadedMotoServer("127.0.0.1", 0)
        server.start()
        try:
            host, port = server.get_host_and_port()
            endpoint = f"http://{host}:{port}"
            variables = {
                "AWS_ENDPOINT": endpoint,
                "AWS_ALLOW_HTTP": "true",
                "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": "key",
                "AWS_SECRET_ACCESS_KEY": "secret",
            }
            client = boto3.client(
                "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret"
            )
            client.create_bucket(Bucket="fields")
            client.upload_file(str(self.path / "interp.fsz"), "fields", "deep/interp.fsz")
            _, found = self.read_box("s3://fields/deep/interp.fsz", **variables)
            self.assertLessEqual(found["rounds"], 3)
            self.assertEqual(ferrosz("info", "s3://fields/deep/interp.fsz", "--json", **variables)["dims"], [EDGE] * 3)
            error = ferrosz("info", "s3://fields/none.fsz", status=1, **variables)
            self.assertIn("s3://fields/none.fsz", error)
        finally:
            server.stop()

    def test_errors_name_the_url(self):
        (self.path / "text.fsz").write_text("no stream")
        cut = (self.path / "interp.fsz").read_bytes()[:300_000]
        (self.path / "cut.fsz").write_bytes(cut)
        for name, words in [("none.fsz", "404"), ("text.fsz", "not a ferrosz stream"), ("cut.fsz", "416")]:
            error = ferrosz("decompress", f"{self.url}/{name}", self.path / "x.npy", "--box", BOX_TEXT, status=1)
            self.assertIn(f"{self.url}/{name}", error)
            self.assertIn(words, error)
        error = ferrosz("info", "http://127.0.0.1:1/t.fsz", status=1)
        self.assertIn("http://127.0.0.1:1/t.fsz", error)


if __name__ == "__main__":
    unittest.main()
