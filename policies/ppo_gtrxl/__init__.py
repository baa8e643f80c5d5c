"""PPO-GTrXL, after Gao et al. 2025: a learned scheduler as an ordinary policy, and what trains it.

Using a network needs NumPy alone (`policy`, `forward`, `checkpoint`); training one needs torch
(`network`, `trainer` and what they import), which nothing here imports before it is asked to.

Source: Gao, Dong, Zhang, Wang, Yang and Li, Applied Sciences 15(16), 8928, 2025, whose text gives no
code and no numbers: this is a reconstruction.
"""

from __future__ import annotations
