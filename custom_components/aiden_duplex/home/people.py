"""Who of Home Assistant's users is a person."""

from homeassistant.core import HomeAssistant

from ..tasks.model import Assent, ConsentHow, Origin


async def async_is_person(hass: HomeAssistant, origin: Origin) -> bool:
    """Return whether a request certainly comes from a person.

    A signed-in user, or somebody who talks to a device; only devices give their id along.
    An automation has no user, an add-on has one that the system made.
    """
    if origin.user_id is None:
        return origin.source == "conversation" and origin.device_id is not None
    user = await hass.auth.async_get_user(origin.user_id)
    return user is not None and user.is_active and not user.system_generated


async def async_assent(
    hass: HomeAssistant, origin: Origin, how: ConsentHow
) -> Assent | None:
    """Return the yes of a person who used Home Assistant; None if nobody did."""
    if origin.user_id is None or not await async_is_person(hass, origin):
        return None
    return Assent(by=origin, how=how)
