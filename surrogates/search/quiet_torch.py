"""BoTorch on our terms: one thread, random numbers of its own, no compiler, nothing left changed behind."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from hpcsim.errors import MissingExtra

FUSED_KERNEL = "HPCSIM_FUSED_KERNEL"
"""Environment variable: set to 1, BoTorch may compile its C++ kernel; name a private TORCH_EXTENSIONS_DIR then."""

PACKAGES = ("torch", "botorch")


def check_installed(engine: str) -> None:
    """Raise `MissingExtra` unless torch and BoTorch are installed, without importing them."""
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingExtra(
                f"The search engine '{engine}' needs the package '{package}', which is not installed.",
                "Type: pip install 'hpcsim-des[mobo]'.",
            )


@contextmanager
def quiet_torch(seed: int) -> Iterator[None]:
    """Run the body with torch seeded by *seed* and one thread, then give torch back as it was.

    On two busy cores one thread is three to ten times as fast as two. BoTorch's warnings about
    duplicates and unscaled data are not for whoever asked for a node count, and are dropped.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch  # within, for its own imports warn as well

        _forgo_compiler()
        threads = torch.get_num_threads()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            torch.set_num_threads(1)
            try:
                yield
            finally:
                torch.set_num_threads(threads)


def _forgo_compiler() -> None:
    """Keep BoTorch from compiling C++ at the first use of its hypervolume criteria.

    It would take minutes on a busy machine, differ from machine to machine (-march=native), and wait
    for ever on the lock that a killed build leaves behind. The same arithmetic in Python costs a
    few times as much of a small part. BoTorch says that it has tried when this flag is set.
    """
    if os.environ.get(FUSED_KERNEL) == "1":
        return
    from botorch.acquisition.multi_objective import logei

    if hasattr(logei, "_load_attempted"):
        logei._load_attempted = True  # noqa: SLF001 - there is no public switch
