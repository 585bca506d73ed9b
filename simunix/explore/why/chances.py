"""Computes how many seeds without a failure make it credible that the failure is mended."""

from __future__ import annotations

import math

CONFIDENCE = 0.95


def least_rate(failed: int, runs: int) -> float:
    """Return the lower limit, with 95 % confidence, of the probability that a seed fails, if `failed` of `runs` seeds
    have failed.

    The formula is the exact limit of Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the
    Case of the Binomial", Biometrika 26 (1934), one-sided. An exploration that stops at its first failure has the same
    limit: the probability that n seeds have at least one failure is then 5 %. Raises ValueError unless 1 <= failed <=
    runs.
    """
    from scipy.stats import binomtest

    if not 1 <= failed <= runs:
        raise ValueError(f"expected 1 to {runs} failures, got {failed}")
    test = binomtest(failed, runs, alternative="greater")
    return float(test.proportion_ci(confidence_level=CONFIDENCE, method="exact").low)


def clean_seeds(rate: float) -> int:
    """Return how many seeds must pass, one after the other, before "mended" is credible with 95 % confidence.

    If seeds still failed with probability p, n of them would all pass with probability (1 - p)^n. This probability is 5
    % or less from n = ln(0.05) / ln(1 - p) on; for small p, n is about 3 / p, the rule of three (Hanley, Lippman-Hand,
    "If Nothing Goes Wrong, Is Everything All Right?", JAMA 249, 1983). `rate` is p, above 0.
    """
    return 1 if rate >= 1 else math.ceil(math.log(1 - CONFIDENCE) / math.log1p(-rate))
