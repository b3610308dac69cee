"""The further exercises X01 to X11: what each asks, and the wrong answers that have a name."""

from __future__ import annotations

from math import inf

from ... import stats
from . import references as ref
from .parts import Choice, Exercise, Numbers, Sealed, Values, near, seals

__all__ = ["FURTHER"]


def above_one(given: Values, right: Values, tolerance: float) -> float:
    """A p-value above 1 is the sum of two larger tails."""
    return 0.0 if len(given) == len(right) and max(given) > 1 and min(given) >= 0 else inf


def rounded(given: Values, right: Values, tolerance: float) -> float:
    """Right up to rounding."""
    same = len(given) == len(right) and all(
        abs(a - b) <= 5e-5 for a, b in zip(given, right, strict=True)
    )
    return 0.5 if same else inf


FURTHER: dict[str, Exercise] = {
    "X01": Exercise(
        (
            Numbers(
                "ppv",
                "the precision at a base rate of 0.1 %, one proportion",
                value=lambda: ref.precision_at(0.001),
                mistakes=(
                    (near(lambda: 0.95), "that is the TPR"),
                    (near(lambda: 0.99), "that is the accuracy"),
                    (near(lambda: ref.precision_at(0.5)), "that is at 50 %"),
                    (near(lambda: ref.precision_at(0.01)), "that is at 1 %"),
                ),
                hint="take 10,000 cases: how many alerts are right, out of all alerts?",
            ),
            Numbers(
                "all",
                "the precision at 50, 1 and 0.1 %, three proportions",
                optional=True,
                value=lambda: tuple(ref.precision_at(rate) for rate in (0.5, 0.01, 0.001)),
                hint="each base rate has its own precision",
            ),
            Numbers(
                "false_alerts",
                "the false alerts per 10,000 at these three base rates, three numbers",
                optional=True,
                value=lambda: tuple(10_000 * (1 - rate) * 0.01 for rate in (0.5, 0.01, 0.001)),
                tolerance=0.05,
                proportion=False,
                hint="only the genuine ones can give a false alert",
            ),
            Numbers(
                "half",
                "the false-positive rate at which half of the alerts are right at 0.1 %, one proportion",
                optional=True,
                value=lambda: ref.fpr_for_half(),
                tolerance=5e-6,
                hint="as many false as true alerts",
            ),
        )
    ),
    "X02": Exercise(
        (
            Choice(
                "verdict",
                '"pass", "fail" or "cannot tell"',
                inside=True,
                sealed=seals(
                    "5daaea48a946a289 7017ec7ad8d02064 73b894f7b2e00259 a87a246c8528470a "
                    "c3aa95ec3aa19b4d c5efbf024d1ad7e6 c835e4818a3f190c"
                ),
                mistakes=(
                    (
                        "0%",
                        "0 % is best on the security side only; look at what it does to normal tasks",
                    ),
                    (
                        "0_%",
                        "0 % is best on the security side only; look at what it does to normal tasks",
                    ),
                    (
                        "best",
                        "0 % is best on the security side only; look at what it does to normal tasks",
                    ),
                    ("pass", "it keeps to the two security requirements; there are two more"),
                    ("cannot_tell", "600 and 300 cases are enough to tell"),
                ),
            ),
            Choice(
                "reason",
                "the requirement that stops it, by the name of its cost metric",
                inside=True,
                hint="a verdict needs its reason: name the cost metric that fails",
                sealed=seals(
                    "11e2af1b1a738ad5 2070e900cdd16692 208659ae6c03ac25 4669a781e90906c3 "
                    "6a0036629d067597 712d37e35dc6ee0c 98316841c41a1256 b4acebd57aac7e79 "
                    "cb36b277fa069386 dc68a4c737aec506 dd8d7edb8eb43331 e7090a5f5b92de2c "
                    "de2ff7ab8917c907 74bc0741fa475419 4c61bd5bdbc5a519 11e77f7d2f9b02ff "
                    "c54db31a8d97ec5e 79056c6ff979f226 258f7a41bf3afae6 51dbc8fa3e17b0bb "
                    "7f7d611651ba13de fdc28107a295740c"
                ),
                mistakes=(
                    ("asr", "that is a security metric, and it is met"),
                    ("attack_success", "that is a security metric, and it is met"),
                    ("proposals", "that is a security metric, and it is met"),
                    ("executions", "that is a security metric, and it is met"),
                ),
            ),
            Numbers(
                "bounds",
                "the interval of its task success, low and high",
                optional=True,
                value=lambda: ref.ends(0, 300),
                mistakes=((near(lambda: (0, 0)), "0 of 300 has an upper limit above 0"),),
                hint="it does 0 of 300 tasks",
            ),
        )
    ),
    "X03": Exercise(
        (
            Numbers(
                "chance",
                "the chance that some of 20 variants passes, one proportion",
                value=ref.some_variant_passes,
                tolerance=0.01,
                mistakes=(
                    (near(ref.variant_passes), "that is one variant"),
                    (near(lambda: 1 - 0.95**20), "that is another question: twenty tests at 5 %"),
                    (
                        near(lambda: 20 * ref.variant_passes()),
                        "twenty chances do not add up: a chance is at most 1",
                    ),
                    (
                        near(lambda: 1 - ref.variant_passes()),
                        "that is the chance that one variant does not pass",
                    ),
                ),
                hint="no variant passes when all twenty fail",
            ),
        )
    ),
    "X04": Exercise(
        (
            Numbers(
                "within",
                "two proportions: cases alike, then cases with their own rates",
                value=ref.within_25,
                tolerance=0.005,
                mistakes=(
                    (near(lambda: 0.50), "that is 25 times 2 %; chances do not add up"),
                    (near(lambda: 0.02), "that is one attempt"),
                    (
                        near(lambda: 1 - ref.within_25()[0]),
                        "that is the chance of no success at all",
                    ),
                ),
                hint="the chance of no success in 25 attempts, averaged over the cases",
            ),
        )
    ),
    "X05": Exercise(
        (
            Numbers(
                "reductions",
                "two differences of proportions: the judge's, then people's",
                value=ref.reductions,
                tolerance=0.001,
                mistakes=(
                    (
                        near(ref.agreement),
                        "that is the agreement; the same twice does not mean that there is no bias",
                    ),
                    (
                        near(lambda: ref.agreement()[0]),
                        "that is the agreement; it does not mean that there is no bias",
                    ),
                    (
                        near(lambda: ref.reductions()[0] - ref.reductions()[1]),
                        "that is the size of the bias without its sign; give both reductions",
                    ),
                ),
                hint="the rate of a condition is its number of positive labels out of 75",
            ),
            Choice(
                "bias",
                "what the judge does to the reduction: overstates it, understates it, or no bias",
                optional=True,
                sealed=seals("773d1f38c3edcd53"),
                mistakes=(
                    (
                        "no_bias",
                        "agreement can be equal while the errors go another way in each condition",
                    ),
                    ("understates", "compare the two reductions again"),
                ),
            ),
        )
    ),
    "X06": Exercise(
        (
            Numbers(
                "rates",
                "four proportions: v1 easy, v1 hard, v2 easy, v2 hard",
                value=ref.suite_rates,
                mistakes=(
                    (
                        near(ref.pooled_over_versions),
                        "that pools two suite versions: two different measurements",
                    ),
                    (
                        near(ref.pooled_over_difficulty),
                        "that pools easy and hard; the mix changed, not the system",
                    ),
                ),
                hint="each stratum of each version by itself",
            ),
            Choice(
                "verdict",
                '"new series", "it got worse" or "join"',
                optional=True,
                sealed=seals("52150db66ad245ec"),
                mistakes=(
                    (
                        "it_got_worse",
                        "each stratum got better; only the mix of easy and hard changed",
                    ),
                    ("worse", "each stratum got better; only the mix of easy and hard changed"),
                    ("join", "rates of two suite versions are never joined"),
                ),
            ),
        )
    ),
    "X07": Exercise(
        (
            Numbers(
                "p",
                "six exact McNemar p, in the order of the table",
                value=ref.six_p,
                tolerance=1e-6,
                mistakes=(
                    (near(lambda: [p / 2 for p in ref.six_p()]), "that is one-sided"),
                    (above_one, "that is the larger tail; a p-value is at most 1"),
                    (
                        near(lambda: [stats.mcnemar(b, c).mid_p for b, c in ref.PAIRS]),
                        "that is the mid-p",
                    ),
                    (rounded, "right up to rounding; give the numbers unrounded"),
                ),
                hint="two binomial tails of the smaller of b and c in b + c at one half",
                proportion=False,
            ),
            Numbers(
                "holm",
                "the six p with Holm's correction, in the same order",
                value=ref.six_holm,
                tolerance=1e-6,
                mistakes=(
                    (near(lambda: [min(1, 6 * p) for p in ref.six_p()]), "that is Bonferroni"),
                    (near(lambda: 6 * ref.six_p()[0]), "that is Bonferroni"),
                    (near(ref.six_p), "that is not corrected"),
                    (above_one, "a corrected p is at most 1"),
                    (rounded, "right up to rounding; give the numbers unrounded"),
                ),
                hint="sort, multiply by 6, 5, 4, 3, 2, 1, and let no value fall below the one before",
                proportion=False,
            ),
        )
    ),
    "X08": Exercise(
        (
            Numbers(
                "interval",
                "two proportions, low and high, with the template as the unit",
                value=ref.template_bounds,
                tolerance=0.002,
                mistakes=(
                    (
                        near(lambda: ref.ends(60, 600)),
                        "that is the naive interval: cases of one template are not independent",
                    ),
                    (
                        near(lambda: (0.033, 0.183)),
                        "that is near a cluster bootstrap: too narrow with six broken templates",
                    ),
                    (near(lambda: 60), "that is an effective n without an interval"),
                ),
                hint="count the templates that are broken, out of all templates",
            ),
        )
    ),
    "X09": Exercise(
        (
            Numbers(
                "chance",
                "the chance of a false alarm at any of ten looks, one proportion",
                value=ref.peeking,
                tolerance=0.005,
                mistakes=(
                    (near(lambda: 0.05), "that is the nominal error of one look"),
                    (
                        near(lambda: stats.repeated_tests([100]).any_look),
                        "that is one look at the end",
                    ),
                    (
                        near(lambda: 1 - 0.95**10),
                        "the looks are not independent: they share their pairs",
                    ),
                ),
                hint="draw many series of 100 fair coins, look every 10, and count those that ever reach 5 %",
            ),
        )
    ),
    "X10": Exercise(
        (
            Numbers(
                "interval",
                "the Wilson interval of one run of 8/20, low and high",
                value=lambda: ref.ends(8, 20),
                mistakes=(
                    (near(lambda: (0.40, 0.40)), "that takes ± 0 as an interval"),
                    (
                        near(lambda: ref.ends(24, 60)),
                        "that pools 24/60: three runs of 20 cases are not 60 cases",
                    ),
                    (near(lambda: ref.wald(8, 20)), "that is the Wald interval"),
                ),
                hint="one run, 8 of 20 cases",
            ),
            Choice(
                "label",
                'what ± was: "seed SD", "SE" or "CI"',
                optional=True,
                sealed=seals("5db5323e8effe56f 609a1790685b6a83 7fb7a3ab8ee3fb93 caf0bb125313d8f5"),
                mistakes=(
                    ("se", "a standard error of 8/20 is not 0"),
                    ("ci", "a confidence interval of 8/20 has a width"),
                ),
            ),
            Numbers(
                "spread",
                "two numbers: the SD over the lab's five seeds, and the binomial SD of one run of 200 at the truth",
                optional=True,
                value=ref.spreads,
                hint="divisor 4 for the seeds; the square root of p(1 - p)/n for one run",
            ),
        )
    ),
    "X11": Exercise(
        (
            Numbers(
                "interval",
                "the interval of the rate of cases, undefended GPT-4o over all suites, low and high",
                value=lambda: ref.ends(*ref.micro()),
                mistakes=(
                    (
                        near(ref.macro),
                        "that is the mean of the suites (macro), not the rate of cases (micro)",
                    ),
                    (
                        near(lambda: ref.micro()[0] / ref.micro()[1]),
                        "that is a rate without its interval",
                    ),
                ),
                hint="add the cases of the four suites, then one interval",
            ),
            Choice(
                "label",
                'what ± was: "seed SD", "SE", "CI" or "Wald"',
                optional=True,
                sealed=seals("51e8ab495cea1d1c 4a0200b724d2e427 419bea01a63ae905 b5eb96aec0e33393"),
                mistakes=(
                    (
                        "wald",
                        "a Wald half-width grows as n falls; many of these are 0.00 at small n",
                    ),
                    ("ci", "a confidence interval of these counts has a width"),
                    ("se", "a standard error of a rate between 0 and 100 % is not 0"),
                ),
            ),
            Sealed(
                "zero",
                "how many cells print ± 0.00 strictly between 0 and 100 %, one count",
                optional=True,
                sealed="2bd92acfe2360acf",
                mistakes=(
                    (near(lambda: 336), "those are all cells"),
                    (
                        near(lambda: 59),
                        "some of those stand at 0 or 100 %, where every run agrees anyway",
                    ),
                ),
                hint="count the cells with an SD of 0 whose rate is neither 0 nor 100 %",
            ),
            Sealed(
                "counts",
                "336 whole counts, in the order of the file",
                optional=True,
                size_of=336,
                sealed="ba859d095c24328b",
                hint="at least one count is not the rate times n, rounded to a whole number",
            ),
        )
    ),
}
