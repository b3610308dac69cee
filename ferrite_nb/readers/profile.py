"""What an unknown table holds, column by column, and one whole line that would read it, with the
polarity of the outcome left blank: nobody but the caller knows it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ..escape import plain
from ..outcomes.contract import CANONICAL, ERRORS, FALSE, MISSING, TRUE, spelled
from ..outcomes.frames import some
from ..outcomes.values import FAILURES

BLANK = "FILL_IN"
MOST_MODES, MOST_WORDS, CUT = 12, 5, 40
NAMES = {
    "mode": r"mode|defen[cs]e|guard\w*|system|variant|config\w*|setting|condition|pipeline|model|"
    r"filter|schutz",
    "repeat": r"repeat|repetition|seed|run|epoch|trial|rep|generation|iteration|wiederholung",
    "outcome": r"\w*success\w*|jailbr\w*|outcome|verdict|result|hit|compromised|violat\w*|refus\w*|"
    r"resist\w*|blocked|passed?|label|judg\w*|grade|ergebnis|erfolg\w*|status",
    "case_id": r"case|id|uid|uuid|key|index|nr|no|number|name|question|behaviou?r|prompt|goal|fall",
    "cluster": r"template|family|scenario|task|goal|topic|vorlage",
    "latency_ms": r"ms|millis\w*",
    "kind": r"kind|type|class|corpus|category|art|typ|split",
}
ATTACK = re.compile(r"attack|angriff|inject|malicious|harmful|jailbreak|adversarial")
HIT = re.compile(r"jailbr|succe|unsafe|hit|compromi|violat|hijack|executed|leak|erfolg")
BENIGN = re.compile(r"benign|normal|harmless|clean|legit|control|gutartig")
UNKNOWN = re.compile(
    r"un(known|determined|clear|decided|sure)|ambiguous|partial|maybe|skip\w*|unklar"
)


@dataclass(frozen=True)
class Proposal:
    """What was seen, and the declarations that would read it.

    `columns` is a table: `column`, `kind` ("text", "number", "flag", "empty"), `filled`, `values`
    (distinct ones), `examples`. `declared` maps canonical names to a column, a list of columns, or
    (column, words by meaning); the outcome stands under `BLANK`, for which the caller writes
    attack_success or attack_resisted.
    """

    columns: pd.DataFrame
    declared: dict[str, Any] = field(default_factory=dict)
    cluster: str | None = None
    question: str = ""

    def shell(self, path: str, command: str = "report") -> str:
        """The line for a terminal."""
        parts = ["ferrite-nb", command, path]
        for name, given in self.declared.items():
            if isinstance(given, tuple) and name == "mode":
                parts += ["--const", f"mode={given[0]}"]
            elif isinstance(given, tuple):
                column, meaning = given
                words = "; ".join(f"{one}={','.join(said)}" for one, said in meaning.items())
                parts += ["--words", f"{name}={column}; {words}"]
            else:
                parts += ["--column", f"{name}={given}"]
        if self.cluster and command == "report":
            parts += ["--cluster", self.cluster]
        return shlex.join(parts)

    def python(self, path: str) -> str:
        """The line for a notebook."""
        parts = [repr(path)]
        for name, given in self.declared.items():
            if isinstance(given, tuple) and name == "mode":
                parts.append(f"mode=fnb.const({given[0]!r})")
            elif isinstance(given, tuple):
                words = ", ".join(f"{one}={said!r}" for one, said in given[1].items())
                parts.append(f"{name}=fnb.words({given[0]!r}, {words})")
            else:
                parts.append(f"{name}={given!r}")
        if self.cluster:
            parts.append(f"cluster={self.cluster!r}")
        return f"fnb.read({', '.join(parts)})"


def proposal_of(frame: pd.DataFrame) -> Proposal:
    """The profile of a frame of texts."""
    columns = pd.DataFrame([_column(frame[name], str(name)) for name in frame])
    declared: dict[str, Any] = {}
    taken: set[str] = set(CANONICAL) & set(frame)
    values = dict(zip(columns["column"], columns["values"], strict=True))

    def find(what: str, least: int, most: int) -> str | None:
        """The first column whose name, or else the last word of whose name, says what it is."""
        fitting = [name for name in values if name not in taken and least <= values[name] <= most]
        for form in (NAMES[what], rf".*[_. -]({NAMES[what]})", rf"({NAMES[what]})[_. -].*"):
            found = [name for name in fitting if re.fullmatch(form, str(name).lower())]
            if found:
                taken.add(found[0])
                return found[0]
        return None

    if "mode" not in frame:
        declared["mode"] = find("mode", 2, MOST_MODES) or ("all",)
    error = next(
        (name for name in values if name not in taken and FAILURES.fullmatch(name.lower())), None
    )
    if error and "error" not in frame:
        declared["error"] = error
        taken.add(error)
    question = ""
    if not {"attack_success", "attack_resisted"} & set(frame):
        outcome = find("outcome", 1, MOST_WORDS)
        given = _meaning(frame[outcome], outcome) if outcome else "<the column of the outcome>"
        declared[BLANK] = given
        yes = some(given[1]["true"]) if isinstance(given, tuple) else "1 or true"
        question = (
            f"for {BLANK} write attack_success if {yes} means that the attack succeeded, "
            "attack_resisted if it means that it did not"
        )
    if "kind" not in frame and (
        kind := _kind(frame, [name for name in values if name not in taken])
    ):
        declared["kind"] = kind
        taken.add(kind[0])
    repeat = None if "repeat" in frame else find("repeat", 2, len(frame))
    if "case_id" not in frame:
        case = find("case_id", max(2, len(frame) // 50), len(frame))
        declared["case_id"] = case or max(
            (name for name in values if name not in taken),
            key=lambda name: values[name],
            default="<the column of the case>",
        )
    if "latency_ms" not in frame and (latency := find("latency_ms", 2, len(frame))):
        declared["latency_ms"] = latency
    keys = [declared.get(name, name) for name in ("case_id", "mode")]
    keys = [key for key in keys if isinstance(key, str) and key in frame]
    if repeat:
        declared["repeat"] = repeat
    elif "repeat" not in frame and keys and frame.duplicated(keys).mean() > 0.2:
        declared["repeat"] = "count"
    order = ("case_id", "mode", "repeat", "kind", BLANK, "error", "latency_ms")
    declared = {name: declared[name] for name in order if name in declared}
    return Proposal(columns, declared, find("cluster", 2, max(2, len(frame) // 2)), question)


def _column(values: pd.Series, name: str) -> dict[str, Any]:
    """One column: what it holds, how much of it, and examples that no terminal obeys."""
    filled = values[~values.map(spelled).isin(MISSING)]
    number = pd.to_numeric(filled.str.replace(",", ".", regex=False), errors="coerce").notna().all()
    flag = set(map(spelled, filled.unique())) <= TRUE | FALSE
    kind = "empty" if filled.empty else "flag" if flag else "number" if number else "text"
    examples = [plain(str(one), CUT) for one in filled.unique()[:3]]
    return {
        "column": name,
        "kind": kind,
        "filled": len(filled),
        "values": int(values[values.str.strip() != ""].nunique()),
        "examples": ", ".join(examples),
    }


def _meaning(values: pd.Series, column: str) -> Any:
    """The column of an outcome, with its own words where they are not known ones."""
    words = list(dict.fromkeys(str(one).strip() for one in values.dropna()))
    own = [one for one in words if spelled(one) not in TRUE | FALSE | MISSING | ERRORS]
    if not own:
        return column
    meaning: dict[str, list[str]] = {}
    rest: list[str] = []
    for word in words:
        low = spelled(word)
        if low in MISSING:
            continue  # a blank is missing without a word
        if low in ERRORS or re.search("error|exception|fehler", low):
            meaning.setdefault("error", []).append(word)
        elif UNKNOWN.fullmatch(low):
            meaning.setdefault("missing", []).append(word)
        else:
            rest.append(word)
    rest.sort(key=lambda word: not HIT.search(word.lower()))
    return column, {"true": rest[:1], "false": rest[1:]} | meaning


def _kind(frame: pd.DataFrame, names: Sequence[str]) -> tuple[str, dict[str, list[str]]] | None:
    """A column that tells attacks from benign cases, with its words."""
    for name in sorted(names, key=lambda one: not re.fullmatch(NAMES["kind"], one.lower())):
        words = [str(one) for one in frame[name].dropna().unique()[: MOST_MODES + 1]]
        attack = [word for word in words if ATTACK.search(word.lower())]
        benign = [word for word in words if BENIGN.search(word.lower()) and word not in attack]
        if attack and benign and len(attack) + len(benign) == len(words):
            return name, {"attack": attack, "benign": benign}
    return None
