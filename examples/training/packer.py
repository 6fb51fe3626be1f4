"""Compresses what autograd saves for the backward pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from .bundle import Bundle
from .store import Store


@dataclass
class Counts:
    """What was saved, and what is kept for it, in one step. A packed tensor that is saved again counts once."""

    raw_bytes: int = 0
    kept_bytes: int = 0
    packed_raw_bytes: int = 0
    packed_bytes: int = 0
    packed_tensors: int = 0
    raw_tensors: int = 0
    saved_again: int = 0
    compressions: int = 0
    decompressions: int = 0


@dataclass
class Group:
    """Tensors that are packed in one call. Until then it has them as they are."""

    waiting: list[tuple[Tensor, int]] = field(default_factory=list)
    bundle: Bundle | None = None
    decoded: list[Tensor] | None = None
    uses: int = 0


@dataclass
class Packed:
    """A tensor's place in its group, and its layout."""

    group: Group
    place: int
    order: list[int]
    shape: list[int]


@dataclass(frozen=True)
class Seen:
    """A saved tensor. The weak reference lets its memory be freed, but no other storage gets its number: an address would be
    that of the next tensor in this memory."""

    storage: StorageWeakRef
    packed: Packed


class Packer:
    """Packs saved tensors by a store, in groups of at least `group_bytes`.

    These stay as they are: tensors of other types than float32 and bfloat16; those that share memory with one of `skip`, the
    parameters, which are in memory anyway; and those of less than `least_bytes`. Among the small ones are the statistics of
    rows, such as a normalisation's variances and attention's logarithms of sums, which later steps take the exponential or
    the inverse of.

        packer = Packer(store, model.parameters())
        with packer.hooks():
            loss = model(inputs)
        loss.backward()
    """

    def __init__(self, store: Store, skip: Iterable[Tensor], least_bytes: int = 2**16, group_bytes: int = 2**24) -> None:
        self.store, self.least_bytes, self.group_bytes = store, least_bytes, group_bytes
        self.skipped = {tensor.untyped_storage().data_ptr() for tensor in skip}
        self.counts = Counts()
        self.seen: dict[tuple[object, ...], Seen] = {}
        self.group = Group()

    @contextmanager
    def hooks(self) -> Iterator[None]:
        """In this context, that of a forward pass, autograd saves by this packer."""
        self.counts = Counts()
        try:
            with torch.autograd.graph.saved_tensors_hooks(self.pack, self.unpack):
                yield
            self.flush()
        finally:
            # From here on the graph alone keeps what is packed, and frees it in the backward pass.
            self.seen.clear()

    def pack(self, tensor: Tensor) -> Tensor | Packed:
        """What autograd keeps in place of a tensor."""
        if tensor.untyped_storage().data_ptr() in self.skipped:
            return tensor.detach()
        storage = StorageWeakRef(tensor.untyped_storage())
        # Reshaped and transposed tensors have the same elements in memory.
        strides = tensor.stride()
        order = sorted(range(tensor.dim()), key=lambda axis: -strides[axis])
        values = tensor.detach().permute(order)
        where = values.numel() if values.is_contiguous() else (tensor.shape, tensor.stride())
        key = (storage.cdata, tensor.storage_offset(), where, tensor.dtype, tensor._version)
        seen = self.seen.get(key)
        if seen is not None:
            return self._again(seen.packed, order, values)
        if tensor.dtype not in (torch.float32, torch.bfloat16) or tensor.nbytes < self.least_bytes:
            self.counts.raw_bytes += tensor.nbytes
            self.counts.kept_bytes += tensor.nbytes
            self.counts.raw_tensors += 1
            return tensor.detach()
        return self._first(key, storage, order, values)

    def _again(self, packed: Packed, order: list[int], values: Tensor) -> Packed:
        self.counts.saved_again += 1
        packed.group.uses += 1
        return Packed(packed.group, packed.place, order, list(values.shape))

    def _first(self, key: tuple[object, ...], storage: StorageWeakRef, order: list[int], values: Tensor) -> Packed:
        waiting = self.group.waiting
        if waiting and (waiting[0][0].dtype, waiting[0][0].device) != (values.dtype, values.device):
            self.flush()
        group = self.group
        group.waiting.append((values, values._version))
        group.uses += 1
        self.counts.packed_tensors += 1
        packed = Packed(group, len(group.waiting) - 1, order, list(values.shape))
        self.seen[key] = Seen(storage, packed)
        if sum(values.nbytes for values, _ in group.waiting) >= self.group_bytes:
            self.flush()
        return packed

    def flush(self) -> None:
        """Packs the tensors that wait for others."""
        group, self.group = self.group, Group()
        if not group.waiting:
            return
        if any(values._version != version for values, version in group.waiting):
            raise RuntimeError("a saved tensor was changed in place before it was packed; use group_bytes=0")
        bundle = Bundle([values for values, _ in group.waiting], self.store)
        group.bundle, group.waiting = bundle, []
        self.counts.compressions += 1
        self.counts.packed_raw_bytes += bundle.raw_bytes
        self.counts.packed_bytes += bundle.bytes
        self.counts.raw_bytes += bundle.raw_bytes
        self.counts.kept_bytes += bundle.bytes

    def unpack(self, kept: Tensor | Packed) -> Tensor:
        """The tensor again. A group is decoded for the first of its tensors, and kept until the last one was asked for."""
        if isinstance(kept, Tensor):
            return kept
        group = kept.group
        if group.bundle is None:
            self.flush()
        if group.bundle is None:
            raise RuntimeError("a saved tensor was asked for whose group could not be packed")
        parts = group.decoded
        if parts is None:
            parts = group.bundle.decoded()
            self.counts.decompressions += 1
        group.uses -= 1
        group.decoded = parts if group.uses > 0 else None
        values = parts[kept.place].view(kept.shape)
        inverse = sorted(range(len(kept.order)), key=kept.order.__getitem__)
        return values.permute(inverse)
