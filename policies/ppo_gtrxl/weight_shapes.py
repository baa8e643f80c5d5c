"""The name and shape of every weight of a network, without torch: what a checkpoint has to hold."""

from __future__ import annotations

from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig, kernel_width

Shapes = dict[str, tuple[int, ...]]


def weight_shapes(config: NetworkConfig) -> Shapes:
    """Return the shapes of the weights of *config* by the names that torch gives them."""
    width, globals_ = config.width, config.global_features
    shapes = _perceptron("jobs", config.job_features, width, width)
    shapes |= _recalibration("recalibrate_jobs", config)
    kinds = 1
    if config.node_features:
        shapes |= _perceptron("nodes", config.node_features, width, width)
        shapes |= _recalibration("recalibrate_nodes", config)
        kinds = 2
    shapes |= _linear("pool", 2 * kinds * width + globals_, width)
    shapes |= _core(config)
    shapes |= _perceptron("policy", 2 * width, width, 1)
    return shapes | _perceptron("value", width + globals_, width, 1)


def _linear(name: str, inputs: int, outputs: int, *, has_bias: bool = True) -> Shapes:
    bias: Shapes = {f"{name}.bias": (outputs,)} if has_bias else {}
    return {f"{name}.weight": (outputs, inputs), **bias}


def _perceptron(name: str, inputs: int, hidden: int, outputs: int) -> Shapes:
    return _linear(f"{name}.0", inputs, hidden) | _linear(f"{name}.2", hidden, outputs)


def _norm(name: str, width: int) -> Shapes:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def _gate(name: str, config: NetworkConfig) -> Shapes:
    width, kind = config.width, config.gate
    bias: Shapes = {} if kind in {"residual", "input"} else {f"{name}.bias": (width,)}
    if kind == "residual":
        return {}
    if kind == "gru":
        parts = _linear(f"{name}.from_y", width, 3 * width, has_bias=False)
        parts |= _linear(f"{name}.from_x", width, 2 * width, has_bias=False)
    else:
        parts = _linear(f"{name}.weight", width, width, has_bias=False)
    if kind in {"gru", "sigtanh"}:
        parts |= _linear(f"{name}.candidate", width, width, has_bias=False)
    return parts | bias


def _recalibration(name: str, config: NetworkConfig) -> Shapes:
    width, kind = config.width, config.recalibration
    narrow = max(1, width // config.reduction)
    shapes: Shapes = {}
    if kind == "eca":
        shapes[f"{name}.kernel"] = (kernel_width(width),)
    if kind in {"sect", "se", "cbam"}:
        squeezed = 2 * width + config.global_features if kind == "sect" else width
        shapes |= _linear(f"{name}.squeeze", squeezed, narrow) | _linear(f"{name}.excite", narrow, width)
    if kind == "cbam":
        shapes |= _linear(f"{name}.token", 2, 1)
    if kind == "sect" and config.token_attention:
        inner = f"{name}.attention"
        shapes |= _norm(f"{inner}.norm", width) | _gate(f"{inner}.gate", config)
        shapes |= _linear(f"{inner}.query_key_value", width, 3 * width, has_bias=False)
        shapes |= _linear(f"{inner}.out", width, width, has_bias=False)
    return shapes


def _core(config: NetworkConfig) -> Shapes:
    width = config.width
    if config.core == "mlp":
        return _perceptron("core.0", width, 4 * width, width)
    if config.core == "gru":
        recurrent = {f"core.0.weight_{part}": (3 * width, width) for part in ("ih", "hh")}
        return recurrent | {f"core.0.bias_{part}": (3 * width,) for part in ("ih", "hh")}
    shapes: Shapes = {}
    for at in range(config.blocks):
        shapes |= _block(f"core.{at}", config)
    return shapes


def _block(name: str, config: NetworkConfig) -> Shapes:
    width, heads = config.width, config.heads
    shapes = _norm(f"{name}.norm_attention", width) | _norm(f"{name}.norm_mlp", width)
    for part in ("query", "key", "value", "out"):
        shapes |= _linear(f"{name}.attention.{part}", width, width, has_bias=False)
    if config.positions == "sinusoidal":
        shapes |= _linear(f"{name}.attention.position", width, width, has_bias=False)
        shapes |= {f"{name}.attention.{part}_bias": (heads, width // heads) for part in ("content", "position")}
    else:
        shapes[f"{name}.attention.table"] = (heads, config.span)
    shapes |= _perceptron(f"{name}.mlp", width, 4 * width, width)
    if config.core == "gtrxl":
        shapes |= _gate(f"{name}.gate_attention", config) | _gate(f"{name}.gate_mlp", config)
    return shapes
