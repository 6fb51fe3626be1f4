"""Files go through all tools: each reads what each other has written, with equal values."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import xarray
from fields import FILTER, FieldTest, create, field, parameters

BOUND = 0.5
SHAPE = (50, 70)


def run(*command, cwd):
    """What a tool prints; an error if it fails."""
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, timeout=120).stdout


class Tools(FieldTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.values = field("f4", SHAPE)
        self.values[20:25, 30:50] = 1e20
        self.source = str(self.folder / "source.nc")
        self.dataset().to_netcdf(self.source, encoding={"x": {"_FillValue": np.float32(1e20)}})

    def dataset(self):
        valid = np.where(self.values < 1e19, self.values, np.nan)
        return xarray.Dataset({"x": (("t", "y"), valid.astype("f4"))})

    # The writers: each makes the file from its name, with chunks of 16 x 33.

    def write_with_h5py(self, path):
        with h5py.File(path, "w") as file:
            create(file, "x", self.values, bound=BOUND, fillvalue=1e20)

    def write_with_xarray(self, path, dataset=None):
        encoding = {"compression": FILTER, "compression_opts": parameters(BOUND), "chunksizes": (16, 33),
                    "_FillValue": np.float32(1e20)}
        (dataset or self.dataset()).to_netcdf(path, engine="h5netcdf", encoding={"x": encoding})

    def write_with_netcdf4(self, path):
        """netCDF4 cannot name the filter, but writes into a variable that has it."""
        self.write_with_xarray(path, self.dataset() * 0)
        with netCDF4.Dataset(path, "r+") as file:
            file["x"][...] = np.where(self.values < 1e19, self.values, np.float32(1e20))

    def write_with_nccopy(self, path):
        words = ",".join(map(str, parameters(BOUND)))
        run("nccopy", "-M", "0", "-c", "t/16,y/33", "-F", f"x,{FILTER},{words}", self.source, path, cwd=self.folder)

    def write_with_nccopy_and_a_number(self, path):
        """nccopy makes two words of a number that ends in d."""
        run("nccopy", "-M", "0", "-c", "t/16,y/33", "-F", f"x,{FILTER},1,0,0,{BOUND}d", self.source, path, cwd=self.folder)

    def write_with_h5repack(self, path):
        words = parameters(BOUND)
        run("h5repack", "-l", "x:CHUNK=16x33", "-f", f"x:UD={FILTER},0,{len(words)},{','.join(map(str, words))}",
            self.source, path, cwd=self.folder)

    # The readers.

    def read_with_h5py(self, path):
        with h5py.File(path) as file:
            return file["x"][...]

    def read_with_netcdf4(self, path):
        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            return file["x"][...]

    def read_with_xarray_and_netcdf4(self, path):
        with xarray.open_dataset(path, engine="netcdf4", mask_and_scale=False) as dataset:
            return dataset.x.values

    def read_with_xarray_and_h5netcdf(self, path):
        with xarray.open_dataset(path, engine="h5netcdf", mask_and_scale=False, phony_dims="sort") as dataset:
            return dataset.x.values

    def read_with_h5dump(self, path):
        run("h5dump", "-d", "x", "-b", "LE", "-o", "values", path, cwd=self.folder)
        return np.fromfile(self.folder / "values", "<f4").reshape(SHAPE)

    def read_with_ncdump(self, path):
        text = run("ncdump", "-p", "9,17", "-v", "x", path, cwd=self.folder).decode()
        numbers = text[text.index("data:"):].split("=", 1)[1].split(";")[0]
        return np.array([1e20 if each.strip() == "_" else float(each) for each in numbers.split(",")], "f4").reshape(SHAPE)

    def read_with_nccopy(self, path):
        run("nccopy", "-F", "none", path, "plain.nc", cwd=self.folder)
        with h5py.File(self.folder / "plain.nc") as file:
            self.assertNotIn(str(FILTER), file["x"]._filters)
            return file["x"][...]

    def read_with_h5repack(self, path):
        run("h5repack", "-f", "NONE", path, "plain.h5", cwd=self.folder)
        with h5py.File(self.folder / "plain.h5") as file:
            self.assertNotIn(str(FILTER), file["x"]._filters)
            return file["x"][...]

    def each(self, start):
        return [(name, getattr(self, name)) for name in dir(self) if name.startswith(start)]

    def test_every_pair(self):
        valid, chunks = self.values < 1e19, []
        for writer, write in self.each("write_with_"):
            path = str(self.folder / f"{writer}.nc")
            write(path)
            with h5py.File(path) as file:
                stored = file["x"]._filters[str(FILTER)]
                chunk = file["x"].id.read_direct_chunk((16, 33))[1]
            self.assertEqual(stored[10:], (16, 33), writer)
            # The type f32, and a fill value. nccopy gives HDF5 none, so it is found in the chunk.
            has_fill = 0 if "nccopy" in writer else 1 << 9
            self.assertEqual(stored[7], 1 | has_fill, writer)
            chunks.append(chunk)
            for reader, read in self.each("read_with_"):
                with self.subTest(writer=writer, reader=reader):
                    decoded = read(path)
                    self.assert_lossy(decoded[valid], self.values[valid], BOUND)
                    np.testing.assert_array_equal(decoded[~valid], self.values[~valid])
                    if (writer, reader) == (self.each("write_with_")[0][0], self.each("read_with_")[0][0]):
                        first = decoded
                    np.testing.assert_array_equal(decoded, first)
        self.assertEqual(len(set(chunks)), 1, "the writers made different streams of the same chunk")

    def test_lists_of_another_dataset(self):
        """nccopy and h5repack give the whole list again, with chunks of other extents."""
        path = str(self.folder / "a.nc")
        self.write_with_xarray(path)
        with h5py.File(path) as file:
            whole = file["x"]._filters[str(FILTER)]
        run("nccopy", "-M", "0", "-c", "t/25,y/70", path, "b.nc", cwd=self.folder)
        run("h5repack", "-l", "x:CHUNK=10x35", path, "c.nc", cwd=self.folder)
        words = ",".join(map(str, whole))
        run("h5repack", "-l", "x:CHUNK=50x7", "-f", f"x:UD={FILTER},0,{len(whole)},{words}", self.source, "d.nc",
            cwd=self.folder)
        for name, chunks in [("b.nc", (25, 70)), ("c.nc", (10, 35)), ("d.nc", (50, 7))]:
            with self.subTest(name=name), h5py.File(self.folder / name) as file:
                self.assertEqual(file["x"].chunks, chunks)
                stored = file["x"]._filters[str(FILTER)]
                self.assertEqual((stored[:7], stored[10:]), (whole[:7], chunks))
                self.assertEqual(stored[7:10], (1, 0, 0) if name == "b.nc" else whole[7:10])
                valid = self.values < 1e19
                # Compressed twice.
                self.assert_lossy(file["x"][...][valid], self.values[valid], 2 * BOUND)

    def test_damage(self):
        """Each tool says that it failed, and none crashes."""
        path = self.folder / "damaged.nc"
        self.write_with_xarray(str(path))
        with h5py.File(path) as file:
            info = file["x"].id.get_chunk_info(1)
        contents = bytearray(path.read_bytes())
        contents[info.byte_offset + info.size - 1] ^= 1
        path.write_bytes(contents)
        for reader in [self.read_with_h5py, self.read_with_netcdf4, self.read_with_xarray_and_netcdf4,
                       self.read_with_xarray_and_h5netcdf]:
            with self.subTest(reader=reader.__name__), self.assertRaises((OSError, RuntimeError)):
                reader(str(path))
        for command in [
            ["h5dump", "--enable-error-stack", "-d", "x", str(path)],
            ["ncdump", "-v", "x", str(path)],
            ["nccopy", "-F", "none", str(path), "copy.nc"],
            ["h5repack", "--enable-error-stack", "-f", "NONE", str(path), "copy.h5"],
        ]:
            with self.subTest(tool=command[0]):
                done = subprocess.run(command, cwd=self.folder, capture_output=True, timeout=120)
                self.assertGreater(done.returncode, 0, done.stderr)
                if command[0].startswith("h5"):
                    self.assertRegex(done.stderr.decode(), r"ferrosz: chunk \d+ is damaged")

    def test_ncdump_shows_the_filter(self):
        path = str(self.folder / "a.nc")
        self.write_with_nccopy(path)
        shown = run("ncdump", "-hs", path, cwd=self.folder).decode()
        self.assertRegex(shown, rf'x:_Filter = "{FILTER},1,0,0,')
        shown = run("h5dump", "-pH", "-d", "x", path, cwd=self.folder).decode()
        self.assertTrue(re.search(rf"FILTER_ID {FILTER}\s+COMMENT ferrosz", shown), shown)


if __name__ == "__main__":
    unittest.main()
