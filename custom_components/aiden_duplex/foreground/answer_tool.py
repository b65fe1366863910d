"""The tool that passes on what a person answered, and what counts as their answer."""

from collections.abc import Mapping
from typing import Any

from ..tasks.model import Assent, ConsentHow, Decision, Task, UserAction
from .task_view import task_view
from .tool_context import ToolContext
from .tool_errors import Output, error
from .yes_words import is_yes

SHOWN_S = 3.0
"""How long a question must have been on show before a text can be its answer."""


async def respond(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
    """Pass on an answer: tool ``response_user_action``."""
    task = context.tasks.get(arguments["task_id"])
    told = context.delivery.question_told(task.id)
    question = task.pending_user_action
    current = question if question and told in (None, question.id) else None
    if current and not _was_asked(context, task):
        context.delivery.note_question(task)
        return error(
            "question_not_asked",
            "The person has not been asked this. Ask now; pass on only their answer to it.",
            **task_view(task),
        )
    decision = Decision(arguments.get("decision", Decision.ANSWERED))
    message, assent = arguments["user_message"], None
    if current and current.consent and decision is Decision.ANSWERED:
        if (refusal := _no_consent(context, task, current)) is not None:
            return refusal
        if await context.is_person(context.speaker) and context.is_latest():
            assent = Assent(by=context.speaker, how=ConsentHow.SAID)
        # Nothing of the model goes along with the person's yes.
        message = context.text
    task = await context.tasks.respond(
        task.id,
        message,
        decision=decision,
        question_id=told or (question.id if question else None),
        assent=assent,
    )
    if decision is Decision.REFUSED:
        await context.delivery.note_read(task)
        return {
            "task_id": task.id,
            "status": str(task.status),
            "outcome": task.outcome and str(task.outcome),
            "note": "Refused: the work has ended and does NOT go on. Tell the person so.",
        }
    return {
        "task_id": task.id,
        "status": str(task.status),
        "note": "Passed on. The work goes on with it, it is NOT done yet."
        if not task.status.is_terminal
        else "Passed on; the work has ended.",
    }


def _no_consent(
    context: ToolContext, task: Task, question: UserAction
) -> Output | None:
    """Return why what the person said is no yes to what they heard; None if it is.

    Code decides, not the model: a consent is theirs alone.
    """
    if context.delivery.question_heard(task.id) != question.id:
        # Shown is not enough here: a yes may have been meant for something else.
        context.delivery.note_question(task)
        return error(
            "question_not_asked",
            "The person has not heard this yet. Ask now whether it may be done, yes or no; "
            "pass on only their answer to it.",
            **task_view(task),
        )
    if not is_yes(context.text) or not context.is_latest():
        return error(
            "no_clear_yes",
            "Not passed on: it needs a plain yes of the person to exactly this. Ask them "
            "plainly: yes or no. If they want it otherwise, call update_agent_task; if they "
            "do not want it, pass on that they refused.",
            **task_view(task),
        )
    return None


def _was_asked(context: ToolContext, task: Task) -> bool:
    """Return whether the person knew the question before they said their text.

    They heard it in an earlier reply, or saw it: questions are shown as a notification
    at once.
    """
    question = task.pending_user_action
    if question is None:
        return False
    if context.delivery.question_heard(task.id) == question.id:
        return True
    return (context.arrived_at - question.created_at).total_seconds() >= SHOWN_S
