"""Which ingredient of a learned scheduler matters? One is changed at a time; all learn from equally many decisions.

- `variants`: what is changed
- `plan`: sizes of a study, and its cells
- `cells`: train one network and put it to the test; what came of it is one file
- `study`: all cells in a folder, and a stopped study gone on with
- `tables`: ratios to a rule and to the base, seed by seed, with intervals over seeds and workloads
- `markdown`, `page`, `pictures`: the same to read
"""

from hpcsim.experiments.ablation.plan import PRESETS, Preset, find_preset
from hpcsim.experiments.ablation.study import Ablation, run_ablation
from hpcsim.experiments.ablation.variants import BASE, BASELINE_PPO, VARIANTS, Variant

__all__ = [
    "BASE",
    "BASELINE_PPO",
    "PRESETS",
    "VARIANTS",
    "Ablation",
    "Preset",
    "Variant",
    "find_preset",
    "run_ablation",
]
