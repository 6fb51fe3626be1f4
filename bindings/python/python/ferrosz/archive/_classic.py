"""The length that a file of the classic NetCDF formats (CDF-1, CDF-2, CDF-5) must have, by its header.

The NetCDF library reads zeros behind the end of such a file, without an error.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import BinaryIO

# The bytes of the types with these numbers.
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}


@dataclass
class Header:
    """Reads numbers of a header, whose lengths depend on the version of the format."""

    file: BinaryIO
    version: int

    def number(self, length: int = 4) -> int:
        found = self.file.read(length)
        if len(found) < length:
            raise EOFError
        return int.from_bytes(found, "big")

    def count(self) -> int:
        return self.number(8 if self.version == 5 else 4)

    def skip(self, length: int) -> None:
        """Texts and values are padded to whole words."""
        self.file.seek(-(-length // 4) * 4, os.SEEK_CUR)

    def items(self) -> range:
        """The numbers of a list, whose tag is not needed."""
        self.number()
        return range(self.count())

    def skip_attributes(self) -> None:
        for _ in self.items():
            self.skip(self.count())
            size = SIZES[self.number()]
            self.skip(size * self.count())


def bytes_missing(path: str) -> int:
    """How many bytes a file is shorter than its header says; 0 of a file of another format."""
    with open(path, "rb") as file:
        magic = file.read(4)
        if magic[:3] != b"CDF" or magic[3:] not in (b"\1", b"\2", b"\5"):
            return 0
        length = os.path.getsize(path)
        try:
            return max(_length_of(Header(file, magic[3])) - length, 0)
        except (EOFError, KeyError):
            return 1


def _length_of(header: Header) -> int:
    records = header.count()
    dims = []
    for _ in header.items():
        header.skip(header.count())
        dims.append(header.count())
    header.skip_attributes()
    ends, of_records = [0], []
    for _ in header.items():
        begin, shape, size = _variable(header, dims)
        if shape[:1] == [0]:
            of_records.append((begin, math.prod(shape[1:]) * size))
        else:
            ends.append(begin + math.prod(shape) * size)
    # A file that was written as a stream does not know its records.
    if of_records and 0 < records < 2**32 - 1:
        is_alone = len(of_records) == 1
        record = sum(length if is_alone else -(-length // 4) * 4 for _, length in of_records)
        ends += [begin + (records - 1) * record + length for begin, length in of_records]
    return max(ends)


def _variable(header: Header, dims: list[int]) -> tuple[int, list[int], int]:
    """Where a variable begins, its shape, with 0 for the dimension of records, and the bytes of an element."""
    header.skip(header.count())
    shape = [dims[header.count()] for _ in range(header.count())]
    header.skip_attributes()
    size = SIZES[header.number()]
    header.count()
    return header.number(4 if header.version == 1 else 8), shape, size
