"""The scripted brain: what the simulated models think.

It knows only what it is sent: messages, tools, pictures. It has no branch for a single
task and no way to the simulated phone's state.
"""
