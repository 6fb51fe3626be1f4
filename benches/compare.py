#!/usr/bin/env python3
"""ferrosz beside SZ3, SPERR, HPEZ, zfp and pco on the CPU: same fields, same absolute bounds, same threads.

    compare-venv/bin/python benches/compare.py --out docs/measurements/compare-cpu.md FIELD.f32:Z,Y,X ...

compressors.py says what to install. Fields are raw little-endian float32, without NaN. A bound is a share of a
field's range; the absolute error that it comes to is what every compressor gets. Every result is decoded, and its
largest error taken in float64. ferrosz is timed by `ferrosz bench` (the preset, with its choice) and
`ferrosz-lab bench` (a codec), the others around their calls from Python.
"""
import functools
import pathlib
import tempfile

import compressors

BOUNDS = (1e-2, 1e-3, 1e-4)
SZ3 = ("INTERP_LORENZO", "INTERP", "LORENZO_REG")
OWN = ("--small", "interp", "lorenzo+rans")
OTHERS = (*(f"SZ3 {name}" for name in SZ3), "SPERR", "zfp", *(f"HPEZ {way}" for way in compressors.Hpez.WAYS))


def ways(field, error, ferrosz, args):
    """By column of the table of ratios, or by name: what makes a result."""
    found = {"--small": functools.partial(ferrosz.small, field, error)}
    found |= {codec: functools.partial(ferrosz.codec, field, error, codec, field.rank) for codec in OWN[1:]}
    found |= {f"SZ3 {name}": functools.partial(compressors.sz3, field, error, name, args.threads, args.repeat)
              for name in SZ3}
    return found | {"SPERR": functools.partial(compressors.sperr, field, error, args.repeat),
                    "zfp": functools.partial(compressors.zfp, field, error, args.repeat),
                    "pco": functools.partial(compressors.pco_codes, field, error, args.repeat)}


class Ratios:
    """A field and a bound: the ratio of each, and whether its errors are within the bound."""

    def __init__(self, field, share, results, hpez):
        self.field, self.share, self.chosen = field, share, results["--small"].name.split(": ")[1]
        error = share * field.extent
        self.of = {name: field.ratio(result.stream_bytes) for name, result in results.items()} | hpez
        self.over = {name for name, result in results.items() if field.largest_error(result.decoded) > error}

    @property
    def best(self):
        return max((name for name in OTHERS if name in self.of), key=self.of.get)

    @property
    def part(self):
        """Of the best other's ratio, what the preset `small` has."""
        return self.of["--small"] / self.of[self.best]

    def line(self):
        def cell(name):
            ratio = f"{self.of[name]:.2f}" if name in self.of else "-"
            return f"{ratio}*" if name in self.over else ratio

        part = f"{self.part:.3f}"
        cells = [self.field.name, f"{self.share:.0e}", *map(cell, OWN), self.chosen, *map(cell, OTHERS), self.best,
                 f"**{part}**" if self.part < 0.99 else part]
        return f"| {' | '.join(cells)} |"


def standing(rows):
    """In how many rows the preset is ahead, level and behind."""
    count = lambda holds: sum(holds(row.part) for row in rows)
    worst = min(rows, key=lambda row: row.part)
    return (f"Of {len(rows)} rows `--small` is ahead of the best other in {count(lambda part: part >= 1)}, in {count(lambda part: part >= 1.1)} "
            f"by 10 % or more; within 1 % of it or ahead in {count(lambda part: part >= 0.99)}; below 0.95 of it in "
            f"{count(lambda part: part < 0.95)}. The worst is {worst.part:.2f}, {worst.field.name} at {worst.share:.0e}.")


def line_of_rates(field, share, result):
    """A line of the second table; the largest error is in units of the bound."""
    largest = field.largest_error(result.decoded)
    if share is None:
        bound, kept = "-", "0" if largest == 0 else f"{largest:.3g} absolute"
    else:
        bound, over = f"{share:.0e}", largest / (share * field.extent)
        kept = f"{over:.4f}" if over <= 1 else f"**{over:.8g}**"
    rate = lambda seconds: f"{1e-9 * field.values.nbytes / seconds:.3f}"
    return (f"| {field.name} | {bound} | {result.name} | {field.ratio(result.stream_bytes):.2f} "
            f"| {field.bits(result.stream_bytes):.3f} | {field.psnr(result.decoded):.2f} | {rate(result.compress)} "
            f"| {rate(result.decompress)} | {kept} |")


