"""How far one run may go: all numbers of the device loop in one place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopLimits:
    """Bounds of one run."""

    steps: int = 40
    """Model turns for one goal. Benchmarks of phone tasks give 10 to 60."""
    turns: int = 120
    """Model turns in all, however often the goal is replaced. Our choice."""
    run_s: float = 600.0
    """Wall clock, from the first look."""
    unusable_replies: int = 3
    """Replies in a row without a valid call that end the run."""
    black_calls: int = 2
    """Times the model is asked while nothing can be seen."""
    black_retry_s: float = 1.0
    """Pause before a black picture is taken again."""
    picture_s: float = 20.0
    """How long a missing picture is waited for."""
    picture_retry_s: float = 1.0
    link_s: float = 20.0
    """How long the board may be gone, from the first act that failed."""
    link_retry_s: float = 2.0
    """Pause after an act that could not be sent."""
    lease_s: float = 15.0
    """How long somebody else's control is waited for; stop words hold it for 5 s."""
    lease_retry_s: float = 0.5
    release_s: float = 8.0
    """How long giving the phone back may take before the run is fenced."""
    pictures: int = 2
    """Pictures that the model sees at once; older ones become a word."""
    kept_tasks: int = 8
    """Tasks whose conversation is kept for a continuation."""
