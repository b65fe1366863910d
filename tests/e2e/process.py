"""What the system says about the process of Home Assistant."""

from pathlib import Path

from simulator.home.process import SimulatorProcess

from .world import World


def _process(world: World) -> Path:
    """Return what the system says about the process of Home Assistant."""
    assert world.hass.child is not None
    return Path("/proc") / str(world.hass.child.process.pid)


def open_files(world: World) -> list[str]:
    """Return what Home Assistant has open."""
    names = []
    for link in (_process(world) / "fd").iterdir():
        try:
            names.append(str(link.readlink()))
        except FileNotFoundError:
            continue
    return names


def threads_of(world: World) -> list[str]:
    """Return the names of the threads."""
    return [
        (task / "comm").read_text().strip()
        for task in (_process(world) / "task").iterdir()
    ]


def journals_among(threads: list[str]) -> list[str]:
    """Return the threads of this integration: one for each journal."""
    return [name for name in threads if name.startswith("journal")]


def sockets_to(world: World, simulator: SimulatorProcess) -> int:
    """Return how many connections Home Assistant has to a simulator."""
    own = {name[8:-1] for name in open_files(world) if name.startswith("socket:[")}
    ports = {int(simulator[name].rpartition(":")[2]) for name in ("http", "board_tcp")}
    rows = (_process(world) / "net" / "tcp").read_text().splitlines()[1:]
    fields = [row.split() for row in rows]
    return sum(
        int(row[2].rpartition(":")[2], 16) in ports and row[9] in own for row in fields
    )


def open_ptys(world: World) -> int:
    """Return how many terminal devices are open: one for each board."""
    return sum(name.startswith("/dev/pts/") for name in open_files(world))
