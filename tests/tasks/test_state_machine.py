"""Any order of requests, runs, restarts: the manager does what the reference says."""

from hypothesis import HealthCheck, settings

from tests.examples import examples

from .rules_of_consent import ConsentRules
from .rules_of_restart import RestartRules
from .rules_of_telling import TellingRules
from .rules_of_work import WorkRules


class TaskMachine(WorkRules, TellingRules, ConsentRules, RestartRules):
    """All rules."""


TestTaskMachine = TaskMachine.TestCase
TestTaskMachine.settings = settings(
    max_examples=examples(80),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
