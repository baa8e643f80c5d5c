"""The process in which `hpcsim check` runs a policy: an endless one ends with it, and says where it was.

Run as ``python -m hpcsim.commands.check_worker``: a question in JSON on standard input; on standard
output a line of JSON for each thing there is to say.
"""

from __future__ import annotations

import faulthandler
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from hpcsim.errors import HpcsimError
from hpcsim.testing.other_process import answers_only


@dataclass(frozen=True)
class Question:
    """What is to be checked, how hard, and for how long each check may take.

    `traceback_path` is the file that says where the policy was when its time was up.
    """

    policy: str
    settings: list[str]
    checks: list[str] | None
    examples: int
    seed: int
    timeout_s: float
    traceback_path: str


def main() -> None:
    """Answer the question on standard input."""
    question = Question(**json.load(sys.stdin))
    with answers_only() as answers, Path(question.traceback_path).open("w", encoding="utf-8") as traceback:
        try:
            _answer(question, answers, traceback)
        except HpcsimError as error:
            _say(answers, {"error": [error.cause, error.remedy]})


def _answer(question: Question, answers: TextIO, traceback: TextIO) -> None:
    from hpcsim.commands.policy_specs import make_policy
    from hpcsim.testing import CheckOutcome, check_policy

    def start_the_clock() -> None:
        faulthandler.dump_traceback_later(question.timeout_s, exit=True, file=traceback)

    def report(outcome: CheckOutcome) -> None:
        _say(answers, {"outcome": outcome.to_dict()})
        start_the_clock()

    start_the_clock()
    policy = make_policy(question.policy, question.settings)
    _say(answers, {"policy": repr(policy)})
    check_policy(
        policy,
        checks=question.checks,
        examples=question.examples,
        seed=question.seed,
        on_fail="return",
        callback=report,
    )
    faulthandler.cancel_dump_traceback_later()
    _say(answers, {"end": True})


def _say(answers: TextIO, news: dict[str, Any]) -> None:
    answers.write(json.dumps(news) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
