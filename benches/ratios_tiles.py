#!/usr/bin/env python3
"""Ratios of ferrosz's codecs of tiles, and of its automatic choice, beside SZ3's.

    compare-venv/bin/python benches/ratios_tiles.py --out docs/measurements/ratios-tiles.md FIELD.f32:Z,Y,X ...

Fields, bounds and libraries are those of compare.py.
"""
import pathlib
import tempfile

import compare

PACKAGES = ("numpy", "pysz")


def rows(field, ferrosz):
    for share in compare.BOUNDS:
        error = share * field.extent
        ratio = lambda stream_bytes: field.values.nbytes / stream_bytes
        of_codec = {}
        for codec, rank in (("interp", field.rank), ("lorenzo+rans", field.rank), ("auto", None)):
            chosen, decoded = ferrosz.compress(field, error, codec, rank)
            largest = abs(field.values.astype("f8") - decoded.astype("f8")).max()
            if largest > error:
                raise RuntimeError(f"{field.name}, {codec}: an error of {largest} is over {error}")
            of_codec[codec] = chosen
        sz3 = ratio(compare.sz3(field, error, "INTERP_LORENZO", 1, 1).stream_bytes)
        found = {codec: ratio(chosen["stream_bytes"]) for codec, chosen in of_codec.items()}
        auto = of_codec["auto"]
        part = found["auto"] / sz3
        yield (f"| {field.name} | {share:.0e} | {found['interp']:.2f} | {found['lorenzo+rans']:.2f} | {found['auto']:.2f} "
               f"| {auto['codec']} {auto['rank']} | {sz3:.2f} | {f'{part:.2f}' if part >= 0.95 else f'**{part:.2f}**'} |")


def heading(args, fields):
    names = " ".join(f"{field.name}.f32:{field.dims}" for field in fields)
    return f"""# Ratios of the codecs of tiles, beside SZ3

{compare.circumstances(args, PACKAGES)} Made by

```sh
python benches/ratios_tiles.py --out docs/measurements/ratios-tiles.md \\
    {names}
```

Ratio: bytes of the field over bytes of the whole stream. Bound: share of the field's range; both got the absolute error that it comes to. `interp` and
`lorenzo+rans` with tiles of the field's rank, in which dimensions of up to 4 elements do not count; `auto` chooses codec and rank. SZ3: INTERP_LORENZO, its default. The last column is `auto`
over SZ3, bold below 0.95. Every bound was kept by ferrosz, as the script checks. Fields are those of [ratios](ratios.md).

| field | bound | interp | lorenzo+rans | auto | chosen | SZ3 | auto / SZ3 |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def main(args):
    fields = [compare.read(argument) for argument in args.fields]
    text = heading(args, fields)
    print(text, end="", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        ferrosz = compare.Ferrosz(args.ferrosz, pathlib.Path(folder))
        for field in fields:
            for line in rows(field, ferrosz):
                print(line, flush=True)
                text += line + "\n"
    if args.out:
        args.out.write_text(text)


if __name__ == "__main__":
    parsed = compare.parser(__doc__).parse_args()
    compare.load(parsed.threads)
    main(parsed)
