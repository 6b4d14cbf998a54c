"""Scores of the anchors under a seed, as an independent implementation of the same loads gave them."""

SEED = 2026

# For each shape: the share that nobody could serve in time, and the clairvoyant worker-seconds.
BOUNDS = {
    "step": (0.000000, 17306.358),
    "burst50k": (0.000000, 2596.620),
    "poison": (0.178962, 8969.138),
    "downstream": (0.887732, 11774.991),
    "lag_nil": (0.000000, 14524.097),
    "slowdown": (0.000000, 15565.954),
}

# For each shape and anchor: J, late share, p99, worker-seconds, actions, flaps, drain time, most workers.
RUNS: dict[tuple[str, str], tuple[float, float, int, int, int, int, int | None, int]] = {
    ("step", "fixed"): (9.840427, 0.880592, 332, 17817, 1, 0, None, 5),
    ("step", "flink"): (2.812251, 0.075387, 79, 35450, 2, 0, 304, 12),
    ("step", "judoscale"): (3.194832, 0.162242, 124, 25136, 14, 1, 575, 10),
    ("step", "aws"): (3.942129, 0.103656, 113, 47862, 18, 1, 249, 20),
    ("step", "keda_lag"): (4.220094, 0.008189, 30, 54657, 36, 16, 71, 20),
    ("step", "keda_pending"): (2.038556, 0.000000, 17, 33982, 5, 1, 90, 20),
    ("step", "dask"): (10.619344, 0.000000, 7, 21362, 447, 143, None, 20),
    ("step", "celery"): (4.797408, 0.000000, 14, 26780, 80, 57, 106, 20),
    ("step", "keda_lag_100"): (4.239169, 0.003450, 30, 54942, 36, 17, 50, 20),
    ("burst50k", "keda_lag"): (5.208650, 0.188712, 39, 8430, 5, 1, 48, 20),
    ("poison", "fixed"): (3.190258, 0.298160, 580, 17878, 1, 0, 1127, 5),
    ("downstream", "aws"): (5.224860, 0.917641, 1279, 57942, 1, 0, None, 20),
    ("lag_nil", "flink"): (2.201000, 0.051094, 71, 24474, 1, 0, 251, 8),
}
