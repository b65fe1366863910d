"""What is left of an entry after its removal: nothing."""

from pathlib import Path
from unittest.mock import patch

from homeassistant.components import persistent_notification
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.runtime import cache_folder, storage_folder

from .conftest import ENTRY_DATA, do_task


def _followed(hass: HomeAssistant) -> set[str]:
    """Return the ids of the notifications, kept up to date."""
    ids: set[str] = set()

    def follow(
        kind: persistent_notification.UpdateType,
        changed: dict[str, persistent_notification.Notification],
    ) -> None:
        if kind is persistent_notification.UpdateType.REMOVED:
            ids.difference_update(changed)
        else:
            ids.update(changed)

    persistent_notification.async_register_callback(hass, follow)
    return ids


def _issue(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Report something about an entry."""
    ir.async_create_issue(
        hass,
        DOMAIN,
        f"something_{entry.entry_id}",
        is_fixable=False,
        severity=ir.IssueSeverity.WARNING,
        translation_key="something",
    )


async def test_only_the_removed_entry_goes(
    hass: HomeAssistant, entry: MockConfigEntry, issue_registry: ir.IssueRegistry
) -> None:
    """Files, pictures, notifications and issues go; those of another phone stay."""
    other = MockConfigEntry(domain=DOMAIN, title="Aiden 2", data=ENTRY_DATA)
    other.add_to_hass(hass)
    assert await hass.config_entries.async_setup(other.entry_id)
    ids = _followed(hass)
    gone, stays = [await do_task(hass, item) for item in (entry, other)]
    for item in (entry, other):
        _issue(hass, item)
        picture = cache_folder(hass, item.entry_id) / "last.jpg"
        picture.parent.mkdir(parents=True)
        picture.touch()
    assert ids == {f"{DOMAIN}_{gone.id}", f"{DOMAIN}_{stays.id}"}

    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()

    assert ids == {f"{DOMAIN}_{stays.id}"}
    assert not issue_registry.async_get_issue(DOMAIN, f"something_{entry.entry_id}")
    assert issue_registry.async_get_issue(DOMAIN, f"something_{other.entry_id}")
    config = Path(hass.config.config_dir)
    assert [path for path in config.rglob("*") if entry.entry_id in path.name] == []
    assert storage_folder(hass, other.entry_id).exists()
    assert cache_folder(hass, other.entry_id).exists()

    await hass.config_entries.async_remove(other.entry_id)
    assert [path for path in config.rglob("*") if DOMAIN in path.name] == []


async def test_what_cannot_be_deleted_is_named(
    hass: HomeAssistant, entry: MockConfigEntry, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder that stays is the person's to delete."""
    await do_task(hass, entry)
    folder = storage_folder(hass, entry.entry_id)
    with patch("custom_components.aiden_duplex.shutil.rmtree"):
        await hass.config_entries.async_remove(entry.entry_id)
    assert f"{folder} cannot be deleted" in caplog.text


async def test_an_entry_that_was_never_loaded_is_removed(hass: HomeAssistant) -> None:
    """There is nothing to withdraw."""
    entry = MockConfigEntry(domain=DOMAIN, data=ENTRY_DATA)
    entry.add_to_hass(hass)
    await hass.config_entries.async_remove(entry.entry_id)
    assert hass.config_entries.async_entries(DOMAIN) == []
