"""What the checks of the flow say before they ask anybody."""

from homeassistant.core import HomeAssistant
import pytest

from custom_components.aiden_duplex.home.checks import (
    Problem,
    async_check_model,
    async_check_picture,
)


@pytest.mark.parametrize("part", ["foreground", "background"])
@pytest.mark.parametrize(
    "address", ["", "models.example", "https://", "file:///etc", "http://[::1/v1"]
)
async def test_an_address_that_is_none_is_refused(
    hass: HomeAssistant, part: str, address: str
) -> None:
    """Nothing is sent anywhere."""
    model = {"base_url": address, "api_key": None, "model": "x"}
    assert await async_check_model(hass, part, model) == Problem(key="address_invalid")


@pytest.mark.parametrize("part", ["foreground", "background"])
async def test_a_refusal_names_the_model(
    hass: HomeAssistant, socket_enabled: None, part: str
) -> None:
    """Which model it was stands before what was refused."""
    model = {"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-1", "model": "mine"}
    problem = await async_check_model(hass, part, model)
    assert problem is not None
    assert problem.key == "model_network"
    assert problem.detail.startswith("mine: ")


async def test_a_picture_is_one_or_none(hass: HomeAssistant) -> None:
    """Two sources are a mistake; none is a phone that gets its picture later."""
    nothing = await async_check_picture(hass, snapshot_url=None, camera_entity_id=None)
    assert nothing is None
    both = await async_check_picture(
        hass, snapshot_url="http://127.0.0.1:9/", camera_entity_id="camera.phone"
    )
    assert both == Problem(key="picture_twice")


async def test_a_camera_that_is_not_there_is_named(hass: HomeAssistant) -> None:
    """The problem is the camera's, not an address's."""
    problem = await async_check_picture(
        hass, snapshot_url=None, camera_entity_id="camera.phone"
    )
    assert problem is not None
    assert problem.key == "camera_unusable"
    assert "camera.phone" in problem.detail
