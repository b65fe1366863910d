"""The input audio buffer: counted, never listened to."""

from collections.abc import Mapping
from typing import Any

from .errors import RealtimeError
from .items import decode_audio

_MIN_COMMIT_MS = 100.0
_MAX_APPEND = 15 << 20
"""Bytes of one event, and here of the whole buffer."""
_BYTES_PER_MS = {"audio/pcm": 48.0, "audio/pcmu": 8.0, "audio/pcma": 8.0}


class InputAudio:
    """Sound that was appended and not yet committed."""

    def __init__(self) -> None:
        """Start empty."""
        self._length = 0

    def append(self, text: str) -> None:
        """Take base64 sound.

        Raises:
            RealtimeError: It is no base64, or too long.

        """
        sound = decode_audio(text, "audio")
        if len(sound) > _MAX_APPEND:
            raise RealtimeError(
                message="Audio chunk too large: at most 15 MiB.",
                code="invalid_value",
                param="audio",
            )
        self._length = min(self._length + len(sound), _MAX_APPEND)

    def clear(self) -> None:
        """Forget what was appended."""
        self._length = 0

    def commit(self, audio_format: Mapping[str, Any]) -> None:
        """Empty the buffer into an item.

        Raises:
            RealtimeError: It holds less than 100 ms.

        """
        length_ms = self._length / _BYTES_PER_MS[audio_format.get("type", "audio/pcm")]
        if length_ms < _MIN_COMMIT_MS:
            raise RealtimeError(
                message="Error committing input audio buffer: buffer too small. Expected at least "
                f"100ms of audio, but buffer only has {length_ms:.2f}ms of audio.",
                code="input_audio_buffer_commit_empty",
            )
        self._length = 0
