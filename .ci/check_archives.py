"""Check the built wheel and source archive: real files, no links, the plug-in packages within."""

from __future__ import annotations

import stat
import sys
import tarfile
import zipfile
from pathlib import Path

PLUG_INS = ("policies", "surrogates", "workloads")


def wheel_members(path: Path) -> tuple[list[str], list[str]]:
    """Return names of all files and of those that are links."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    links = [member.filename for member in members if stat.S_ISLNK(member.external_attr >> 16)]
    return [member.filename for member in members], links


def sdist_members(path: Path) -> tuple[list[str], list[str]]:
    """Return names of all files, without the archive's own folder, and of those that are links."""
    with tarfile.open(path) as archive:
        members = archive.getmembers()
    names = [member.name.partition("/")[2] for member in members]
    return names, [member.name for member in members if member.issym() or member.islnk()]


def faults(path: Path) -> list[str]:
    """Return what is wrong with one archive, one sentence each."""
    names, links = wheel_members(path) if path.suffix == ".whl" else sdist_members(path)
    found = [f"{path.name} holds the link {link}." for link in links]
    wanted = ["hpcsim/__init__.py", "hpcsim/py.typed", *(f"hpcsim/{name}/__init__.py" for name in PLUG_INS)]
    found += [f"{path.name} lacks {name}." for name in wanted if name not in names]
    if path.suffix == ".whl":
        top = {name.partition("/")[0] for name in names}
        found += [
            f"{path.name} would install a top-level {name}."
            for name in sorted(top)
            if name != "hpcsim" and not name.endswith(".dist-info")
        ]
    return found


def main(paths: list[str]) -> int:
    """Report every fault on standard error; return 1 if there is one."""
    found = [fault for path in paths for fault in faults(Path(path))]
    sys.stderr.writelines(f"{fault}\n" for fault in found)
    return 1 if found or len(paths) < 2 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
