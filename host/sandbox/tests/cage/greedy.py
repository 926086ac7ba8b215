"""Tries every change to everything that it finds, as often as it can."""

import os
import stat
import sys

TOPS = [os.fsencode(os.environ[name]) for name in ("PROJECT", "OUTSIDE")]
FILES = [os.fsencode(path) for path in sys.argv[1:]]
NEW = [b"made", b".VSCode", b".git", b".Claude", b".GitHub", b".mcp.JSON", b"odd \xfe\n"]
FLAGS = [
    os.O_WRONLY | os.O_APPEND,
    os.O_RDWR,
    os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    os.O_WRONLY | os.O_CREAT | os.O_EXCL,
]


def attempt(change, *arguments, **options):
    try:
        return change(*arguments, **options)
    except OSError:
        return None


def write(path, flags):
    file = os.open(path, flags | os.O_NONBLOCK, 0o644)
    try:
        os.write(file, b"greedy")
        attempt(os.fchmod, file, 0o640)
        attempt(os.ftruncate, file, 3)
        attempt(os.link, b"/proc/self/fd/%d" % file, path + b".link", follow_symlinks=True)
    finally:
        os.close(file)


def everything():
    for top in TOPS:
        yield top, True
        for folder, folders, files in os.walk(top):
            for name in folders:
                yield os.path.join(folder, name), True
            for name in files:
                yield os.path.join(folder, name), False


def fill(folder):
    for name in NEW:
        path = os.path.join(folder, name)
        for flags in FLAGS:
            attempt(write, path, flags)
    attempt(os.mkdir, os.path.join(folder, b"folder"))
    attempt(os.mkdir, os.path.join(folder, b".VSCODE2"))
    attempt(os.mkdir, os.path.join(folder, b".IDEA"))
    attempt(os.symlink, TOPS[1], os.path.join(folder, b"out"))
    attempt(os.symlink, b"/etc", os.path.join(folder, b".Zed"))
    attempt(os.mkfifo, os.path.join(folder, b"pipe"))
    attempt(os.mknod, os.path.join(folder, b"node"), stat.S_IFREG | 0o644)
    attempt(os.open, folder, os.O_TMPFILE | os.O_RDWR)


def adorn(path):
    attempt(os.chmod, path, 0o755 if os.path.isdir(path) else 0o600)
    attempt(os.utime, path, (1, 1))
    attempt(os.utime, path, (1, 1), follow_symlinks=False)
    attempt(os.chown, path, os.getuid(), os.getgid())
    attempt(os.setxattr, path, b"user.greedy", b"x")


# First what changes in place, then what moves, then what removes.
for path, is_folder in list(everything()):
    if is_folder:
        adorn(path)
for path in FILES:
    for flags in FLAGS:
        attempt(write, path, flags)
    attempt(os.mkdir, path)
for path, is_folder in list(everything()):
    if is_folder:
        fill(path)
    else:
        for flags in FLAGS:
            attempt(write, path, flags)
        attempt(os.truncate, path, 1)
        adorn(path)
found = [path for path, _ in everything()]
folders = [path for path, is_folder in everything() if is_folder]
step = max(1, len(found) // 60)
for index, path in enumerate(found[::step]):
    for folder in folders[index % 7 :: 7]:
        attempt(os.link, path, os.path.join(folder, b"second"), follow_symlinks=False)
        attempt(os.symlink, path, os.path.join(folder, b"way"))
        attempt(os.rename, path, os.path.join(folder, b"moved"))
        attempt(os.rename, os.path.join(folder, b"moved"), os.path.join(folder, b".Cursor"))
for path in found:
    attempt(os.rename, path, path + b"~")
    attempt(os.rename, path + b"~", path)
for path in FILES:
    attempt(os.rename, path, path + b"~")
    attempt(os.unlink, path)
for path, is_folder in sorted(everything(), reverse=True):
    if len(path) % 2 == 0:
        attempt(os.rmdir if is_folder else os.unlink, path)
for path, is_folder in list(everything()):
    if is_folder:
        attempt(write, os.path.join(path, b"last"), os.O_WRONLY | os.O_CREAT)
print("done")
