"""CircuitPython, before USB connects: choose what the phone sees.

Thin on purpose, because it runs on a board only. Nothing here has run on hardware yet.

The profile is a byte in the microcontroller's memory. If ``code.py`` has not said three
times in a row that it runs well, the board comes up with profile 0, no HID at all. With the
service pin held to ground at power-up the CIRCUITPY drive and the serial console stay, so
that files can be changed; otherwise the phone sees HID and nothing else.
"""

from aiden_bridge import profiles, settings
import board
import digitalio
import microcontroller
import storage
import supervisor
import usb_cdc
import usb_hid
import usb_midi

service = digitalio.DigitalInOut(getattr(board, settings.SERVICE_PIN))
service.switch_to_input(pull=digitalio.Pull.UP)
in_service = not service.value
service.deinit()

profile = settings.profile_at_boot(microcontroller.nvm)
if in_service:
    profile = profiles.NONE

usb_midi.disable()
if not in_service:
    usb_cdc.disable()
    storage.disable_usb_drive()
supervisor.set_usb_identification("Aiden", "Aiden Bridge")

devices = [
    usb_hid.Device(
        report_descriptor=part["descriptor"],
        usage_page=part["usage_page"],
        usage=part["usage"],
        report_ids=(part["report_id"],),
        in_report_lengths=(part["in_len"],),
        out_report_lengths=(part["out_len"],),
    )
    for part in profiles.DESCRIPTORS[profile]
]
usb_hid.enable(tuple(devices))
