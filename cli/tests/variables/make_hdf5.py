"""Makes the files of tests/hdf5.rs: all that HDF5 can hold beside a plain dataset, in four versions of its format; messages
that objects share; filters; and attributes of the CF conventions. All are packed with bzip2.

`expected.json` has, for each path in each file, the values that h5py reads, or words of the reason why it cannot be read.

Made with h5py 3.16.0 (HDF5 2.0.0), netCDF4 1.7.5.1 and hdf5plugin 7.1.0, and with the plugin of bindings/hdf5 in HDF5_PLUGIN_PATH:
python make_hdf5.py FOLDER
"""

import bz2
import ctypes
import json
import struct
import sys
from pathlib import Path
from typing import Any, Literal

import h5py
import hdf5plugin
import netCDF4
import numpy as np
from h5py import h5d, h5p, h5s, h5t

FIELD = (280 + np.arange(12).reshape(3, 4) * 0.25).astype("f4")
VERSIONS = {name: (name, "latest") for name in ["earliest", "v108", "v110", "latest"]}

readable: list[str] = []
refused: dict[str, str] = {}


def low(file: h5py.File, name: str, kind: Any, values: np.ndarray, words: str | None, dcpl: Any = None) -> None:
    """A dataset of a type that NumPy does not have. Without words it is readable."""
    space = h5s.create_simple(values.shape)
    dataset = h5d.create(file.id, name.encode(), kind, space, dcpl=dcpl)
    memory = kind if kind.get_class() in (h5t.BITFIELD, h5t.COMPLEX) else None
    dataset.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(values), memory)
    if words is None:
        readable.append(name)
    else:
        refused[name] = words


def links(file: h5py.File) -> None:
    group = file.create_group("links")
    for name, target, words in [
        ("soft", "/t", None),
        ("chain0", "/t", None),
        ("up", "/", ""),
        ("dangling", "/nothing/t", "'nothing', which is not in the file"),
        ("self", "self", "in a circle"),
        ("circle0", "circle1", "in a circle"),
        ("circle1", "circle0", "in a circle"),
        ("parent", "../t", "'..', which is not in the file"),
        ("relative", "inner/./deep//t", None),
        ("through", "up/links/hard", None),
    ]:
        group[name] = h5py.SoftLink(target)
        if words is None:
            readable.append(f"links/{name}")
        elif words:
            refused[f"links/{name}"] = words
    for at in range(1, 20):
        group[f"chain{at}"] = h5py.SoftLink(f"chain{at - 1}")
    readable.append("links/chain15")
    refused["links/chain16"] = "more than 16 soft links"
    group["hard"] = file["t"]
    group["root"] = file["/"]
    group.create_group("inner")["root"] = file["/"]
    group["inner/deep/t"] = FIELD + 1
    group["external"] = h5py.ExternalLink("other.h5", "/a/b")
    refused["links/external"] = "'other.h5', which is not followed: read other.h5:a/b"
    refused["links/external/c"] = "read other.h5:a/b/c"
    readable.extend(["links/hard", "links/root/t", "links/inner/root/links/up/links/hard", "links/up/t"])
    file["/".join(f"n{at}" for at in range(100)) + "/t"] = FIELD
    readable.append("/".join(f"n{at}" for at in range(100)) + "/t")
    ordered = file.create_group("ordered", track_order=True)
    for at in range(40):
        ordered[f"many {40 - at}"] = np.float32(at)
    readable.extend(["ordered/many 7", "ordered/many 40"])
    file["ünïcode ☃ name"] = FIELD
    readable.append("ünïcode ☃ name")
    refused["ordered"] = "a group of this name"


