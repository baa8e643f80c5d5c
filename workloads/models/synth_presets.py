"""What the synthetic logs are made of: two machines, four kinds of users, three families of applications.

These numbers are frozen: results are graded on logs made by them. Whoever wants others gives a preset
of another name. docs/workload-models.md lists them all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

HOUR_S = 3600
DAY_S = 24 * HOUR_S

Shares = tuple[tuple[int, float], ...]

STATES = (
    ("COMPLETED", 0.7798),
    ("FAILED", 0.1290),
    ("CANCELLED", 0.0485),
    ("TIMEOUT", 0.0376),
    ("OUT_OF_MEMORY", 0.00437),
    ("NODE_FAIL", 0.000735),
)
"""How jobs end in PM100, and their shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One machine and its log.

    Attributes:
        name: of the job table.
        nodes: of the machine; jobs, span_s: of the log; unix_start_s: its first submit, which is
            start_of_week_s after a Monday's midnight of its local time.
        node_cores, node_gpus, node_memory_bytes: of a whole node, as the log counts them.
        idle_w: of a node.
        peak_w: median over applications of what a node draws that works all the time; peak_sigma
            the log-normal spread, least_peak_w and most_peak_w its bounds.
    """

    name: str
    nodes: int
    jobs: int
    span_s: int
    unix_start_s: int
    start_of_week_s: int
    node_cores: int
    node_gpus: int
    node_memory_bytes: int
    idle_w: float
    peak_w: float
    peak_sigma: float
    least_peak_w: float
    most_peak_w: float


PM100 = Machine(
    name="pm100",
    nodes=980,
    jobs=231_238,
    span_s=13_870_138,  # 2020-05-05 15:55:59 to 2020-10-13 04:44:57
    unix_start_s=1_588_694_159,
    start_of_week_s=DAY_S + 15 * HOUR_S + 55 * 60 + 59,
    node_cores=128,
    node_gpus=4,
    node_memory_bytes=237 * 10**9,
    idle_w=400.0,
    peak_w=900.0,
    peak_sigma=0.22,
    least_peak_w=700.0,
    most_peak_w=1700.0,
)
ADASTRA = Machine(
    name="adastra",
    nodes=356,
    jobs=15_285,
    span_s=15 * DAY_S - 1,  # 2024-09-01 00:00:00 to 2024-09-15 23:59:59 local time
    unix_start_s=1_725_141_600,
    start_of_week_s=6 * DAY_S,
    node_cores=64,
    node_gpus=8,
    node_memory_bytes=231_561 * 10**6,
    idle_w=560.0,
    peak_w=1380.0,
    peak_sigma=0.12,
    least_peak_w=1000.0,
    most_peak_w=1900.0,
)

MINI_JOBS = 2_000
"""Jobs of the small variants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """How users choose node counts, and how long their jobs are.

    Attributes:
        node_counts: count -> share of jobs; machines too small for a count get their own size.
        median_work_s, work_sigma: log-normal of the run time on one node.
        are_skilled: users take the widest count of efficiency `SKILLED_EFFICIENCY`, with noise; the
            shares above are then what the unskilled rest does.
        rigid_jobs: mean share of an application's jobs that can run at no other count.
        rigid_users: share of users all of whose jobs are rigid.
        scalability: shifts all applications: +1 is one standard deviation more scalable.
    """

    node_counts: Shares
    median_work_s: float
    work_sigma: float
    are_skilled: bool = False
    rigid_jobs: float = 0.0
    rigid_users: float = 0.0
    scalability: float = 0.0


NARROW: Shares = (
    *((1, 0.62), (2, 0.17), (3, 0.03), (4, 0.10), (5, 0.008), (6, 0.015), (8, 0.03), (10, 0.006)),
    *((12, 0.013), (16, 0.005), (24, 0.001), (32, 0.0015), (64, 0.0005)),
)
"""1 / 1 / 4 / 12 nodes at 10 / 50 / 90 / 99 %, as in PM100."""

WIDE: Shares = (
    *((1, 0.17), (2, 0.20), (3, 0.08), (4, 0.16), (5, 0.03), (6, 0.04), (7, 0.015), (8, 0.115), (10, 0.035)),
    *((12, 0.04), (14, 0.018), (16, 0.042), (20, 0.011), (24, 0.011), (32, 0.018), (36, 0.003), (39, 0.004)),
    *((48, 0.003), (64, 0.005)),
)
"""1 / 4 / 14 / 39 nodes at 10 / 50 / 90 / 99 %; two of three parallel jobs at powers of two."""

HABIT_DRIVEN = Preset(node_counts=WIDE, median_work_s=10.0 * HOUR_S, work_sigma=1.35)
PRESETS = {
    "pm100-like": Preset(
        node_counts=NARROW, median_work_s=0.6 * HOUR_S, work_sigma=1.9, rigid_jobs=0.1, scalability=0.5
    ),
    "habit-driven": HABIT_DRIVEN,
    "skilled-users": replace(HABIT_DRIVEN, are_skilled=True),
    "half-rigid": replace(HABIT_DRIVEN, rigid_users=0.5),
}

USERS, APPS, USERS_A_GROUP = 200, 60, 5
USER_ZIPF = 0.9
"""User k submits k^-0.9 times as many sessions as user 1."""

MOST_APPS_A_USER = 4
SESSION_START = 0.35
"""Chance that a job begins a session; within a session user and application stay."""

LATE_APPS, LATE_FROM = 0.15, 0.7
"""Share of applications that nobody runs before this share of the log."""

FAMILIES = ("amdahl", "downey", "power-law")

SERIAL_SHARE = (0.03, 0.9, 0.001, 0.4)
COMMUNICATION = (0.006, 0.8, 0.0003, 0.05)
PARALLELISM = (14.0, 0.9, 1.5, 400.0)
"""Log-normal over applications: median, sigma, least, most. Downey's sigma is uniform over 0 to 2."""

EXPONENT = (0.72, 0.12, 0.35, 0.97)
"""Normal over applications: mean, standard deviation, least, most."""

JITTER = 0.1
"""Log-normal spread of a job's first parameter about its application's."""

WORK_BY_APP, WORK_BY_USER, WORK_BY_SCALABILITY = 0.6, 0.3, 0.5
"""Correlation of a job's log work with its application and its user, and of an application's mean log work
with its scalability: big codes are the well-tuned ones. This is what makes counts and scaling confounded."""

HABIT, SIZE, WHIM = 0.8, 0.8, 0.5
"""Weights of the user's habit, of the job's size (times kappa) and of chance in the choice of a count."""

SKILLED_EFFICIENCY, SKILLED_NOISE, SKILLED_MOST = 0.75, 0.35, 64

MOST_LIMIT_S = DAY_S
LIMIT_STEP_S = 15 * 60
OVERESTIMATE = (0.8, 0.9)
"""The limit is 1 + log-normal (median, sigma) times the run time, rounded up to 15 minutes."""

LONGEST_SHARE = (0.5, 0.9)
"""A job that would run longer is cut to a part of the maximum limit, uniform between these: its user checkpoints."""

TIMEOUT_FROM_S = 1200
TIMEOUT_SHARE = (0.4, 0.95)
"""Jobs that time out run this long or longer, and were given this part of it."""

INSTANT_FAILURES = 0.4
"""Share of failures within the first seconds; the others fail at a cubed uniform share of the run."""

WAITING_SHARE = 0.5
FLOOR_JOBS, FLOOR = 0.5, (0.1, 0.6)
"""Share of jobs whose memory needs a least count, and that count relative to the one asked for."""
