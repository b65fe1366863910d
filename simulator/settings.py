"""How the simulator starts."""

from dataclasses import dataclass
from pathlib import Path

from simulator.phone.glass import TouchSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorSettings:
    """How the simulator starts."""

    seed: int = 1
    """Which phone, and which board it hangs on."""
    host: str = "127.0.0.1"
    port: int = 0
    """Of HTTP; 0 takes a free one."""
    board_port: int = 0
    """Of the board's TCP side; 0 takes a free one."""
    pty_link: Path | None = None
    """A name for the board's terminal device that stays when it is plugged anew."""
    locked: bool = False
    touch_space: TouchSpace = TouchSpace.FRAME
    api_key: str = "sk-simulated"
    """What the model servers ask for; no secret."""
    speed: float = 1.0
    """Above 1, transitions take less time."""