def kinds(file: h5py.File) -> None:
    file["type"] = np.dtype(">f4")
    refused["type"] = "a type of this name"
    file.create_dataset("committed", data=FIELD, dtype=file["type"])
    readable.append("committed")
    whole = np.arange(-6, 6).reshape(3, 4)
    for code in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]:
        for order in "<>":
            name = f"{order.replace('<', 'l').replace('>', 'b')}{code}"
            file[name] = (whole * (1 if code[0] == "i" else 1.0) + (6 if code[0] == "u" else 0)).astype(order + code)
            readable.append(name)
    file["wide"] = np.array([-1, 2**40])
    refused["wide"] = "i64 values from -1 to 1099511627776"
    file["unsigned wide"] = np.array([7, 2**64 - 1], "u8")
    refused["unsigned wide"] = "u64 values from 7 to 18446744073709551615"
    file["unsigned fits"] = np.array([7, 2**32 - 1], "u8")
    readable.append("unsigned fits")

    half = h5t.IEEE_F32LE.copy()
    half.set_fields(15, 7, 8, 0, 7)
    half.set_precision(16)
    half.set_size(2)
    half.set_ebias(127)
    low(file, "bfloat", half, FIELD, None)
    for name, words, size, precision, fields, bias in [
        ("float21", "of 21 bits in 4 bytes", 4, 21, (20, 15, 5, 0, 15), 15),
        ("float24", "of 24 bits in 3 bytes", 3, 24, (23, 16, 7, 0, 16), 63),
        ("bias", "of 32 bits in 4 bytes", 4, 32, (31, 23, 8, 0, 23), 120),
        ("split", "of 32 bits in 4 bytes", 4, 32, (31, 21, 10, 0, 21), 511),
        ("float8", "of 8 bits in 1 bytes", 1, 8, (7, 3, 4, 0, 3), 7),
    ]:
        kind = h5t.IEEE_F32LE.copy()
        kind.set_fields(*fields)
        kind.set_precision(precision)
        kind.set_size(size)
        kind.set_ebias(bias)
        low(file, name, kind, FIELD, words)
    for name, precision, offset, words in [
        ("int20", 20, 0, "signed integers of 20 bits in 4 bytes"),
        ("int31", 31, 1, "signed integers of 31 bits in 4 bytes"),
    ]:
        kind = h5t.STD_I32LE.copy()
        kind.set_precision(precision)
        kind.set_offset(offset)
        low(file, name, kind, whole.astype("i4"), words)
    kind = h5t.STD_U32BE.copy()
    kind.set_size(3)
    low(file, "int24", kind, whole.astype("u4"), "unsigned integers of 24 bits")
    vax = h5t.IEEE_F32LE.copy()
    vax.set_order(h5t.ORDER_VAX)
    low(file, "vax", vax, FIELD, "VAX")
    low(file, "bits", h5t.STD_B32LE, whole.astype("i4"), "bit fields")
    file["long double"] = FIELD.astype("f16")
    refused["long double"] = "long double"
    file["compound"] = np.zeros(3, [("a", "f4"), ("b", "i2", (2, 2)), ("c", [("d", "f8")])])
    refused["compound"] = "compound values of 3 members"
    file["complex"] = FIELD.astype("c8")
    readable.append("complex")
    low(file, "native complex", h5t.COMPLEX_IEEE_F32LE, FIELD.astype("c8"), None)
    file["text"] = "nothing"
    file["texts"] = np.array([b"ab", b"c"], "S3")
    file["long texts"] = ["ab", "cde"]
    for name in ["text", "texts", "long texts"]:
        refused[name] = "text"
    lists = file.create_dataset("lists", (2,), h5py.vlen_dtype("f4"))
    lists[0] = [1.0, 2.0]
    refused["lists"] = "lists of any length"
    file.create_dataset("opaque", data=np.zeros(3, "V7"))
    refused["opaque"] = "opaque values of 7 bytes"
    file.create_dataset("enum", data=whole, dtype=h5py.enum_dtype({"LAND": 0, "SEA": 1}, basetype="i2"))
    refused["enum"] = "an enumeration (names for i16 values"
    file["truth"] = FIELD > 281
    refused["truth"] = "truth values"
    file.create_dataset("references", data=[file["t"].ref], dtype=h5py.ref_dtype)
    refused["references"] = "references to objects"
    file.create_dataset("regions", data=[file["t"].regionref[:2]], dtype=h5py.regionref_dtype)
    refused["regions"] = "references to regions"
    file.create_dataset("arrays", (2,), dtype=np.dtype(("f4", (2, 3))))
    refused["arrays"] = "arrays of 2 x 3 values"


