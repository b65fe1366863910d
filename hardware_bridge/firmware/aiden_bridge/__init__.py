"""The bridge board: DX1 on one side, USB HID on the other.

Pure modules: they import nothing of a board and run unchanged under CPython,
CircuitPython and MicroPython. ``board.Board`` is the whole; the port, the USB side, the
clock and the pins are given to it.
"""

VERSION = "0.1.0"
