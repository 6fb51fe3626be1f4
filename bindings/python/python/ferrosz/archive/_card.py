"""The score card of a plan: one page of HTML that needs no network and no script."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from ._entry import SOURCES, Entry, entry_of
from ._table import size_of
from ._verified import Verified

# The colours are told apart with every kind of colour vision, and each has a sign and a word beside it.
STYLE = """\
:root { color-scheme: light dark; --line: #8888; --kept: #0072b2; --not: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --kept: #56b4e9; --not: #e69f00; } }
body { font: 1rem/1.45 system-ui, sans-serif; max-width: 76rem; margin: 1rem auto; padding: 0 .8rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
td.number { text-align: right; white-space: nowrap; }
.name { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
.reason { overflow-wrap: anywhere; }
.kept { color: var(--kept); font-weight: 600; }
.broken { color: var(--not); font-weight: 600; text-decoration: underline; }
dt { font-weight: 600; } dd { margin: 0 0 .4rem 1rem; }
@media (max-width: 48rem) {
  thead { position: absolute; left: -100vw; }
  table, tbody, tr, th, td { display: block; }
  tr { border: 1px solid var(--line); border-radius: .4rem; margin: 0 0 .8rem; padding: .3rem; }
  td, td.number, tbody th { display: flex; gap: .6rem; border: 0; padding: .15rem .4rem; text-align: left; white-space: normal; }
  td::before, tbody th::before { content: attr(data-label); flex: 0 0 6.5rem; font-weight: 600; }
}
"""

HEAD = ("variable", "bound", "source", "why", "predicted", "after the conversion")


def score_card(plan: Mapping[str, Any], verified: Mapping[str, Verified] | None = None, *, title: str = "") -> str:
    """A plan as a page of HTML: a row for each variable with its bound, where the bound comes from, why, and the ratio
    that was predicted.

    plan
        The result of `ferrosz.archive.plan` or `load_plan`.
    verified
        The result of `verify` after a conversion: then the page also says whether each bound was kept.
    title
        What was planned, such as the name of an archive.

    The page stands alone, without scripts and pictures. On a phone each row becomes a card, and what colours say is
    there in words, too.

    >>> import xarray
    >>> source = xarray.Dataset({"t": (("y", "x"), np.arange(90000.0).reshape(300, 300) / 8)})
    >>> page = score_card(plan(source, abs=0.01), title="<t>")
    >>> page.startswith("<!doctype html>"), "&lt;t&gt;" in page, "abs 0.01" in page, "<script" in page
    (True, True, True, False)
    """
    verified = verified or {}
    entries = {name: entry_of(found) for name, found in plan.items()}
    names = [*entries, *(name for name in verified if name not in entries)]
    rows = "\n".join(_row(name, entries.get(name), verified.get(name)) for name in names)
    heads = "".join(f'<th scope="col">{head}</th>' for head in HEAD)
    used = [source for source in SOURCES if any(entry.source == source for entry in entries.values())]
    sources = "\n".join(f"<dt>{source}</dt><dd>{escape(SOURCES[source])}</dd>" for source in used)
    name = f"Plan of ferrosz{': ' if title else ''}{escape(title)}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>
{STYLE}</style>
</head>
<body>
<h1>{name}</h1>
<p>{_summary(entries, verified)}</p>
<table>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
<h2>Where bounds come from</h2>
<dl>
{sources}
</dl>
<p>Ratios and sizes are predicted from samples, compressed as the conversion does it.</p>
</body>
</html>
"""


def bound_text(settings: Mapping[str, Any] | None) -> str:
    """A bound in a few words."""
    if settings is None:
        return "exact"
    numbers = {key: f"{value:g}" if isinstance(value, float) else str(value) for key, value in settings.items()}
    return ", ".join(f"{key} {value}" for key, value in numbers.items())


def _summary(entries: Mapping[str, Entry], verified: Mapping[str, Verified]) -> str:
    coded = sum(not entry.is_exact for entry in entries.values())
    text = f"{coded} of {len(entries)} variables are coded within a bound, and all others exactly."
    sizes = [entry.stored_bytes for entry in entries.values()]
    if all(size is not None for size in sizes) and sizes:
        text += f" Predicted: about {size_of(sum(size for size in sizes if size is not None))}."
    if verified:
        kept = sum(map(bool, verified.values()))
        text += f" After the conversion {kept} of {len(verified)} variables are as the plan wants them."
    return text


def _row(name: str, entry: Entry | None, found: Verified | None) -> str:
    entry = entry or Entry(None, "given", "the plan does not name it")
    ratio = "" if entry.ratio is None else f"ratio {entry.ratio:.3g}"
    size = "" if entry.stored_bytes is None else f", {size_of(entry.stored_bytes)}"
    time = "" if entry.seconds is None else f", {entry.seconds:.2g} s"
    cells = [
        ("bound", "", escape(bound_text(entry.settings))),
        ("source", "", escape(entry.source)),
        ("why", ' class="reason"', escape(entry.reason)),
        ("predicted", ' class="number"', f"{ratio}{size}{time}" or "&ndash;"),
        ("result", "", _result(found)),
    ]
    head = f'<th scope="row" class="name" data-label="variable"><span>{escape(name)}</span></th>'
    row = "".join(f'<td data-label="{label}"{kind}><span>{text}</span></td>' for label, kind, text in cells)
    return f"<tr>{head}{row}</tr>"


def _result(found: Verified | None) -> str:
    """The judgement, as a sign, a word and a number."""
    if found is None:
        return "not yet converted"
    if found:
        sign = '<span class="kept">&#10003; kept</span>'
        text = "every bit is the same" if found.is_exact else f"largest error {found.largest_error:.4g} of {found.bound:.4g}"
    else:
        sign = '<span class="broken">&#10007; NOT KEPT</span>'
        text = "; ".join(found.faults) or f"{found.over} values over the bound, {found.changed} changed"
    if found.checked is not None:
        word = {True: "kept", False: "NOT KEPT", None: ""}[found.checked.kept]
        text += f"; requirements {word}{': ' if word else ''}{found.checked.words}"
    return f"{sign}; {escape(text)}"
