"""One act on the phone; what the model can deal with is its result, not an error."""

from ..phone.lease import Lease
from ..phone.types import (
    ActUnknownError,
    LeaseRevokedError,
    LinkLostError,
    NotObservedError,
    PhoneError,
    UnsupportedTextError,
)
from . import prompts, tools
from .ends import RunOver, failed
from .ports import PhoneControl
from .prompts import Interrupt
from .tools import Command


async def perform(command: Command, *, phone: PhoneControl, lease: Lease) -> str:
    """Run a command; every failure that the model can deal with is its result."""
    try:
        return prompts.ok(await tools.perform(command, phone=phone, lease=lease))
    except LeaseRevokedError as err:
        raise RunOver(failed(prompts.REVOKED), Interrupt.CANCELED) from err
    except LinkLostError as err:
        raise RunOver(
            failed(f"The phone cannot be reached: {err}."),
            Interrupt.EXECUTION_ERROR,
        ) from err
    except ActUnknownError as err:
        return prompts.error(
            f"{err}. The action may or may not have happened. Verify on the next "
            "picture before you repeat it."
        )
    except NotObservedError as err:
        return prompts.error(f"{err}. Look at the next picture, then decide anew.")
    except UnsupportedTextError as err:
        return prompts.error(
            f"{err} Use other characters, the keyboard on the screen, or ask the person."
        )
    except PhoneError as err:
        return prompts.error(f"Not done: {err}. Try it another way.")
