"""The models of the simulator: Realtime and Chat Completions, with a scripted brain."""

from .routes import Brains, add_routes
from .settings import ModelSettings

__all__ = ["Brains", "ModelSettings", "add_routes"]
