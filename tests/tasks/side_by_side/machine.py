"""The machine of all rules.

What it holds the task manager to, whatever happens in whatever order, at one time, and
with a crash after any write:

- an end is final: what a run returns or says later changes nothing, and a cancel wins over
  a success that comes after it;
- a task that is cancelled before its start never runs; nothing is "running" without a run:
  after a crash it is tried again, a bounded number of times, or it waits or has failed;
- no run begins without a durable start, so none is begun anew as if it were the first;
- what was acknowledged (created, a new goal, an answer, a take-over, a cancel, an ending
  that was told, the kill switch) is there after a crash; what was not is there or is not,
  but never half;
- a completed result belongs to the newest goal; what was applied is never ahead of it;
- a question stays open through time and restarts until it is answered, refused or
  withdrawn, which are kept apart; a wrong or late answer is refused; no ended task asks;
- an ending is in one state of delivery, claimed by at most one session and by none after
  that session or the process; it is told until that is acknowledged, read or suppressed,
  and not forgotten before; reading one is no telling of another;
- somebody is woken once for a batch of endings, and not for a start;
- a goal in flight is not begun twice unless somebody says so;
- a yes is for one act on one screen: it is used once, within a minute, in the run that goes
  on with it; not after a stop, a new goal or a restart; and nobody but a person gives it;
- nothing starts under the kill switch, or on the phone that is kept for a person.
"""

from .consenting import Consenting
from .crashes import Crashes
from .requests import Requests
from .running import Running
from .telling import Telling


class TaskMachine(Requests, Running, Telling, Consenting, Crashes):
    """Requests, runs, tellings and crashes in any order. More rules are one more base."""
