"""One run: look, ask the model, do one thing, look again, until there is an end."""

import asyncio
from collections.abc import Awaitable, Callable
import logging

from ..models.chat.messages import ChatModel, UnusableReplyError
from ..models.tools import ToolArgumentError, ToolCall
from ..phone.lease import Lease
from ..phone.types import LeaseRevokedError, Observation, PhoneError, Settle
from ..tasks.model import Outcome, ReasonClass
from ..tasks.runner import RunResult, Spend
from . import prompts, screens, tools
from .acting import perform
from .consent import Commitments, in_words
from .dialogue import Dialogue, Record
from .ends import RunOver, completed, failed, paused
from .guard import LoopGuard, Verdict
from .history import History
from .limits import LoopLimits
from .ports import PhoneControl
from .prompts import Interrupt
from .steering import Steering
from .tools import Command

_LOGGER = logging.getLogger(__name__)


class DeviceLoop:
    """Works one goal on the phone under one lease."""

    def __init__(
        self,
        *,
        phone: PhoneControl,
        lease: Lease,
        chat: ChatModel,
        history: History,
        limits: LoopLimits,
        on_step: Callable[[str], None],
        record: Record,
        record_notice: Callable[[str], Awaitable[None]],
        steering: Steering,
        commitments: Commitments,
        spend: Spend,
    ) -> None:
        """Take what one run needs; ``history`` already says what is to be done."""
        self._steering = steering
        self._commitments = commitments
        self._spend = spend
        self._phone = phone
        self._lease = lease
        self._dialogue = Dialogue(
            chat,
            history,
            limits=limits,
            on_step=on_step,
            record=record,
            steering=steering,
        )
        self._history = history
        self._limits = limits
        self._on_step = on_step
        self._record_notice = record_notice
        self._guard = LoopGuard()
        self._loans = phone.loans
        self._step = 0
        """The turn that is going on, from 1, counted since the goal is this one."""
        self._black = False
        self._changed = False
        self._picture = b""
        """The newest one, as JPEG."""
        self._black_calls = 0
        self._unseen_act = True
        """Something was done, or may have been, that no picture has shown yet."""
        self._doubted = False
        self.unfinished: ToolCall | None = None
        """The call that is being run; after the run: that was cut off."""

    async def run(self) -> RunResult:
        """Return how the work ended.

        Raises:
            RunOver: It ended early.

        """
        self._guard.begin(await self._look(acted=False))
        turns = 0
        while turns < self._limits.turns:
            if await self._steering.take_up():
                await self._begin_anew()
            if self._step >= self._limits.steps:
                break
            self._step += 1
            turns += 1
            if result := await self._turn():
                return result
        text = prompts.STEPS_ENDED.format(count=turns)
        raise RunOver(completed(Outcome.UNKNOWN, text), Interrupt.BUDGET_EXCEEDED)

    async def _turn(self) -> RunResult | None:
        """Ask the model once and do what it says; return the end if this is one."""
        if self._is_overtaken:
            await self._look(acted=False)
        if self._black:
            if self._black_calls >= self._limits.black_calls:
                self._history.add_user(
                    prompts.labelled("NOTICE", prompts.ASKED_FOR_YOU)
                )
                return paused(
                    ReasonClass.BLACK_SCREEN,
                    prompts.BLACK_DETAILS,
                    prompts.BLACK_SUGGESTION,
                )
            self._black_calls += 1
        try:
            call = await self._dialogue.take(await self._dialogue.ask())
        except UnusableReplyError as err:
            self._dialogue.fail(err.message)
            return None
        if self._steering.is_due:
            return None
        if call is None:
            self._dialogue.fail("That was no tool call.")
            return None
        try:
            command = tools.parse(call)
        except ToolArgumentError as err:
            await self._dialogue.answer(call, prompts.error(str(err)))
            self._dialogue.fail(None)
            return None
        self._dialogue.forgive()
        if self._is_overtaken:
            # It was decided by a picture of before.
            await self._dialogue.answer(call, prompts.OVERTAKEN)
            return None
        self._on_step(tools.STEPS[command.name])
        match command.name:
            case tools.FINISH:
                return await self._finish(call, command)
            case tools.REQUEST:
                return await self._request(call, command)
        return await self._do(call, command)

    async def _begin_anew(self) -> None:
        """Give the new goal all its steps, and a guard that holds nothing against it."""
        self._step = 0
        self._dialogue.forgive()
        self._doubted = False
        self._guard = LoopGuard()
        self._guard.begin(await self._look(acted=False))

    # The phone.

    async def _do(self, call: ToolCall, command: Command) -> RunResult | None:
        """Run a command unless something speaks against it; show what came of it.

        Returns the end if the person has to agree first.
        """
        action, guard = command.action, self._guard
        verdict = guard.judge(action)
        trouble = guard.trouble
        if verdict is not Verdict.ALLOW and trouble is not None:
            await self._dialogue.answer(
                call, prompts.error(prompts.refused_action(trouble))
            )
            if verdict is Verdict.STOP:
                raise RunOver(
                    completed(Outcome.NOT_ACHIEVED, prompts.STOPS[trouble]),
                    Interrupt.LOOP_DETECTED,
                )
            await self._look(acted=False)
            return None
        if self._black and command.name in tools.NEED_SIGHT:
            text = (
                "Not done: the picture is black, you cannot see what you would touch."
            )
            await self._dialogue.answer(call, prompts.error(text))
            await self._look(acted=False)
            return None
        if command.commits:
            if (agreed := await self._agreed(command)) is None:
                return await self._ask_consent(call, command)
            command = agreed
        self.unfinished = call
        if command.name not in tools.LOOKS:
            self._unseen_act = True
        result = await perform(command, phone=self._phone, lease=self._lease)
        self.unfinished = None
        await self._dialogue.answer(call, result)
        screen = await self._look(acted=True)
        if guard is not self._guard:
            # What the screen shows is not what this action led to.
            return None
        trouble = guard.note(action, screen, changed=self._changed)
        if trouble is not None:
            self._history.add_user(prompts.trouble(trouble))
        return None

    async def _agreed(self, command: Command) -> Command | None:
        """Use up the person's consent to a command; return what they agreed to, if they did."""
        proposal = self._commitments.proposal
        if proposal is None or not proposal.covers(command, self._picture):
            return None
        request = proposal.request
        if not await self._spend(request.act, request.screen):
            return None
        self._commitments.settle()
        return proposal.command

    async def _ask_consent(self, call: ToolCall, command: Command) -> RunResult | None:
        """Do not run a command; return the pause in which the person is asked about it."""
        screen = screens.fingerprint(self._picture, close=True)
        if self._black or screen is None:
            await self._dialogue.answer(call, prompts.error(prompts.CONSENT_UNSEEN))
            await self._look(acted=False)
            return None
        if not self._commitments.may_ask:
            await self._dialogue.answer(call, prompts.error(prompts.CONSENT_ENDED))
            text = prompts.NO_CONSENT.format(count=self._commitments.questions)
            return completed(Outcome.NOT_ACHIEVED, text)
        request = self._commitments.propose(command, screen)
        await self._dialogue.answer(call, prompts.error(prompts.ASKING_CONSENT))
        return paused(
            ReasonClass.SENSITIVE_OPERATION,
            prompts.consent(command.effect, in_words(command)),
            prompts.CONSENT_SUGGESTION,
            request,
        )

    async def _look(self, *, acted: bool) -> screens.Fingerprint | None:
        """Show the model what the screen shows now."""
        self._on_step("looking at the screen")
        seen = await self._observe()
        if seen.settle is Settle.BLACK:
            await asyncio.sleep(self._limits.black_retry_s)
            seen = await self._observe()
        self._black = seen.settle is Settle.BLACK
        if not self._black:
            self._black_calls = 0
            self._unseen_act = False
        self._changed = seen.changed
        screen = screens.fingerprint(seen.jpeg)
        if overtaken := self._is_overtaken:
            await self._take_up_loans(screen)
        self._history.add_picture(
            seen.jpeg,
            prompts.screen(
                seen,
                step=self._step + 1,
                steps=self._limits.steps,
                acted=acted and not overtaken,
            ),
        )
        return screen

    @property
    def _is_overtaken(self) -> bool:
        """Return whether somebody else used the phone since the last look."""
        return self._phone.loans != self._loans

    async def _take_up_loans(self, screen: screens.Fingerprint | None) -> None:
        """Tell the model that somebody else used the phone; the guard begins anew."""
        self._loans = self._phone.loans
        self._guard = LoopGuard()
        self._guard.begin(screen)
        notice = prompts.notice(Interrupt.PREEMPTED)
        self._history.add_user(notice)
        await self._record_notice(notice)

    async def _observe(self) -> Observation:
        """Return what the screen shows; without a picture the run is over."""
        try:
            seen = await self._phone.observe(self._lease)
        except LeaseRevokedError as err:
            raise RunOver(failed(prompts.REVOKED), Interrupt.CANCELED) from err
        except PhoneError as err:
            raise RunOver(
                failed(f"There is no picture of the phone: {err}."),
                Interrupt.EXECUTION_ERROR,
            ) from err
        self._picture = seen.jpeg
        return seen

    # The ends.

    async def _finish(self, call: ToolCall, command: Command) -> RunResult | None:
        """Return the end that the model reports, if what it claims can be believed."""
        given = command.arguments
        outcome = Outcome(given["outcome"])
        evidence = given.get("evidence", "").strip() or None
        text = given["result"].strip()
        if outcome is Outcome.ACHIEVED and (evidence is None or self._unseen_act):
            if not self._doubted:
                self._doubted = True
                await self._dialogue.answer(call, prompts.error(prompts.DOUBTED))
                await self._look(acted=False)
                return None
            outcome = Outcome.UNKNOWN
            text = f"{text} {prompts.UNVERIFIED}"
        await self._dialogue.answer(call, prompts.ok("Finished."))
        return completed(outcome, text, evidence)

    async def _request(self, call: ToolCall, command: Command) -> RunResult:
        """Return the pause in which a person is asked."""
        given = command.arguments
        await self._dialogue.answer(call, prompts.ok(prompts.ASKED))
        return paused(
            ReasonClass(given["reason"]),
            given["details"].strip(),
            given["suggested_action"].strip(),
        )
