"""Surrogates against the hidden truth of synth-pm100: regret, coverage, latency, sampling.

python bench/surrogates.py speed
python bench/surrogates.py regret [SEEDS [PRESET [MODEL ...]]]
python bench/surrogates.py sampling [SEEDS]

Each log has 20,000 jobs on 128 nodes, kappa 1. Models learn from jobs that had ended at 70 % of it, and are asked about
jobs of its last 15 %, every allowed count of each: the regret is the true EDP at the count of least predicted EDP over
the least true EDP, less 1.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hpcsim import Workload, registry
from hpcsim.scaling import true_power_w, true_run_s
from hpcsim.surrogate import Surrogate
from hpcsim.surrogates.features import outcomes_table

Floats = NDArray[np.float64]
Log = tuple[Workload, pd.DataFrame, pd.DataFrame]

JOBS, NODES, ASKED_ABOUT = 20_000, 128, 400
FAMILIES = ("amdahl", "downey", "power-law", "mix")
STUDENT_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 10: 2.262}


def log_of(family: str, seed: int, preset: str = "pm100-like") -> Log:
    parameters = {"jobs": JOBS, "nodes": NODES, "family": family, "seed": seed, "preset": preset}
    workload = registry.make("models", "synth-pm100", **parameters)
    outcomes = outcomes_table(workload)
    submit_s = workload.submit_s
    train = outcomes[outcomes["end_s"] < submit_s[int(0.7 * JOBS)]]
    test = outcomes[outcomes["submit_s"] >= submit_s[int(0.85 * JOBS)]]
    return workload, train, test


def regrets(model: Surrogate, workload: Workload, test: pd.DataFrame) -> Floats:
    """Return the regret of advice and of the users' own counts, one each for some moldable jobs of *test*."""
    allowed = workload.columns["allowed_nodes"]
    moldable = [place for place, row in enumerate(test["row"]) if len(allowed[int(row)]) > 1]
    chosen = test.iloc[np.random.default_rng(0).permutation(moldable)[:ASKED_ABOUT]]
    grid = np.unique(np.concatenate([np.array(allowed[int(row)]) for row in chosen["row"]]))
    mean = model.predict(chosen, grid).mean
    predicted = mean[..., 1] * mean[..., 0] ** 2
    found = []
    for place, (row, asked) in enumerate(zip(chosen["row"].astype(int), chosen["asked_nodes"], strict=True)):
        counts = np.array(allowed[row])
        rows = np.array([row])
        truth = (true_power_w(workload, rows, counts[None]) * true_run_s(workload, rows, counts[None]) ** 2)[0]
        best = np.argmin(predicted[place, np.searchsorted(grid, counts)])
        found.append((truth[best], truth[list(counts).index(int(asked))]) / truth.min() - 1)
    return np.array(found).T


def covered(model: Surrogate, test: pd.DataFrame) -> Floats:
    """Return the share of run times and powers within the bounds at the logged counts."""
    inside = np.zeros((len(test), 2), dtype=bool)
    nodes = test["nodes"].to_numpy()
    for count in np.unique(nodes):
        mine = nodes == count
        prediction = model.predict(test[mine], np.array([int(count)]))
        actual = test.loc[mine, ["run_s", "power_w"]].to_numpy()[:, None]
        inside[mine] = ((prediction.lower <= actual) & (actual <= prediction.upper))[:, 0]
    return inside.mean(axis=0)


