"""How a run ends."""

from ..tasks.model import ConsentRequest, Outcome, ReasonClass
from ..tasks.runner import Question, RunEnd, RunResult
from .prompts import Interrupt


class RunOver(Exception):
    """The run ends here, from wherever this was noticed."""

    def __init__(self, result: RunResult, interrupt: Interrupt | None = None) -> None:
        """Keep the end, and why it came early if it did."""
        super().__init__(result.text)
        self.result = result
        self.interrupt = interrupt


def completed(outcome: Outcome, text: str, evidence: str | None = None) -> RunResult:
    """Return an end that the loop came to by itself."""
    return RunResult(
        end=RunEnd.COMPLETED, text=text, outcome=outcome, evidence=evidence
    )


def failed(text: str) -> RunResult:
    """Return an abnormal end."""
    return RunResult(end=RunEnd.FAILED, text=text)


def paused(
    reason: ReasonClass,
    details: str,
    suggested_action: str,
    consent: ConsentRequest | None = None,
) -> RunResult:
    """Return a pause with its question."""
    question = Question(
        reason=reason,
        details=details,
        suggested_action=suggested_action,
        consent=consent,
    )
    return RunResult(end=RunEnd.PAUSED, question=question)
