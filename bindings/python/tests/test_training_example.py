"""`examples/training`: what autograd saves, and gradients, packed; beside PyTorch without hooks."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn


ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT))

from examples.page import update  # noqa: E402
from examples.training import report  # noqa: E402
from examples.training.__main__ import SIZES, arguments, numbers  # noqa: E402
from examples.training.bundle import Bundle, exchange, scales_of  # noqa: E402
from examples.training.loop import Kind, Training, train  # noqa: E402
from examples.training.model import Transformer  # noqa: E402
from examples.training.packer import Packed, Packer  # noqa: E402
from examples.training.store import Cast, Ferrosz, Keep  # noqa: E402
from examples.training.task import Language  # noqa: E402

pytestmark = pytest.mark.long

TINY = SIZES["tiny"]


def model_of(dtype: torch.dtype) -> Transformer:
    torch.manual_seed(7)
    return Transformer(8, 32, 32, 2, 2).to(dtype)


def gradients(model: nn.Module, packer: Packer | None) -> list[Tensor]:
    symbols = torch.randint(0, 8, (8, 32), generator=torch.Generator().manual_seed(8))
    model.zero_grad()
    if packer:
        with packer.hooks():
            logits = model(symbols)
    else:
        logits = model(symbols)
    logits.float().square().mean().backward()
    return [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]


@pytest.mark.parametrize("group_bytes", [0, 2**15, 2**30], ids=["each", "groups", "one"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_without_error_the_gradients_are_those_of_pytorch(dtype: torch.dtype, group_bytes: int) -> None:
    model = model_of(dtype)
    expected = gradients(model, None)
    for store in (Keep(), Ferrosz(0, "fixed")):
        packer = Packer(store, model.parameters(), 2**12, group_bytes)
        for found, exact in zip(gradients(model, packer), expected, strict=True):
            assert torch.equal(found, exact)
        counts = packer.counts
        assert counts.packed_tensors > 10 and counts.saved_again > 4
        groups = {0: counts.packed_tensors, 2**30: 1}.get(group_bytes, counts.compressions)
        assert counts.compressions == counts.decompressions == groups
        assert packer.seen == {} and packer.group.waiting == []


def test_what_is_packed() -> None:
    weight, small, large = (torch.randn(size, requires_grad=True) for size in ((128, 64), (10, 10), (256, 64)))
    packer = Packer(Ferrosz(1e-2, "fixed"), [weight], 2**14)
    for kept in (weight, weight.t(), weight[3:], small, large.long()):
        assert isinstance(packer.pack(kept), Tensor)
    packed = packer.pack(large)
    assert isinstance(packed, Packed)
    cyclic = large.view(8, 32, 64).permute(1, 2, 0)
    turned, shaped = packer.pack(large.t()), packer.pack(cyclic)
    assert isinstance(turned, Packed) and isinstance(shaped, Packed)
    assert turned.group is packed.group and packer.counts.saved_again == 2, "the same memory is packed once"
    part = packer.pack(large[:, 5:])
    error = 1e-2 * float(large.detach().square().mean().sqrt())
    for kept, expected in ((packed, large), (turned, large.t()), (shaped, cyclic), (part, large[:, 5:])):
        found = packer.unpack(kept)
        assert 0 < float((found - expected.detach()).abs().max()) <= error
    assert packer.unpack(turned).stride() == large.t().stride()
    assert packer.counts.compressions == 1 and packer.counts.packed_raw_bytes == large.nbytes + part_bytes(large)


def part_bytes(large: Tensor) -> int:
    return large[:, 5:].numel() * 4


def test_memory_of_another_tensor_is_not_taken_for_the_first() -> None:
    """Allocators give memory that was freed to the next tensor of that size."""
    packer = Packer(Ferrosz(1e-3, "fixed"), [], 2**10, 0)
    kept = []
    for number in range(20):
        values = torch.full((4096,), float(number))
        kept.append(packer.pack(values))
        del values
    for number, packed in enumerate(kept):
        assert abs(float(packer.unpack(packed).mean()) - number) <= 1e-3 * max(1, number)


def test_changes_in_place_are_found() -> None:
    values = torch.randn(4096)
    packer = Packer(Ferrosz(1e-3, "fixed"), [], 2**10)
    packer.pack(values)
    values.add_(1)
    with pytest.raises(RuntimeError, match="changed in place"):
        packer.flush()
    packer = Packer(Ferrosz(1e-3, "fixed"), [], 2**10, 0)
    first = packer.pack(values)
    before = values.clone()
    values.add_(1)
    second = packer.pack(values)
    for packed, expected in ((first, before), (second, values)):
        assert float((packer.unpack(packed) - expected).abs().max()) <= 2e-3


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("share", [0, 1e-2, 0.5])
def test_each_tensor_of_a_bundle_keeps_its_bound(dtype: torch.dtype, share: float) -> None:
    torch.manual_seed(9)
    sizes = (0, 1e-30, 1e-3, 1, 1.9999, 300, 1e20)
    tensors = [(torch.randn(97, 31) * size).to(dtype) for size in sizes]
    bundle = Bundle(tensors, Ferrosz(share, "fixed"))
    assert bundle.bytes < bundle.raw_bytes or share == 0
    for tensor, found in zip(tensors, bundle.decoded(), strict=True):
        exact = tensor.double().reshape(-1)
        error = float((found.double() - exact).abs().max())
        assert error <= share * float(exact.square().mean().sqrt())
        assert (error == 0) == (share == 0 or not exact.any())


def test_scales_are_powers_of_two_below_the_root_mean_square() -> None:
    tensors = [torch.full((5,), 1.5 * 2.0**power) for power in (-100, -1, 0, 60)]
    odd = [torch.zeros(3), torch.tensor([1.0, math.inf]), torch.tensor([math.nan])]
    assert scales_of([*tensors, *odd]).tolist() == [2.0**-100, 0.5, 1, 2.0**60, 1, 1, 1]
    for tensor, found in zip(odd, Bundle(odd, Ferrosz(1e-2, "fixed")).decoded(), strict=True):
        assert torch.equal(tensor.isfinite(), found.isfinite()), "infinities and NaNs come back"


def test_an_exchange_changes_gradients_within_the_bound() -> None:
    torch.manual_seed(10)
    made = [torch.randn(50, 20) * 1e-4, torch.randn(30) * 7]
    exact = [gradient.clone() for gradient in made]
    bundle = exchange(made, Ferrosz(0.1, "fixed"))
    assert bundle.raw_bytes == 4 * 1030 and bundle.bytes < bundle.raw_bytes / 3
    for gradient, before in zip(made, exact, strict=True):
        assert 0 < float((gradient - before).abs().max()) <= 0.1 * float(before.square().mean().sqrt())


def test_casts_are_those_of_pytorch() -> None:
    values = torch.tensor([1.2345, -500.0, 1e-3, 447.0])
    back = torch.empty(4)
    Cast(torch.float8_e4m3fn).decode(Cast(torch.float8_e4m3fn).encode(values), back)
    assert back[1] == -448 and (back - values)[0].abs() < 1 / 16
    Cast(torch.bfloat16).decode(Cast(torch.bfloat16).encode(values), back)
    assert torch.equal(back, values.bfloat16().float())


def test_the_entropy_is_that_of_long_sequences() -> None:
    language = Language(4, 3, "cpu")
    symbols = language.batches(1, 400, 400)[0]
    counts = torch.zeros(4, 4, 4)
    triples = symbols.unfold(1, 3, 1).reshape(-1, 3)
    counts.index_put_(tuple(triples.T), torch.ones(len(triples)), accumulate=True)
    odds = counts / counts.sum(-1, keepdim=True)
    found = float((counts / counts.sum() * torch.special.entr(odds) / odds.clamp(min=1e-9)).sum())
    assert language.entropy == pytest.approx(found, rel=0.02)


def test_a_training_without_error_is_that_of_pytorch() -> None:
    language = Language(TINY.symbols, 5, "cpu")
    sequences = language.batches(TINY.steps, TINY.batch, TINY.length)
    plain = train(TINY, Kind(torch.float32), language, sequences)
    lossless = Ferrosz(0, "fixed")
    packed = train(TINY, Kind(torch.float32, lossless, lossless), language, sequences)
    assert packed["loss"] == plain["loss"] and packed["gradient_error"] == 0
    assert packed["saved"]["raw_bytes"] == plain["saved"]["raw_bytes"]
    training = Training(TINY, Kind(torch.float32, Ferrosz(1e-3, "fixed")), "cpu")
    assert 0 < training.gradient_error(sequences[0]) < 1e-2


def test_the_command_and_its_page(tmp_path: Path) -> None:
    given = [str(tmp_path / "numbers.json"), "--size", "tiny", "--steps", "2", "--most-call-bytes", "16384"]
    found: dict[str, Any] = numbers(arguments([*given, "--shares", "1e-1,2"]))
    assert json.loads((tmp_path / "numbers.json").read_text())["runs"][0]["loss"]
    assert {run["dtype"] for run in found["runs"]} == {"float32", "bfloat16"}
    (tmp_path / "README.md").write_text("<!-- begin numbers -->\n<!-- end numbers -->\n")
    update(tmp_path, report.picture, report.section)
    assert (tmp_path / "README.md").read_text().count("\n| ") == 2 * 2 + len(found["runs"]) + 2 * 2
    assert (tmp_path / "numbers.svg").read_text().count("<polyline") > 20


def test_the_page_has_the_numbers_of_its_files(tmp_path: Path) -> None:
    folder = ROOT / "examples/training"
    for path in [*folder.glob("*.json"), folder / "README.md"]:
        shutil.copy(path, tmp_path)
    update(tmp_path, report.picture, report.section)
    for path in [*folder.glob("*.svg"), folder / "README.md"]:
        assert (tmp_path / path.name).read_text() == path.read_text(), f"run python -m examples.training.report: {path.name}"