def regret(seeds: int = 5, preset: str = "pm100-like", *names: str) -> None:
    names = names or ("semi-parametric", "scaling-law", "lightgbm", "lightgbm-monotone", "app-last")
    print(f"{preset}: EDP regret of advice by exact enumeration, {seeds} seeds; coverage of 90 % intervals\n")
    head = "median (by seed)", "p90", "better than user", "user's median", "run time", "power"
    print(f"{'family':10} {'model':18} {head[0]:36} {head[1]:>6} {head[2]:>17} {head[3]:>14} {head[4]:>9} {head[5]:>6}")
    for family in FAMILIES:
        medians = {name: [] for name in names}
        figures = {name: [] for name in names}
        for seed in range(seeds):
            workload, train, test = log_of(family, seed, preset)
            for name in names:
                model = registry.make("surrogates", name, seed=seed).fit(train)
                own, users = regrets(model, workload, test)
                medians[name].append(np.median(own))
                row = np.quantile(own, 0.9), np.mean(own < users), np.median(users), *covered(model, test)
                figures[name].append(row)
        for name in names:
            p90, better, user, run_s, power_w = np.mean(figures[name], axis=0)
            text = f"{np.mean(medians[name]):.3f} ({' '.join(f'{value:.2f}' for value in medians[name])})"
            print(
                f"{family:10} {name:18} {text:36} {p90:6.2f} {better:17.1%} {user:14.2f} {run_s:9.1%} {power_w:6.1%}",
                flush=True,
            )
        for name in names[1:]:
            gap = np.array(medians[names[0]]) - np.array(medians[name])
            half = STUDENT_95[seeds] * gap.std(ddof=1) / np.sqrt(seeds) if seeds in STUDENT_95 else np.nan
            print(f"{'':10} {names[0]} less {name}: {gap.mean():.3f} ± {half:.3f} (95 %, paired by seed)", flush=True)


def speed() -> None:
    _, train, test = log_of("mix", 0)
    counts = np.arange(1, 257)
    targets = {"semi-parametric": (1, 100), "lightgbm": (10, None)}
    print(f"{'model':18} {'what':36} {'p50 ms':>8} {'p99 ms':>8} {'CPU ms':>8}  target ms")
    for name, goals in targets.items():
        started = time.process_time()
        model = registry.make("surrogates", name).fit(train)
        print(f"{name:18} {f'fit on {len(train):,} jobs, CPU s':36} {time.process_time() - started:8.1f}")
        asks = (
            ("front of one job, N = 256", test.iloc[[0]], counts),
            ("1,000 jobs x 32 counts", test.head(1000), counts[:32]),
        )
        for (what, contexts, nodes), goal in zip(asks, goals, strict=True):
            model.predict(contexts, nodes)
            taken, spent = [], []
            for _ in range(300 if len(contexts) == 1 else 20):
                started, cpu_s = time.perf_counter(), time.process_time()
                model.predict(contexts, nodes)
                taken.append(1e3 * (time.perf_counter() - started))
                spent.append(1e3 * (time.process_time() - cpu_s))
            p50, p99 = np.quantile(taken, [0.5, 0.99])
            print(f"{name:18} {what:36} {p50:8.2f} {p99:8.2f} {np.median(spent):8.2f}  {goal or '-'}", flush=True)


def sampling(seeds: int = 3) -> None:
    variants = ("uniform", "difficulty", "weighted", "trimmed")
    _, train, _ = log_of("mix", 0)
    registry.make("surrogates", "lightgbm", sampler="difficulty:rate=0.1").fit(train)  # imports are not timed
    print(f"LightGBM, raw features, family mix, {seeds} seeds: median APE of run time / power, CPU s\n")
    print(f"{'rate':>5} " + " ".join(f"{variant:>26}" for variant in variants))
    for rate in (0.1, 0.25, 0.5, 0.75, 1.0):
        cells = []
        for variant in variants:
            rows = []
            for seed in range(seeds):
                _, train, test = log_of("mix", seed)
                started = time.process_time()
                model = registry.make("surrogates", "lightgbm", sampler=f"{variant}:rate={rate}", seed=seed).fit(train)
                spent_s = time.process_time() - started
                error = np.abs(np.exp(model.at_own_counts(test) - np.log(test[["run_s", "power_w"]].to_numpy())) - 1)
                rows.append((*np.median(error, axis=0), spent_s))
            run_s, power_w, spent_s = np.mean(rows, axis=0)
            cells.append(f"{run_s:.1%} / {power_w:.2%}  {spent_s:5.1f} s")
        print(f"{rate:5.0%} " + " ".join(f"{cell:>26}" for cell in cells), flush=True)


def main() -> None:
    what, *rest = sys.argv[1:] or ["speed"]
    numbers = [int(rest[0]), *rest[1:]] if rest else []
    {"speed": speed, "regret": regret, "sampling": sampling}[what](*numbers)


if __name__ == "__main__":
    main()