def spaces(file: h5py.File) -> None:
    file["scalar"] = np.float64(3.5)
    file["none"] = h5py.Empty("f4")
    refused["none"] = "null dataspace"
    file["empty"] = np.zeros((0, 3), "f4")
    file.create_dataset("empty chunks", (4, 0), "f4", maxshape=(None, None), chunks=(2, 2))
    file["many axes"] = np.arange(8, dtype="f4").reshape((2,) + (1,) * 29 + (2, 2))
    readable.extend(["scalar", "empty", "empty chunks", "many axes"])
    virtual = h5py.VirtualLayout(FIELD.shape, "f4")
    virtual[...] = h5py.VirtualSource(".", "t", FIELD.shape)
    file.create_virtual_dataset("virtual", virtual)
    virtual = h5py.VirtualLayout((2,) + FIELD.shape, "f4")
    virtual[1] = h5py.VirtualSource("other.h5", "t", FIELD.shape)
    file.create_virtual_dataset("other virtual", virtual, fillvalue=7)
    refused["virtual"] = refused["other virtual"] = "a virtual dataset"
    file.create_dataset("outside", FIELD.shape, "f4", external=[("values.raw", 0, h5py.h5f.UNLIMITED)])
    refused["outside"] = "in another file, 'values.raw', which is not read"


def layouts(file: h5py.File) -> None:
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_layout(h5d.COMPACT)
    low(file, "compact", h5t.IEEE_F32BE, FIELD, None, dcpl)
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_chunk((2, 2))
    dcpl.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    low(file, "early", h5t.IEEE_F32LE, FIELD, None, dcpl)
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_chunk((2, 2))
    dcpl.set_fill_time(h5d.FILL_TIME_NEVER)
    low(file, "never filled", h5t.IEEE_F32LE, FIELD, None, dcpl)
    big = np.arange(20 * 15).reshape(20, 15).astype("i2")
    chunked: dict[str, dict[str, Any]] = {
        "one chunk": {"chunks": (20, 15)},
        "one packed chunk": {"chunks": (20, 15), "compression": "gzip"},
        "fixed": {"chunks": (7, 15)},
        "packed": {"chunks": (7, 4), "compression": "gzip", "shuffle": True, "fletcher32": True},
        "growing": {"chunks": (7, 4), "maxshape": (None, 15)},
        "growing packed": {"chunks": (7, 4), "maxshape": (None, 15), "compression": "gzip"},
        "growing twice": {"chunks": (9, 4), "maxshape": (None, None), "compression": "lzf"},
        "scaled": {"chunks": (8, 8), "scaleoffset": True},
        "larger chunk": {"chunks": (30, 20), "maxshape": (30, 20)},
    }
    for name, options in chunked.items():
        file.create_dataset(name, data=big, **options)
        readable.append(name)
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_chunk((7, 15))
    dcpl.set_filter(5, 0, ())
    low(file, "n-bit", h5t.STD_I16LE, big, None, dcpl)
    unwritten = file.create_dataset("unwritten", FIELD.shape, "f4", chunks=(1, 2), fillvalue=-7)
    unwritten[1, 2:] = 3
    file.create_dataset("never written", FIELD.shape, "f8", fillvalue=np.inf)
    shrunk = file.create_dataset("shrunk", (9, 9), "f4", data=np.ones((9, 9)), maxshape=(None, None), chunks=(2, 4))
    shrunk.resize((3, 5))
    shrunk.resize((6, 7))
    readable.extend(["unwritten", "never written", "shrunk"])


def attributes(file: h5py.File, version: str) -> None:
    scale = file.create_dataset("y", data=np.arange(3.0))
    scale.make_scale("y")
    file["t"].dims[0].attach_scale(scale)
    readable.append("y")
    odd = file.create_dataset("odd attributes", data=FIELD)
    if version != "earliest":
        odd.attrs["huge"] = np.arange(20_000)
    odd.attrs["text"] = "text"
    odd.attrs["texts"] = ["some", "texts"]
    odd.attrs["complex"] = 1j
    odd.attrs["compound"] = np.zeros(2, [("a", "f4")])
    odd.attrs["reference"] = file["t"].ref
    odd.attrs["truth"] = True
    odd.attrs["long double"] = np.float128(1)
    odd.attrs["none"] = h5py.Empty("f4")
    odd.attrs.create("named", 5.0, dtype=file["type"])
    odd.attrs["lists"] = np.zeros((2, 3, 4), "i8")
    for place in [odd, file]:
        h5py.h5a.create(place.id, b"native complex", h5t.COMPLEX_IEEE_F32LE, h5s.create(h5s.SCALAR))
    many = file.create_dataset("many attributes", data=FIELD)
    for at in range(40):
        many.attrs[f"attribute {at}"] = at
    many.attrs["_FillValue"] = np.float32(281)
    ordered = file.create_dataset("ordered attributes", data=FIELD, track_order=True)
    for at in range(20):
        ordered.attrs[f"attribute {at}"] = "x" * at
    ordered.attrs["missing_value"] = np.float32(282)
    named = file.create_dataset("named attribute", data=FIELD)
    named.attrs.create("_FillValue", 280.5, dtype=file["type"])
    # As NetCDF-4 writes a dimension, and a variable of the same name that is not its coordinate.
    for name in ["dimensions/x", "dimensions/z"]:
        dimension = file.create_dataset(name, (4,), ">f4")
        dimension.make_scale("This is a netCDF dimension but not a netCDF variable.         4")
    file["dimensions/_nc4_non_coord_x"] = FIELD
    refused["dimensions/z"] = "a dimension of NetCDF without a variable"
    readable.extend(["odd attributes", "many attributes", "ordered attributes", "named attribute"])


