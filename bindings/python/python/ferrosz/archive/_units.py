"""Units: those that requirements of the community are in, and whether those of a variable are the same kind.

The requirements name GRIB parameters, and no units. So these are the units of the parameters, as ecCodes 2.50 has them.
"""

from __future__ import annotations

import math
import re
from collections import Counter

# The base units of a token, and its factor. Kelvins and degrees Celsius have the same differences.
_J, _N = {"kg": 1, "m": 2, "s": -2}, {"kg": 1, "m": 1, "s": -2}
_PA, _W = {"kg": 1, "m": -1, "s": -2}, {"kg": 1, "m": 2, "s": -3}
_TOKENS: dict[str, tuple[float, dict[str, int]]] = {
    **{name: (1.0, {"m": 1}) for name in ("m", "meter", "meters", "metre", "metres")},
    **{name: (factor, {"m": 1}) for name, factor in (("km", 1000.0), ("cm", 0.01), ("mm", 0.001))},
    **{name: (1.0, {"s": 1}) for name in ("s", "sec", "second", "seconds")},
    **{name: (60.0, {"s": 1}) for name in ("min", "minute", "minutes")},
    **{name: (3600.0, {"s": 1}) for name in ("h", "hr", "hour", "hours")},
    **{name: (86400.0, {"s": 1}) for name in ("d", "day", "days")},
    **{name: (1.0, {"K": 1}) for name in ("K", "kelvin", "Kelvin", "degC", "degree_Celsius", "celsius", "Celsius")},
    **{name: (100.0, _PA) for name in ("hPa", "mb", "mbar", "millibar", "millibars")},
    **{name: (math.pi / 180, {"rad": 1}) for name in ("degree", "degrees", "deg")},
    **{name: (1.0, {"rad": 1}) for name in ("rad", "radian", "radians")},
    **{name: (0.01, {}) for name in ("%", "percent")},
    **{"kg": (1.0, {"kg": 1}), "g": (0.001, {"kg": 1}), "Pa": (1.0, _PA), "J": (1.0, _J), "N": (1.0, _N), "W": (1.0, _W)},
    "1": (1.0, {}),
}
_WHOLE = {"deg C": "degC", "(0 - 1)": "1", "m of water equivalent": "m", "Degree true": "degree", "fraction": "1"}
_WHOLE |= {name: "1" for name in ("Proportion", "Numeric", "dimensionless")}
CELSIUS = ("degC", "deg C", "degree_Celsius", "celsius", "Celsius")

_NAMES = {
    "m s**-1": "100u 100v 10fg 10u 10v i10fg u u10n ust v v10n vst wind wstar zust",
    "K": "2d 2t istl1 istl2 istl3 istl4 kx lblt lict lmlt ltlt mn2t mx2t skt sst stl1 stl2 stl3 stl4 t totalx tsn",
    "(0 - 1)": "alnid alnip aluvd aluvp asn cc ci cl cvh cvl fal hcc lcc lsm mcc tcc",
    "radians": "anor dwps dwww wdw",
    "kg m**-2 s**-1": "avg_cpr avg_csfr avg_esrwe avg_ie avg_lsprate avg_lssfr avg_pevr avg_rorwe avg_smr avg_ssurfror "
    "avg_surfror avg_tprate avg_tsrwe avg_vimdf crr csfr ie lsrr lssfr mntpr mxtpr",
    "W m**-2": "avg_ibld avg_igwd avg_ishf avg_sdirswrf avg_sdirswrfcs avg_sdlwrf avg_sdlwrfcs avg_sdswrf avg_sdswrfcs "
    "avg_sduvrf avg_slhtf avg_snlwrf avg_snlwrfcs avg_snswrf avg_snswrfcs avg_tdswrf avg_tnlwrf avg_tnlwrfcs "
    "avg_tnswrf avg_tnswrfcs ishf",
    "N m**-2": "avg_iegwss avg_iews avg_ingwss avg_inss iews inss",
    "1": "avg_ilspf ilspf bfi cdww lshf msqs wsk wsp chnk flsr isor phiaw phioc slor tauoc wss",
    "J m**-2": "bld cdir fdir gwd slhf sshf ssr ssrc ssrd ssrdc str strc strd strdc tisr tsr tsrc ttr ttrc uvb",
    "m": "blh cbh cp dctb deg0l dl fsr hmax licd lmld lsp pev ro sdfor sdor shts shww sro ssro swh swh1 swh2 swh3 tp "
    "tplb tplt wmb csf e es lsf sd sf smlt src",
    "J kg**-1": "cape cin",
    "kg kg**-1": "ciwc clwc crwc cswc o3 q",
    "s**-1": "d vo",
    "m**-1": "dndza dndzn",
    "degrees": "dwi mdts mdww mwd1 mwd2 mwd3 mwd",
    "N m**-2 s": "ewss lgws mgws nsss",
    "m**2 m**-2": "lai_hv lai_lv",
    "km**-2 day**-1": "licga1 licga3 licga6 licgi litota1 litota3 litota6 litoti",
    "s": "lspf mp1 mp2 mpts mpww mwp mwp1 mwp2 mwp3 p1ps p1ww p2ps p2ww pp1d tmax",
    "Pa": "msl sp",
    "K m**2 kg**-1 s**-1": "pv",
    "%": "r",
    "kg m**-3": "rhoao rsn",
    "m**3 m**-3": "swvl1 swvl2 swvl3 swvl4",
    "kg m**-2": "tciw tclw tco3 tcrw tcslw tcsw tcw tcwv vimd",
    "Pa s**-1": "w",
    "m**2 s**-2": "z",
}
UNITS = {name: units for units, names in _NAMES.items() for name in names.split()}
"""The units of GRIB parameters by their short names."""


def factor_between(units: str, others: str) -> float | None:
    """How many of `others` one of `units` is; None if they are not of one kind, or not known.

    >>> factor_between("hPa", "Pa"), factor_between("kg m-2 s-1", "m"), factor_between("K", "degC")
    (100.0, None, 1.0)
    """
    one, other = _parsed(units), _parsed(others)
    if one is None or other is None or one[1] != other[1]:
        return None
    return one[0] / other[0]


def _parsed(units: str) -> tuple[float, dict[str, int]] | None:
    """The factor and the base units of such texts as `m s**-1`, `m s-1` and `m/s`."""
    text = _WHOLE.get(units.strip(), units.strip())
    parts = re.findall(r"(/?)\s*([A-Za-z_]+|%|1)(?:\*\*|\^)?([-+]?\d+)?[\s.*]*", text)
    is_whole = "".join("".join(part) for part in parts) == re.sub(r"\*\*|[\s.*^]", "", text)
    if not parts or not is_whole or any(name not in _TOKENS for _, name, _ in parts):
        return None
    factor, found = 1.0, Counter[str]()
    for slash, name, exponent in parts:
        power = int(exponent or 1) * (-1 if slash else 1)
        own, bases = _TOKENS[name]
        factor *= own**power
        for base, times in bases.items():
            found[base] += times * power
    return factor, {base: times for base, times in found.items() if times}
