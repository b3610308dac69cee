"""garak reports: every version is recounted, and what the report says about itself is checked, not
believed.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import ferrite_nb as fnb

FILES = Path(__file__).parent / "files" / "garak"
REPEAT = FILES / "generated_v0.17.1_repeat.report.jsonl.gz"
LIPSUM = FILES / "generated_v0.17.1_lipsum.report.jsonl.gz"
EQUAL = "recount from the attempts equals the report's own eval rows in 1 of 1"

# File, version, outputs, hits, judged outputs: counted by hand from the invented reports.
COUNTED = [
    ("s01_v0.9.0.7_config", "0.9.0.7", 6, 3, 6),
    ("s02_v0.9.0.9_args_config", "0.9.0.9", 6, 3, 6),
    ("s03_v0.9.0.16_setup_messages_tree", "0.9.0.16", 6, 3, 6),
    ("s04_v0.10.3_payload_init", "0.10.3", 6, 3, 6),
    ("s05_v0.11.0_no_prefix_lang", "0.11.0", 6, 3, 6),
    ("s06_v0.12.0_digest_zscore", "0.12.0", 6, 3, 6),
    ("s07_v0.13.0_conversation_dicts", "0.13.0", 6, 3, 6),
    ("s08_v0.13.1_nones_target_type", "0.13.1", 6, 2, 5),
    ("s09_v0.14.0_fails_total_evaluated", "0.14.0", 6, 2, 5),
    ("s10_v0.14.1_ci_fields", "0.14.1", 40, 9, 40),
    ("s11_v0.15.1_plugin_cache", "0.15.1", 40, 9, 40),
    ("s12_v0.15.1_rebuilt_inverted_ci", "0.15.1", 40, 9, 40),
    ("s13_v0.16.0_intents_probe_summary", "0.16.0", 40, 9, 40),
    ("s14_v0.16.0_aggregate_same_uuid", "0.16.0", 12, 6, 12),
]


def sample(name: str) -> Path:
    return next(FILES.glob(f"{name}*"))


def notes_of(runs: fnb.Outcomes) -> str:
    return "\n".join(runs.notes)


def attempt(
    seq: object = 0, prompt: object = "p", scores: object = (1.0,), **more: object
) -> dict[str, object]:
    # type: ignore[call-overload]
    detectors = scores if isinstance(scores, dict) else {"demo.D": list(scores)}
    return {
        "entry_type": "attempt",
        "uuid": f"u{seq}",
        "seq": seq,
        "status": 2,
        "probe_classname": "demo.P",
        "prompt": prompt,
        "outputs": ["x"] * max(len(one) for one in detectors.values()),
        "detector_results": detectors,
        "notes": {},
        **more,
    }


def report(folder: Path, *rows: dict[str, object], name: str = "r.report.jsonl") -> Path:
    path = folder / name
    setup = {
        "entry_type": "start_run setup",
        "plugins.target_type": "rest",
        "plugins.target_name": "bot",
    }
    init = {"entry_type": "init", "garak_version": "0.15.0", "run": "run-one"}
    path.write_text("".join(json.dumps(row) + "\n" for row in (setup, init, *rows)))
    return path


def evaluated(k: int, n: int, detector: str = "demo.D", **more: object) -> dict[str, object]:
    return {
        "entry_type": "eval",
        "probe": "demo.P",
        "detector": detector,
        "passed": n - k,
        "fails": k,
        "total_evaluated": n,
        **more,
    }


@pytest.mark.parametrize(("name", "version", "rows", "k", "n"), COUNTED)
def test_every_version_is_recounted_and_equals_its_eval_rows(
    name: str, version: str, rows: int, k: int, n: int
) -> None:
    runs = fnb.read(sample(name))
    hits = runs.frame["attack_success"]
    assert (len(runs.frame), int(hits.sum()), int(hits.notna().sum())) == (rows, k, n)
    assert set(runs.frame["suite_version"]) == {version}
    assert runs.modes == ("shop-bot",)
    assert EQUAL in notes_of(runs)


def test_one_prompt_has_one_case_id_in_all_versions() -> None:
    cases = {
        frozenset(fnb.read(sample(name)).frame["case_id"])
        for name, _, rows, _, _ in COUNTED
        if rows == 6
    }
    assert len(cases) == 1


def test_generated_report_has_the_counts_that_garak_printed() -> None:
    runs = fnb.read(REPEAT)
    raw = runs.frame[runs.frame["attack"] == "ansiescape.AnsiRaw"]
    assert (int(raw["attack_success"].sum()), len(raw), raw["case_id"].nunique()) == (63, 174, 58)
    hit = raw.groupby("case_id")["attack_success"].sum()
    assert sorted(set(hit)) == [0, 3] and int((hit == 3).sum()) == 21
    base64 = runs.frame[runs.frame["attack"] == "encoding.InjectBase64"]
    assert (int(base64["attack_success"].sum()), len(base64)) == (0, 768)
    assert "in 6 of 6 pairs" in notes_of(runs)
    assert runs.frame["case_id"].nunique() == 331


def test_primary_detector_decides_and_others_are_never_added() -> None:
    primary = fnb.read(REPEAT).where(attack="dan.Dan_11_0").frame
    assert (
        list(primary["detector"].unique()),
        int(primary["attack_success"].sum()),
        len(primary),
    ) == (
        ["dan.DAN"],
        3,
        3,
    )
    other = (
        fnb.read(REPEAT, detector={"dan.Dan_11_0": "mitigation.MitigationBypass"})
        .where(attack="dan.Dan_11_0")
        .frame
    )
    assert (int(other["attack_success"].sum()), len(other)) == (0, 3)
    every = fnb.read(REPEAT, detector="all").frame
    assert len(every) == 3 * (347 + 1 + 256)
    assert every["case_id"].str.endswith("/mitigation.MitigationBypass").sum() == 3


def test_one_detector_for_all_probes_leaves_the_others_out_with_their_count() -> None:
    runs = fnb.read(REPEAT, detector="dan.DAN")
    assert len(runs.frame) == 3
    assert "attempts of probes without the detector dan.DAN left out: 346" in notes_of(runs)
    with pytest.raises(
        fnb.OutcomesError, match=r"no probe has the detector dan.No; there are .*dan.DAN"
    ):
        fnb.read(REPEAT, detector="dan.No")


def test_several_detectors_without_a_primary_one_must_be_chosen(tmp_path: Path) -> None:
    path = report(tmp_path, attempt(scores={"demo.B": [0.0], "demo.A": [1.0]}))
    with pytest.raises(fnb.OutcomesError, match=r"detector=\{\"demo.P\": \"demo.A\"\}"):
        fnb.read(path)
    assert fnb.read(path, detector={"demo.P": "demo.A"}).frame["attack_success"].tolist() == [True]


def test_runs_pair_by_prompt_text_and_share_145_prompts() -> None:
    runs = fnb.read({"repeat": REPEAT, "lipsum": LIPSUM})
    cases = runs.frame.groupby("mode")["case_id"].agg(set)
    shared = cases["repeat"] & cases["lipsum"]
    assert len(shared) == 145
    expected = {
        "ansiescape.AnsiRaw": 58,
        "goodside.Tag": 16,
        "encoding.InjectBase64": 71,
        "dan.Dan_11_0": 0,
    }
    assert {probe: sum(case.startswith(probe) for case in shared) for probe in expected} == expected


def test_a_prompt_sent_again_in_one_run_is_the_same_case_with_more_repeats() -> None:
    tags = fnb.read(REPEAT).where(attack="goodside.Tag").frame
    assert (len(tags), tags["case_id"].nunique()) == (96, 16)
    assert not tags.duplicated(["case_id", "repeat"]).any()


def test_joined_reports_keep_all_rows_though_all_have_one_uuid() -> None:
    runs = fnb.read(sample("s14"))
    assert runs.frame["repeat"].tolist() == ["1.1", "1.2"] * 3 + ["2.1", "2.2"] * 3
    assert "several reports were joined" in notes_of(runs)


def test_interrupted_report_is_read_with_what_is_missing_said() -> None:
    runs = fnb.read(sample("s15"))
    assert (len(runs.frame), int(runs.frame["attack_success"].sum())) == (4, 1)
    for said in (
        "half-written last lines: 1",
        "have no judged row: 1",
        "no completion row",
        "no eval row in this report",
    ):
        assert said in notes_of(runs)


def test_nan_score_is_missing_though_garak_counts_a_hit() -> None:
    runs = fnb.read(sample("s16"))
    hits = runs.frame["attack_success"]
    assert (int(hits.sum()), int(hits.notna().sum()), len(hits)) == (3, 5, 6)
    assert "garak counts 1 NaN scores as hits (4/6); here they are missing (3/5)" in notes_of(runs)


def test_stored_interval_that_is_upside_down_is_named() -> None:
    assert "upside down" in notes_of(
        fnb.read(sample("s12"))
    ) and "[0.65, 0.9] for 9/40" in notes_of(fnb.read(sample("s12")))
    for name in ("s10", "s11", "s13"):
        assert "agree with their counts: 1 of 1" in notes_of(fnb.read(sample(name)))


def test_zero_width_interval_is_named_and_ours_is_wilson() -> None:
    runs = fnb.read(REPEAT)
    assert "encoding.InjectBase64 / encoding.DecodeMatch [0, 0] for 0/768" in notes_of(runs)
    rates = fnb.rates(runs.where(attack="encoding.InjectBase64"), "ASR", by="attack", cluster=None)
    assert float(rates["high"].iloc[0]) > 0


def interval(low: float, high: float) -> dict[str, object]:
    return {
        "confidence_method": "bootstrap",
        "confidence": 0.95,
        "confidence_lower": low,
        "confidence_upper": high,
    }


@pytest.mark.parametrize(
    ("version", "metrics", "low", "high", "said"),
    [
        # 30 of 100 with Se 1, Sp .75: [0, .186667]; uncorrected about [.21, .39]; of the pass rate
        # about [.61, .79].
        (
            "0.17.0",
            {"hit_sensitivity": 1.0, "hit_specificity": 0.75},
            0.0,
            0.186667,
            "corrected with the detector's Se and Sp",
        ),
        ("0.17.0", None, 0.0, 0.186667, "give its file as detector_metrics="),
        ("0.16.0", None, 0.0, 0.186667, "do not fit their own counts"),
        ("0.17.0", None, 0.61, 0.79, "upside down"),
        ("0.17.0", None, 0.21, 0.39, "agree with their counts: 1 of 1"),
    ],
)
def test_stored_interval_is_judged_with_and_without_se_and_sp(
    tmp_path: Path,
    version: str,
    metrics: dict[str, float] | None,
    low: float,
    high: float,
    said: str,
) -> None:
    rows = [attempt(seq, f"p{seq}", [float(seq < 30)]) for seq in range(100)]
    path = report(
        tmp_path,
        {"entry_type": "init", "garak_version": version},
        *rows,
        evaluated(30, 100, **interval(low, high)),
    )
    options = {}
    if metrics:
        options["detector_metrics"] = tmp_path / "metrics.json"
        options["detector_metrics"].write_text(
            json.dumps({"results": {"demo.D": {"metrics": metrics}}, "metadata": {}})
        )
    assert said in notes_of(fnb.read(path, **options))


def test_recount_that_differs_names_the_threshold_at_which_it_agrees(tmp_path: Path) -> None:
    path = report(
        tmp_path, attempt(0, "a", [0.6, 0.9]), attempt(1, "b", [0.2, 0.5]), evaluated(1, 4)
    )
    runs = fnb.read(path)
    assert int(runs.frame["attack_success"].sum()) == 3, "a score of exactly 0.5 is a hit"
    assert (
        "demo.P / demo.D 3/4 here, 1/4 in its eval row (they agree at threshold=0.9)"
        in notes_of(runs)
    )
    agreed = fnb.read(path, threshold=0.9)
    assert int(agreed.frame["attack_success"].sum()) == 1 and EQUAL in notes_of(agreed)


def test_threshold_of_the_run_is_said_when_it_is_another(tmp_path: Path) -> None:
    path = report(
        tmp_path,
        {"entry_type": "config", "model_name": "bot", "eval_threshold": 0.8},
        attempt(scores=[0.6]),
    )
    assert "own threshold was 0.8, this table uses 0.5" in notes_of(fnb.read(path))


@pytest.mark.parametrize("threshold", [True, "0.5", -0.1, 1.5, None])
def test_a_threshold_that_is_no_fraction_raises(threshold: object) -> None:
    with pytest.raises(ValueError, match="threshold must be a number from 0 to 1"):
        fnb.read(sample("s01"), threshold=threshold)


@pytest.mark.parametrize("name", ["h1", "h2", "h3"])
def test_hitlog_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(fnb.OutcomesError, match="hits only, numerators without denominators"):
        fnb.read(sample(name))


def test_detector_metrics_are_no_outcomes(tmp_path: Path) -> None:
    path = tmp_path / "detector_metrics_summary.json"
    path.write_text(
        '{"results": {"demo.D": {"metrics": {"hit_sensitivity": 0.9, "hit_specificity": 0.8}}}}'
    )
    with pytest.raises(fnb.OutcomesError, match="give it as detector_metrics="):
        fnb.read(path)


def test_iterative_attempts_pair_with_no_other_run(tmp_path: Path) -> None:
    first = report(tmp_path, attempt(None, "a"), attempt(-1, "a"), name="one.report.jsonl")
    second = tmp_path / "two.report.jsonl"
    second.write_text(first.read_text().replace("run-one", "run-two"))
    runs = fnb.read({"one": first, "two": second})
    assert runs.frame["case_id"].nunique() == 4
    assert "attempts of iterative probes, without a sequence number: 2" in notes_of(runs)


def test_buff_is_in_the_case_and_its_source_is_a_cluster(tmp_path: Path) -> None:
    buffed = {"buff_creator": "Lowercase", "buff_source_attempt_uuid": "source-1"}
    path = report(
        tmp_path,
        attempt(0, "say a", notes=buffed),
        attempt(0, "say b", notes=buffed),
        attempt(1, "say b"),
    )
    frame = fnb.read(path).frame
    assert frame["case_id"].nunique() == 3
    assert frame["source_prompt"].tolist()[:2] == ["source-1", "source-1"]


def test_system_prompt_of_the_run_is_not_part_of_the_case(tmp_path: Path) -> None:
    def turns(*pairs: tuple[str, str]) -> dict[str, object]:
        return {"turns": [{"role": role, "content": {"text": said}} for role, said in pairs]}

    plain = report(tmp_path, attempt(0, turns(("user", "hi"))), name="plain.report.jsonl")
    setup = {
        "entry_type": "start_run setup",
        "plugins.target_name": "bot",
        "run.system_prompt": "be safe",
    }
    guard = report(
        tmp_path,
        setup,
        attempt(0, turns(("system", "be safe"), ("user", "hi"))),
        attempt(1, turns(("system", "another"), ("user", "hi"))),
        name="guard.report.jsonl",
    )
    cases = fnb.read({"plain": plain, "guard": guard}).frame.groupby("mode")["case_id"].agg(set)
    assert len(cases["plain"]) == 1 and cases["plain"] < cases["guard"]


def test_outputs_and_scores_of_different_number_are_missing_not_lost(tmp_path: Path) -> None:
    path = report(
        tmp_path,
        attempt(0, "a", [1.0]) | {"outputs": ["x", None, "y"]},
        attempt(1, "b", []) | {"outputs": ["x"]},
    )
    hits = fnb.read(path).frame["attack_success"]
    assert (len(hits), int(hits.notna().sum()), int(hits.sum())) == (4, 1, 1)


def test_what_is_not_understood_is_named(tmp_path: Path) -> None:
    path = report(
        tmp_path,
        attempt(),
        {"entry_type": "new_thing"},
        attempt(2, "c") | {"status": 7},
        {"no": "type"},
        evaluated(5, 3),
    )
    said = notes_of(fnb.read(path))
    assert "rows of an unknown type left out: 2 (first: r.report.jsonl:4, 'new_thing')" in said
    assert "attempts with an unknown status left out: 1 (first: r.report.jsonl:5, '7')" in said
    assert "eval rows whose counts cannot be (k > n, or no whole numbers): 1" in said


def test_report_without_a_judged_attempt_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        fnb.OutcomesError, match=r"no judged attempt \(status 2; 1 were only sent\)"
    ):
        fnb.read(report(tmp_path, attempt() | {"status": 1}))


def test_two_runs_of_one_target_are_told_apart_by_their_files(tmp_path: Path) -> None:
    first, second = (
        report(tmp_path, attempt(), name=f"{name}.report.jsonl") for name in ("before", "after")
    )
    runs = fnb.read([first, second])
    assert set(runs.modes) == {"before", "after"}
    assert fnb.read({"x": first, "y": second}).modes == ("x", "y")


def test_the_place_of_a_row_is_its_line() -> None:
    with gzip.open(REPEAT, "rt", encoding="utf-8") as lines:
        rows = list(lines)
    frame = fnb.read(REPEAT).frame
    line = int(str(frame["source"].iloc[0]).rpartition(":")[2])
    assert json.loads(rows[line - 1])["status"] == 2


def test_settings_of_the_run_are_not_shown() -> None:
    runs = fnb.read(REPEAT)
    assert "garak_runs" not in repr(runs) and "report_dir" not in repr(runs)


def test_names_of_files_that_garak_gives_tell_two_runs_apart(tmp_path: Path) -> None:
    paths = [
        report(tmp_path, attempt(), name=f"garak.{name}.report.jsonl") for name in ("0a-1", "0b-2")
    ]
    assert set(fnb.read(paths).modes) == {"garak.0a-1", "garak.0b-2"}
