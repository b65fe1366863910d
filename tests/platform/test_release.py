"""The archive that HACS installs, and what must agree with it."""

import json
from pathlib import Path
import re
import subprocess
import tomllib
from typing import Any
import zipfile

from homeassistant.const import __version__ as ha_version
import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMPONENT = "custom_components/aiden_duplex"


def _json(name: str) -> Any:
    """Return a JSON file of the repository."""
    return json.loads((ROOT / name).read_text())


def _package(output: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script as the release does."""
    return subprocess.run(
        [ROOT / "script/package", "--output", output, *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )


def _files() -> set[str]:
    """Return what git has of the component, or would take."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."],
        capture_output=True,
        check=True,
        cwd=ROOT / COMPONENT,
        text=True,
        timeout=60,
    )
    names = {name for name in listed.stdout.split("\0") if name}
    return {name for name in names if (ROOT / COMPONENT / name).exists()}


@pytest.fixture(name="archive", scope="module")
def archive_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a fresh archive."""
    output = tmp_path_factory.mktemp("dist")
    built = _package(output)
    assert built.returncode == 0, built.stderr
    return Path(built.stdout.strip())


def test_the_archive_is_the_component(archive: Path) -> None:
    """HACS unpacks it into the component's folder: every file, nothing else, unchanged."""
    with zipfile.ZipFile(archive) as file:
        assert file.testzip() is None
        names = file.namelist()
        assert sorted(names) == sorted(_files())
        for name in names:
            assert file.read(name) == (ROOT / COMPONENT / name).read_bytes(), name
        assert json.loads(file.read("manifest.json"))["domain"] == "aiden_duplex"
        translations = [name for name in names if name.startswith("translations/")]
        assert "translations/en.json" in translations
        assert all(json.loads(file.read(name)) for name in translations)


def test_the_same_files_make_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    """Whoever builds a release can compare it."""
    built = _package(tmp_path)
    assert Path(built.stdout.strip()).read_bytes() == archive.read_bytes()


def test_hacs_looks_for_that_archive(archive: Path) -> None:
    """HACS installs the release's file with this name, for the tested Home Assistant."""
    hacs = _json("hacs.json")
    assert hacs["zip_release"] is True
    assert hacs["filename"] == archive.name == "aiden_duplex.zip"
    assert hacs["homeassistant"].split(".")[:2] == ha_version.split(".")[:2]


def test_one_version_everywhere(tmp_path: Path) -> None:
    """Manifest, project and tag say the same; another tag builds nothing."""
    version = _json(f"{COMPONENT}/manifest.json")["version"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == version
    assert _package(tmp_path / "good", "--tag", f"v{version}").returncode == 0
    refused = _package(tmp_path / "bad", "--tag", "v99.0.0")
    assert refused.returncode == 1
    assert f"use v{version}" in refused.stderr
    assert not (tmp_path / "bad").exists()


@pytest.mark.parametrize(
    "workflow",
    sorted((ROOT / ".github/workflows").glob("*.yml")),
    ids=lambda it: it.stem,
)
def test_workflows_run_what_is_pinned(workflow: Path) -> None:
    """A moved tag of somebody else's action changes nothing here; nothing runs for ever."""
    text = workflow.read_text()
    for action in re.findall(r"uses: (?!\./)(\S+)", text):
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
    content = yaml.safe_load(text)
    assert "concurrency" in content
    assert set(content["permissions"].values()) <= {"read"}
    for name, job in content["jobs"].items():
        assert "uses" in job or job["timeout-minutes"] <= 60, name