def filters(file: h5py.File) -> None:
    """Datasets with filters, named `VALUES/FILTER`, and `plain/VALUES` as h5py reads them."""
    noise = np.random.default_rng(7)
    rows = np.arange(24)[:, None] % 9
    field = (280 + np.sin(rows * 7.3 + np.arange(100) / 40) * 9).astype("f4")
    field[20:, 70:] = noise.standard_normal((4, 30))
    fields = {"f4": field, "big f4": field.astype(">f4"), "i2": (field * 100).astype("i2"), "f8": field.astype("f8")}
    szip = {"compression": "szip"} if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP) else {"compression": "gzip"}
    known: dict[str, Any] = {
        "deflate": {"compression": "gzip", "shuffle": True, "fletcher32": True},
        "szip": szip,
        "lzf": {"compression": "lzf", "shuffle": True},
        "lz4": hdf5plugin.LZ4(),
        "zstd": hdf5plugin.Zstd(),
        "bzip2": hdf5plugin.BZip2(),
        "bits": hdf5plugin.Bitshuffle(cname="none"),
        "bits lz4": hdf5plugin.Bitshuffle(cname="lz4"),
        "bits zstd": hdf5plugin.Bitshuffle(cname="zstd", nelems=512),
    }
    codecs: list[Literal["blosclz", "lz4", "zlib", "zstd"]] = ["blosclz", "lz4", "zlib", "zstd"]
    for codec in codecs:
        for shuffle, word in enumerate(["", " bytes", " bits"]):
            known[f"blosc {codec}{word}"] = hdf5plugin.Blosc(cname=codec, shuffle=shuffle)
    # A copy of bytes that are far before.
    file["plain/far"] = np.tile(noise.integers(0, 30_000, 5000).astype("i2"), 2)
    file.create_dataset("far/blosc", data=file["plain/far"], chunks=(10_000,), **known["blosc blosclz"])
    for kind, values in fields.items():
        file[f"plain/{kind}"] = values
        for name, options in known.items():
            if kind not in ("f4", "i2") and name not in ("deflate", "bits zstd", "blosc zstd bits"):
                continue
            file.create_dataset(f"{kind}/{name}", data=values, chunks=(13, 100), **options)
        low_word, high_word = struct.unpack("<II", struct.pack("<d", 1.0))
        own = {"compression": 46657, "compression_opts": (1, 0, 0, low_word, high_word)}
        for name in ["", " sum"]:
            path = f"own {kind}/ferrosz{name}"
            file.create_dataset(path, data=values, chunks=(13, 100), fletcher32=bool(name), **own)
        file[f"plain/own {kind}"] = file[f"own {kind}/ferrosz"][...]
    for name, words, options in [
        ("blosc2", "the filter Blosc2, number 32026", hdf5plugin.Blosc2()),
        ("zfp", "the filter ZFP, number 32013", hdf5plugin.Zfp(reversible=True)),
        ("sz3", "the filter SZ3, number 32024", hdf5plugin.SZ3(absolute=0.1)),
        ("snappy", "Snappy", hdf5plugin.Blosc(cname="snappy")),
    ]:
        file.create_dataset(name, data=field, **options)
        refused[name] = words
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_chunk(FIELD.shape)
    dcpl.set_filter(333, h5py.h5z.FLAG_OPTIONAL, (1, 2))
    # As the filter is not there, the chunk is stored as it is, which its mask says.
    low(file, "not applied", h5t.IEEE_F32LE, FIELD, None, dcpl)
    applied = h5d.create(file.id, b"applied", h5t.IEEE_F32LE, h5s.create_simple(FIELD.shape), dcpl=dcpl)
    applied.write_direct_chunk((0, 0), FIELD.tobytes(), 0)
    refused["applied"] = "without a name, number 333"