def page(args, fields, ratios, lines):
    names = " ".join(f"{field.name}.f32:{field.dims}" for field in fields)
    ratio_lines = "\n".join(row.line() for row in ratios)
    rate_lines = "\n".join(lines)
    heading = ["field", "bound", *OWN, "chosen", *OTHERS, "best other", "`--small` / best"]
    return f"""# Beside SZ3, SPERR, HPEZ, zfp and pco, on the CPU

{compressors.circumstances(args)} Made by

```sh
python benches/compare.py --threads {args.threads} --repeat {args.repeat} --out docs/measurements/compare-cpu.md \\
    {names}
```

Fields are those of [ratios](ratios.md#fields). Bound: share of the field's range; the absolute error that it comes to is what each compressor
got. Ratio: bytes of the field over bytes of the whole stream. Every result was decoded, and its largest error taken in float64.

## Ratios

{standing(ratios)}

`--small` is the default preset, with `--keep none`, as no other keeps zeros; it chooses codec, rank and axes; *chosen* says which. `interp` and `lorenzo+rans` have tiles of the field's rank, in which
dimensions of up to 4 elements do not count. SZ3: pysz, its three algorithms. SPERR: the filter of hdf5plugin with a point-wise error, the whole field
as one chunk. HPEZ: QoZ 2.0 at a506cb0, with `-q 1` (QoZ 1.1), `-q 3` and `-q 4` (all of HPEZ); measured on 2026-11-22 on the same bytes ([hpez.csv](https://github.com/ferrosz/ferrosz/blob/main/benches/hpez.csv)), not by this
script, as it has no package for Python. A star: its largest error is over the bound, as the second table says; its ratio counts all the
same. The last column is bold below 0.99.

| {' | '.join(heading)} |
|{' --- |' * len(heading)}
{ratio_lines}

## Rates, PSNR and errors

Bits: of the stream, a value. PSNR: 20 log10(range / root mean square error), in dB. Rates: 10^9 bytes of the field a second, medians of up to {args.repeat} after
one call that is not timed; what takes more than {compressors.PATIENCE:g} s is called once. Threads: {args.threads} for ferrosz and SZ3, one for the others. Error: the largest |x - x'| over the bound;
more than 1 is in bold. `--small` is timed by `ferrosz bench`, so with the choice and its copies; a codec by `ferrosz-lab bench`; the others around their Python
calls, so with what these copy (SPERR: an HDF5 file in memory). pco is lossless and takes no bound; *NumPy quantised, pco* is pco of rint(x / 2e) in order, times with NumPy's
arithmetic: what entropy coding of the codes gives; where it is over the bound, its result was rounded to float32.

All rows of a field are from one run, on a machine that others used at the same time: compare rates within a field, and take them as rough.

| field | bound | compressor | ratio | bits | PSNR | compress | decompress | error / bound |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
{rate_lines}
"""


def main(args):
    fields = [compressors.read(argument) for argument in args.fields]
    hpez, ratios, lines = compressors.Hpez(), [], []
    with tempfile.TemporaryDirectory() as folder:
        ferrosz = compressors.Ferrosz(args.ferrosz, pathlib.Path(folder), args.lab, args.repeat)
        for field in fields:
            for share in BOUNDS:
                results = {name: way() for name, way in ways(field, share * field.extent, ferrosz, args).items()}
                ratios.append(Ratios(field, share, results, hpez.ratios(field, share)))
                lines += [line_of_rates(field, share, result) for result in results.values()]
                print(ratios[-1].line(), flush=True)
            lines.append(line_of_rates(field, None, compressors.pco_values(field, args.repeat)))
    text = page(args, fields, ratios, lines)
    if args.out:
        args.out.write_text(text)
    else:
        print(text)


def arguments():
    of_times = compressors.parser(__doc__)
    of_times.add_argument("--lab", default=str(compressors.ROOT / "target/release/ferrosz-lab"), help="the command that measures codecs")
    of_times.add_argument("--repeat", type=int, default=3)
    return of_times.parse_args()


if __name__ == "__main__":
    parsed = arguments()
    compressors.load(parsed.threads)
    main(parsed)
