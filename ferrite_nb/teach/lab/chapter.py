"""The chapter's exercises EX085 to EX087: what each asks, and the wrong answers that have a
name.
"""

from __future__ import annotations

from typing import Any

from . import references as ref
from .parts import Choice, Claims, Exercise, Numbers, near, seals

__all__ = ["CHAPTER"]


def same_operating_point(given: dict[str, Any]) -> str:
    """Precision and alerts must be those of one threshold."""
    if not {"ppv", "alerts"} <= set(given):
        return ""
    place = min(range(3), key=lambda i: abs(ref.call_precision()[i] - float(given["ppv"])))
    fits = [abs(ref.call_alerts()[i] - float(given["alerts"])) <= 1 for i in (place, place + 3)]
    return (
        ""
        if any(fits)
        else "ppv and alerts: each is right alone, but they belong to different thresholds"
    )


WALD = (
    near(lambda: ref.wald(30, 200)),
    "that is the Wald interval, which is too narrow and symmetric here",
)
EXACT = (
    near(lambda: ref.ends(30, 200, method="clopper-pearson")),
    "that is the Clopper-Pearson interval",
)
JEFFREYS = (near(lambda: ref.ends(30, 200, method="jeffreys")), "that is the Jeffreys interval")
PLUS_MINUS = (
    near(lambda: (0.10, 0.20)),
    "that is the rate plus and minus 5 points; the interval is not symmetric",
)

CHAPTER: dict[str, Exercise] = {
    "EX085": Exercise(
        (
            Numbers(
                "ppv",
                "the precision at the real base rate, one proportion",
                value=lambda: [(p,) for p in ref.call_precision()],
                mistakes=(
                    (near(lambda: 0.95), "that is the TPR; precision also needs the base rate"),
                    (
                        near(lambda: 0.99),
                        "that is the share of genuine calls left alone, not of alerts that are right",
                    ),
                    (near(lambda: 0.999), "that is the accuracy of a detector that never alerts"),
                    (near(lambda: 0.001), "that is the base rate"),
                ),
                hint="count a day's calls: how many alerts are fake voices, out of all alerts?",
            ),
            Numbers(
                "alerts",
                "the false alerts a day at the same threshold, one number",
                value=lambda: [(a,) for a in ref.call_alerts()],
                tolerance=1.0,
                mistakes=(
                    (near(lambda: 20_000), "those are all calls"),
                    (near(lambda: 19_980), "those are all genuine calls"),
                ),
                hint="multiply the genuine calls of a day by the false-positive rate",
                proportion=False,
            ),
            Choice(
                "primary",
                'one of "accuracy", "auc", "eer", "tpr_at_fpr", "precision_at_base_rate"',
                sealed=seals("812cce714558c2f3 a6aef9d77fd6820e"),
                mistakes=(
                    (
                        "accuracy",
                        "a detector that never alerts has almost perfect accuracy at this base rate",
                    ),
                    ("auc", "AUC averages over false-alarm rates that nobody can staff"),
                    ("eer", "the equal error rate lies where the false alarms are far too many"),
                ),
            ),
            Choice(
                "cost",
                'one of "false_reject", "latency", "workload", "training_time", "none"',
                sealed=seals("0eff9af75cf54fe8 71ad5d6bf855632e 96dc905d472a19e4"),
                mistakes=(
                    ("none", "a detector that challenges every caller would look best"),
                    (
                        "training_time",
                        "that is paid once and by us; name what callers or staff pay on the same calls",
                    ),
                ),
            ),
        ),
        together=same_operating_point,
    ),
    "EX086": Exercise(
        (
            Numbers(
                "interval",
                "two proportions, low and high",
                value=lambda: ref.ends(30, 200, z=1.96),
                mistakes=(WALD, EXACT, JEFFREYS, PLUS_MINUS),
                hint="take the Wilson interval of 30/200 at 95 %",
            ),
            Claims(
                "claims",
                "six true or false values, one for each claim",
                optional=True,
                sealed=seals(
                    "942c51ddc1e17487 94ce86b60e0fc808 9c246b8f45949500 88338bbf9c8ad43b "
                    "96c36e3fafcf4b7d aadb654da742bcc2"
                ),
            ),
        )
    ),
    "EX087": Exercise(
        (
            Numbers(
                "positives",
                "the positives that a random sample of 150 holds on average, one number",
                value=lambda: (150 * 0.02,),
                tolerance=0.05,
                mistakes=(
                    (near(lambda: 147), "those are the negatives"),
                    (near(lambda: 2), "that is the prevalence in percent"),
                    (near(lambda: 150), "that is the whole sample"),
                ),
                hint="multiply the sample by the prevalence",
                proportion=False,
            ),
            Numbers(
                "sensitivity",
                "the Wilson interval of the sensitivity when all of those are found, low and high",
                value=lambda: ref.ends(3, 3),
                tolerance=0.005,
                mistakes=(
                    (
                        near(lambda: (1, 1)),
                        "that is the Wald interval: three cases leave no certainty",
                    ),
                    (
                        near(lambda: ref.ends(3, 3, method="clopper-pearson")),
                        "that is the Clopper-Pearson interval",
                    ),
                    (
                        near(lambda: ref.ends(150, 150)),
                        "the sensitivity is measured on the positives only",
                    ),
                ),
                hint="k and n are the positives alone",
            ),
            Numbers(
                "constant",
                "the agreement of a judge that always says no, one proportion",
                value=lambda: (1 - 0.02,),
                mistakes=(
                    (near(lambda: 0.93), "that is the judge of the example"),
                    (near(lambda: 0.02), "that is the share on which this judge is wrong"),
                    (
                        near(lambda: 0.5),
                        "that is a coin; at this prevalence a constant does better",
                    ),
                ),
                hint="it is right on every negative",
            ),
        )
    ),
}