def packing(file: h5py.File) -> dict[str, dict[str, Any]]:
    """Datasets with attributes of the CF conventions, and their values and fill values."""
    stored = np.arange(-6, 6, dtype="i2").reshape(3, 4)
    single, double = np.float32(0.25), np.float64(0.25)
    found: dict[str, dict[str, Any]] = {}

    def add(name: str, values: np.ndarray, of: np.ndarray, fills: list[float], **attributes: Any) -> None:
        file[name] = values
        for key, value in attributes.items():
            file[name].attrs[key] = value
        found[name] = {"shape": of.shape, "values": plain_list(of), "fills": [plain(fill) for fill in fills]}

    unpacked = (stored * 0.25 + 10).astype("f4")
    add("packed", stored, unpacked, [], scale_factor=single, add_offset=np.float32(10))
    add("of one", stored, unpacked, [], scale_factor=np.array([0.25], "f4"), add_offset=np.array([10], "f4"))
    add("big", stored.astype(">i4"), stored * 0.25, [], scale_factor=np.array(0.25, ">f8"))
    add("offset", stored.astype("u1"), stored.astype("u1") + 1.5, [], add_offset=1.5)
    add("of integers", stored, stored * 3.0, [], scale_factor=np.int8(3))
    add("long", stored.astype("i8"), stored * 0.25, [], scale_factor=double)
    add("half", stored.astype("f2"), (stored * 0.25).astype("f4"), [], scale_factor=single)
    holes = np.where(np.isin(stored, [-6, 5, 2]), np.nan, stored * 0.25)
    add("holes", stored, holes, [], scale_factor=double, _FillValue=np.int16(-6), missing_value=np.array([5, 2], "i4"))
    add("fills", stored, stored * 1.0, [-6, 5, 2], _FillValue=np.int16(-6), missing_value=np.array([5, 2, 5], "i8"))
    add("other type", stored, stored * 1.0, [-6], _FillValue=np.float64(-6))
    add("no number of it", stored, stored * 1.0, [4], _FillValue=np.nan, missing_value=[1e20, 0.5, 4])
    add("single", FIELD, FIELD * 1.0, [-9999], _FillValue=-9999.0, missing_value=np.float32(-9999))
    add("halves", FIELD.astype("f2"), FIELD.astype("f2") * 1.0, [281], _FillValue=np.float16(281))
    add("not a number", FIELD, FIELD * 1.0, ["nan"], _FillValue=np.float32("nan"))  # type: ignore[list-item]
    add("ignored", FIELD, FIELD * 1.0, [281], _FillValue="-999", missing_value=281.0)
    file.create_dataset("of dataset", data=FIELD, fillvalue=281)
    found["of dataset"] = {"shape": FIELD.shape, "values": plain_list(FIELD), "fills": [281]}
    turned = stored.view("u2")
    for name, text in [("unsigned", "true"), ("unsigned fixed", np.bytes_("TRUE"))]:
        add(name, stored, turned * 1.0, [65530], _Unsigned=text, _FillValue=np.int16(-6))
    add("signed", turned, stored * 1.0, [-6], _Unsigned="false", _FillValue=np.uint16(65530))
    add("unsigned bytes", stored.astype("i1"), stored.astype("u1") * 1.0, [255], _Unsigned="true", _FillValue=np.int8(-1))
    for name, words, value in [
        ("factor of text", "scale_factor is the text '0.25', not a number", "0.25"),
        ("factor of bytes", "scale_factor is the text '0.25', not a number", np.bytes_("0.25")),
        ("factor of texts", "scale_factor is 2 texts, not a number", ["0.25", "1"]),
        ("two factors", "scale_factor is 2 numbers, not a number", [0.25, 1.0]),
        ("no factor", "scale_factor is 0 numbers, not a number", h5py.Empty("f4")),
        ("complex factor", "scale_factor is complex numbers", 1j),
    ]:
        file[name] = stored
        file[name].attrs["scale_factor"] = value
        refused[name] = words
    return found


def plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def parts(values: np.ndarray) -> np.ndarray:
    """Complex numbers as their parts, along a last axis; other values as they are."""
    return np.stack([values.real, values.imag], axis=-1) if values.dtype.kind == "c" else values


def complex_numbers(file: h5py.File) -> dict[str, dict[str, Any]]:
    """Complex numbers as libraries write them, and compounds that look like them."""
    values = (FIELD + 1j * np.arange(12).reshape(3, 4)).astype("c16")
    found: dict[str, dict[str, Any]] = {}

    def add(name: str, of: np.ndarray, fills: list[float], data: Any = None, **options: Any) -> Any:
        dataset = file.create_dataset(name, data=of if data is None else data, **options)
        found[name] = {"shape": [*of.shape, 2], "values": plain_list(parts(of)), "fills": fills}
        return dataset

    low_word, high_word = struct.unpack("<II", struct.pack("<d", 0.0))
    own = {"compression": 46657, "compression_opts": (1, 0, 0, low_word, high_word)}
    for code in ["<c8", ">c8", "<c16", ">c16"]:
        of = values.astype(code)
        add(code, of, [])
        add(f"{code} packed", of, [], chunks=(2, 3), compression="gzip", shuffle=True, fletcher32=True)
        add(f"{code} own", of, [], chunks=(2, 3), **own)
        order, bits = "LE" if code[0] == "<" else "BE", of.itemsize * 4
        low(file, f"{code} native", getattr(h5t, f"COMPLEX_IEEE_F{bits}{order}"), of, None)
        found[f"{code} native"] = {"shape": [3, 4, 2], "values": plain_list(parts(of)), "fills": []}
    for names in [("re", "im"), ("real", "imag")]:
        data = values.view([(name, "f8") for name in names])
        add("".join(names), values, [], data)
    add("line", values[0], [])
    add("scalar", values[1, 2], [])
    add("many", values.reshape(1, 3, 1, 2, 1, 2, 1, 1), [])
    add("fill", values, [1e20, -7.25], fillvalue=1e20 - 7.25j)
    add("attribute", values, [9.5], fillvalue=3j).attrs["_FillValue"] = 9.5 + 9.5j
    add("part", values, [-9999.0]).attrs["missing_value"] = -9999.0
    file["scaled"] = values
    file["scaled"].attrs["scale_factor"] = 2.0
    refused["scaled"] = "complex numbers with scale_factor or add_offset"
    file["of real"] = FIELD
    file["of real"].attrs["_FillValue"] = 280 + 0j
    found["of real"] = {"shape": FIELD.shape, "values": plain_list(FIELD), "fills": []}
    half, single, double = np.dtype("f2"), np.dtype("f4"), np.dtype("f8")
    for name, kind in {
        "halves": [("r", half), ("i", half)],
        "integers": [("r", "i4"), ("i", "i4")],
        "two types": [("r", single), ("i", double)],
        "two orders": [("r", "<f4"), ("i", ">f4")],
        "other names": [("x", single), ("y", single)],
        "turned": [("i", single), ("r", single)],
        "three": [("r", single), ("i", single), ("k", single)],
        "gap": np.dtype({"names": ["r", "i"], "formats": [single, single], "offsets": [0, 8], "itemsize": 12}),
        "overlap": np.dtype({"names": ["r", "i"], "formats": [single, single], "offsets": [0, 4], "itemsize": 12}),
        "nested": [("r", [("r", single), ("i", single)]), ("i", [("r", single), ("i", single)])],
    }.items():
        file[name] = np.zeros(3, kind)
        refused[name] = f"compound values of {len(np.dtype(kind).names or ())} members"
    low(file, "native halves", h5t.COMPLEX_IEEE_F16LE, np.zeros((3, 4), "i4"), "complex numbers of other parts than f32 and f64")
    return found


def make_complex(path: Path) -> dict[str, Any]:
    readable.clear()
    refused.clear()
    with h5py.File(path, "w") as file:
        found = complex_numbers(file)
    return {"refused": dict(refused), "readable": found}


