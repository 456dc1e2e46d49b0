"""Power loss, played: the writes of a process are recorded by strace, and a folder is rebuilt of what was synced.

The model is that of a disk with a cache: bytes written to a file are safe once that file was synced (fsync, fdatasync),
by a call that began after them and is done; a file that appears, or takes another name, does so once its folder was
synced, or the file itself (as ext4, xfs and btrfs have it). Everything else is lost: the cruellest case that the calls
allow.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

CALLS = (
    "openat,open,creat,write,pwrite64,writev,pwritev,lseek,ftruncate,fsync,fdatasync,rename,renameat,renameat2,"
    "unlink,unlinkat,mkdir,mkdirat,copy_file_range,fallocate"
)
LINE = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+)")
FILE = re.compile(r"^(?:AT_FDCWD(?:<[^>]*>)?|\d+)<?([^>]*)>?")
STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')


def unhex(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


@dataclass
class Event:
    """One call that changes a file, or makes it safe."""

    kind: str
    path: str = ""
    at: int = 0
    data: bytes = b""
    to: str = ""


@dataclass
class File:
    """A file, whatever its name: what it held, what changed it and when, and which changes are safe."""

    before: bytes = b""
    changes: list[tuple[int, Event]] = field(default_factory=list)
    safe: int = 0

    def content(self) -> bytes:
        """What is found after power was lost."""
        now = bytearray(self.before)
        for _, event in (change for change in self.changes if change[0] < self.safe):
            if event.kind == "truncate":
                now.clear()
            elif event.kind == "resize":
                now.extend(b"\0" * max(0, event.at - len(now)))
                del now[event.at :]
            elif event.kind == "write":
                at = len(now) if event.at < 0 else event.at
                now.extend(b"\0" * max(0, at - len(now)))
                now[at : at + len(event.data)] = event.data
        return bytes(now)


@dataclass
class Recorded:
    """All that a process did to a folder, in order, and when it acknowledged what."""

    folder: Path
    before: dict[str, bytes]
    folders: set[str]
    events: list[Event] = field(default_factory=list)

    @staticmethod
    def of(command: list[str], folder: Path) -> Recorded:
        """Runs a command and records what it does to a folder; each line it prints is an acknowledgement."""
        before = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        folders = {str(path) for path in [folder, *folder.rglob("*")] if path.is_dir()}
        recorded = Recorded(folder, before, folders)
        with tempfile.NamedTemporaryFile("r") as log:
            done = subprocess.run(
                ["strace", "-f", "-y", "-xx", "-s", "4000000", "-e", f"trace={CALLS}", "-o", log.name, *command],
                capture_output=True,
            )
            assert done.returncode == 0, done.stderr
            recorded._parse(log.read())
        return recorded

    def _parse(self, log: str) -> None:
        # A call that another thread interrupts is told in two halves.
        begun: dict[str, str] = {}
        places: dict[tuple[str, str], int] = {}
        for line in log.splitlines():
            process = line.split(" ", 1)[0]
            if line.endswith("<unfinished ...>"):
                half = begun[process] = line.removesuffix("<unfinished ...>").rstrip()
                self._begin(process, half)
                continue
            if "resumed>" in line:
                line = begun.pop(process, "") + line.split("resumed>", 1)[1]
            else:
                self._begin(process, line)
            found = LINE.match(line)
            if found is None or found[3].startswith("-"):
                continue
            self._call(process, found[1], found[2], int(found[3], 0), places)

    def _begin(self, process: str, line: str) -> None:
        """A sync makes safe what was written before it began."""
        found = re.match(r"^\d+ +f(?:data)?sync\(\d+<((?:\\x[0-9a-f]{2})*)>", line)
        path = unhex(found[1]).decode("utf-8", "replace") if found else ""
        if found and self._ours(path):
            self.events.append(Event("begin", path, to=process))

    def _call(self, process: str, call: str, arguments: str, result: int, places: dict[tuple[str, str], int]) -> None:
        strings = STRING.findall(arguments)
        assert not any(cut for _, cut in strings), "strace left bytes out"
        texts = [unhex(text) for text, _ in strings]
        described = re.match(r"^(\d+)<((?:\\x[0-9a-f]{2})*)>", arguments)
        path = unhex(described[2]).decode("utf-8", "replace") if described else ""
        handle = (described[1], path) if described else ("", "")
        if call == "write" and described and described[1] == "1":
            self.events.append(Event("said", data=texts[0]))
        elif call in ("openat", "open", "creat"):
            opened = texts[-1].decode("utf-8", "replace")
            if not self._ours(opened):
                return
            # A descriptor is new: it writes from the start, or from the end.
            number = str(result)
            for known in [known for known in places if known[0] == number]:
                del places[known]
            places[(number, opened)] = -1 if "O_APPEND" in arguments else 0
            if "O_TRUNC" in arguments or "O_CREAT" in arguments:
                self.events.append(Event("truncate" if "O_TRUNC" in arguments else "create", opened))
        elif call in ("rename", "renameat", "renameat2"):
            source, target = (text.decode("utf-8", "replace") for text in texts[-2:])
            if self._ours(source):
                self.events.append(Event("rename", source, to=target))
        elif call in ("unlink", "unlinkat", "mkdir", "mkdirat"):
            target = texts[-1].decode("utf-8", "replace")
            if self._ours(target):
                self.events.append(Event("unlink" if "unlink" in call else "mkdir", target))
        elif self._ours(path):
            if call in ("fsync", "fdatasync"):
                self.events.append(Event("sync", path, to=process))
            elif call == "lseek":
                places[handle] = result
            elif call == "ftruncate":
                self.events.append(Event("resize", path, int(arguments.rsplit(", ", 1)[1])))
            elif call == "pwrite64":
                self.events.append(Event("write", path, int(arguments.rsplit(", ", 1)[1]), texts[0][:result]))
            elif call in ("write", "writev"):
                at = places.get(handle, 0)
                self.events.append(Event("write", path, at, b"".join(texts)[:result]))
                places[handle] = -1 if at < 0 else at + result
            elif call in ("copy_file_range", "pwritev", "fallocate"):
                raise AssertionError(f"{call} is not recorded")

    def _ours(self, path: str) -> bool:
        return path.startswith(str(self.folder))

    def moments(self, count: int) -> list[int]:
        """Some numbers of events, all along the way; the last one is before the end."""
        said = [at for at, event in enumerate(self.events) if event.kind == "said"]
        step = max(1, len(said) // count)
        return [at + 1 for at in said[step - 1 :: step]][:count]

    def acknowledged(self, cut: int) -> set[str]:
        """What was acknowledged by then."""
        said = b"".join(event.data for event in self.events[:cut] if event.kind == "said").decode()
        return {line for line in said.split("\n")[:-1] if line}

    def rebuild(self, out: Path, cut: int) -> None:
        """Makes the folder as it is found when power was lost after so many events."""
        names = {name: File(data) for name, data in self.before.items()}
        safe = dict(names)
        begun: dict[str, int] = {}
        for at, event in enumerate(self.events[:cut]):
            if event.kind in ("create", "truncate", "write", "resize"):
                names.setdefault(event.path, File()).changes.append((at, event))
            elif event.kind == "rename":
                names[event.to] = names.pop(event.path)
            elif event.kind == "unlink":
                names.pop(event.path, None)
            elif event.kind == "begin":
                begun[event.to] = at
            elif event.kind == "sync":
                if event.path in names:
                    file = names[event.path]
                    # One that began earlier may end later.
                    file.safe = max(file.safe, begun[event.to])
                    # Bringing a file to the disk brings its name along.
                    safe[event.path] = file
                else:
                    for name in {*names, *safe}:
                        if str(Path(name).parent) == event.path.rstrip("/"):
                            if name in names:
                                safe[name] = names[name]
                            else:
                                safe.pop(name, None)
        folders = self.folders | {event.path for event in self.events[:cut] if event.kind == "mkdir"}
        for folder in sorted(folders):
            (out / Path(folder).relative_to(self.folder)).mkdir(parents=True, exist_ok=True)
        for name, file in safe.items():
            target = out / Path(name).relative_to(self.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.content())
