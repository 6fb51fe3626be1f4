"""Archives: files of NetCDF and Zarr groups of any size become a Zarr v3 group with shards of ferrosz.

`convert` makes two passes over the source, on the workers of a Dask cluster: the first finds the range of each variable,
from which its bound follows; the second writes shards, each by one call. It can be killed at any time and run again.
`verify` compares the archive with its source. In a shell: `python -m ferrosz.archive`.
"""

from __future__ import annotations

from ._convert import Variable, convert
from ._verify import Verified, verify

__all__ = ["Variable", "Verified", "convert", "verify"]