def make_netcdf(path: Path) -> dict[str, Any]:
    """Complex numbers as netCDF4 writes them, and a compound of the user."""
    values = (FIELD + 1j * np.arange(12).reshape(3, 4)).astype("c16")
    with netCDF4.Dataset(path, "w", auto_complex=True) as file:
        file.createDimension("y", 3)
        file.createDimension("x", None)
        file.createVariable("double", "c16", ("y", "x"), zlib=True)[:] = values
        kind = np.dtype([("real", "f4"), ("imag", "f4")])
        of_user = file.createCompoundType(kind, "of_user")
        file.createVariable("single", of_user, ("y", "x"))[:] = values.astype("c8").view(kind)
    with h5py.File(path) as file:
        assert (file["double"][...] == values).all() and (file["single"][...].view("c8") == values).all()
    entry = {"shape": [3, 4, 2], "values": plain_list(parts(values)), "fills": []}
    return {"refused": {}, "readable": dict.fromkeys(["double", "single"], entry)}


def plain_list(values: np.ndarray) -> list[Any]:
    return [plain(value) for value in values.astype("f8").ravel().tolist()]


def expected(file: h5py.File) -> dict[str, Any]:
    values = {name: parts(np.asarray(file[name][...])) for name in readable}
    found = {name: {"shape": v.shape, "values": plain_list(v)} for name, v in values.items()}
    return {"refused": dict(refused), "readable": found}


def make(path: Path, version: tuple[str, str]) -> dict[str, Any]:
    readable.clear()
    refused.clear()
    with h5py.File(path, "w", libver=version) as file:
        file["t"] = FIELD
        readable.append("t")
        links(file)
        kinds(file)
        spaces(file)
        layouts(file)
        attributes(file, version[0])
        found = expected(file)
    found["readable"]["dimensions/x"] = {"shape": FIELD.shape, "values": plain_list(FIELD)}
    return found


def make_filters(path: Path) -> dict[str, Any]:
    readable.clear()
    refused.clear()
    with h5py.File(path, "w", libver="latest") as file:
        filters(file)
        return expected(file)


def make_packing(path: Path) -> dict[str, Any]:
    refused.clear()
    with h5py.File(path, "w") as file:
        found = packing(file)
    return {"refused": dict(refused), "readable": found}


def make_shared(path: Path) -> dict[str, Any]:
    """A file whose objects share their messages, behind a block of the user."""
    fcpl = h5p.create(h5p.FILE_CREATE)
    fcpl.set_userblock(1024)
    # h5py has no function for this; its library has.
    library = ctypes.CDLL(str(next(Path(h5py.__file__).parents[1].glob("h5py.libs/libhdf5-*.so*"))))
    number = ctypes.c_int64(fcpl.id)
    assert library.H5Pset_shared_mesg_nindexes(number, ctypes.c_uint(1)) >= 0
    assert library.H5Pset_shared_mesg_index(number, ctypes.c_uint(0), ctypes.c_uint(0x1F), ctypes.c_uint(1)) >= 0
    names = [f"t{at}" for at in range(60)]
    with h5py.File(h5py.h5f.create(str(path).encode(), fcpl=fcpl)) as file:
        for name in names:
            dataset = file.create_dataset(name, data=FIELD, fillvalue=281)
            dataset.attrs["_FillValue"] = np.float32(281)
            dataset.attrs["long text"] = "shared " * 20
    entry = {"shape": FIELD.shape, "values": plain_list(FIELD), "fills": [281]}
    return {"refused": {}, "readable": {name: entry for name in names}}


folder = Path(sys.argv[1])
found: dict[str, Any] = {}
for label, version in VERSIONS.items():
    found[f"odd-{label}.h5"] = make(folder / f"odd-{label}.h5", version)
found["shared.h5"] = make_shared(folder / "shared.h5")
found["filters.h5"] = make_filters(folder / "filters.h5")
found["packing.h5"] = make_packing(folder / "packing.h5")
found["complex.h5"] = make_complex(folder / "complex.h5")
found["complex.nc"] = make_netcdf(folder / "complex.nc")
for name in found:
    path = folder / name
    (folder / f"{name}.bz2").write_bytes(bz2.compress(path.read_bytes()))
    path.unlink()
(folder / "expected.json.bz2").write_bytes(bz2.compress(json.dumps(found, ensure_ascii=False).encode()))
