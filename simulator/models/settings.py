"""What the model servers are told at the start."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """How the model servers behave when nothing is wrong."""

    api_key: str = field(repr=False)
    """The only key that is taken; never recorded and never shown whole."""
    realtime_model: str = "gpt-realtime"
    chat_model: str = "simulated-vision"
    think_s: float = 0.3
    """Time a chat completion takes beside looking at the picture."""
    realtime_think_s: float = 0.05
    """Time from response.create to the first output."""
    delta_pace_s: float = 0.05
    """Time between two deltas of a streamed answer."""
    session_max_s: float = 3600.0
    """Longest life of a realtime session; the vendor's limit is 60 minutes."""
    tesseract: str = "tesseract"
    """The program that reads the pictures."""
    ocr_timeout_s: float = 30.0
    """Longest time for one picture."""
    recorded: int = 400
    """How many requests and frames are kept, each."""
