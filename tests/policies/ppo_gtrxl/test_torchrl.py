"""The block against TorchRL's, which was written by others: the same weights, the same answers.

TorchRL has it from the version after 0.14 on; where it is not installed, nothing is compared.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from hpcsim.policies.ppo_gtrxl.blocks import GTrXLBlock, seen_by
from tests.policies.ppo_gtrxl.networks import small_config

gtrxl = pytest.importorskip("torchrl.modules.models.gtrxl", reason="TorchRL with GTrXL is not installed")

MEMORY, SEGMENT, EPISODES = 5, 4, 3


@pytest.fixture
def blocks() -> tuple[GTrXLBlock, Any]:
    """A block of ours with every weight random, and one of TorchRL's with the same weights."""
    config = small_config(positions="sinusoidal", memory=MEMORY, segment=SEGMENT)
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        ours = GTrXLBlock(config)
        network = gtrxl.GTrXL(config.width, config.width, 1, num_heads=config.heads, memory_len=MEMORY + SEGMENT - 1)
    with torch.no_grad():
        for weights in ours.parameters():
            weights.add_(torch.randn(weights.shape, generator=generator), alpha=0.3)
    theirs = network.blocks[0]
    copy_weights(ours, theirs)
    return ours, theirs


def copy_weights(ours: GTrXLBlock, theirs: Any) -> None:
    attention = ours.attention
    pairs = {
        "q.weight": attention.query.weight,
        "kv.weight": torch.cat([attention.key.weight, attention.value.weight]),
        "relative.weight": attention.position.weight,
        "content_bias": attention.content_bias,
        "position_bias": attention.position_bias,
        "out.weight": attention.out.weight,
        "out.bias": torch.zeros(attention.out.out_features),  # ours has none
        **{f"norm1.{name}": value for name, value in ours.norm_attention.named_parameters()},
        **{f"norm2.{name}": value for name, value in ours.norm_mlp.named_parameters()},
        **{f"mlp.{name}": value for name, value in ours.mlp.named_parameters()},
    }
    names = {"from_x.weight": "x_rz.weight", "from_y.weight": "y_rzh.weight", "candidate.weight": "x_h.weight"}
    for mine, gate in (("attention_gate", ours.gate_attention), ("mlp_gate", ours.gate_mlp)):
        pairs |= {f"{mine}.{names.get(name, name)}": value for name, value in gate.named_parameters()}
    missing, unknown = theirs.load_state_dict(pairs, strict=False)
    assert not unknown
    assert missing == ["positions"], "a buffer; all weights are copied"


def test_a_segment_is_what_torchrl_computes_step_by_step(blocks: tuple[GTrXLBlock, Any]) -> None:
    ours, theirs = blocks
    generator = torch.Generator().manual_seed(1)
    memory, stream = (torch.randn(EPISODES, count, 8, generator=generator) for count in (MEMORY, SEGMENT))
    is_kept = torch.arange(MEMORY)[None] >= torch.tensor([[0], [2], [MEMORY]])  # a full memory, a part, none
    with torch.no_grad():
        mine = ours(stream, memory, seen_by(SEGMENT, is_kept))
        for at in range(SEGMENT):
            expected = step_of_theirs(theirs, stream, memory, is_kept, at)
            torch.testing.assert_close(mine[:, at], expected, atol=1e-5, rtol=1e-5)


def step_of_theirs(block: Any, stream: Tensor, memory: Tensor, is_kept: Tensor, at: int) -> Tensor:
    """Return TorchRL's answer to one query: its rolling memory holds ours and what the segment had before."""
    before = SEGMENT - 1 - at  # places that hold nothing yet
    past = torch.cat([torch.full((EPISODES, before, 8), 9.0), memory, stream[:, :at]], dim=1)
    nothing, all_there = torch.zeros(EPISODES, before, dtype=torch.bool), torch.ones(EPISODES, at, dtype=torch.bool)
    answer: Tensor = block(stream[:, at], past, torch.cat([nothing, is_kept, all_there], dim=1))
    return answer
