"""Reads and changes what it must not, as often as it can in a moment, while others replace it."""

import os
import random
import sys
import time

SEED = int(sys.argv[1])
CLOSED = sys.argv[2].split(",")
PROTECTED = sys.argv[3].split(",") + ["libs/%s/.git/%s" % (one, part) for one in "abc" for part in ("config", "hooks/post-checkout")]
chance = random.Random(SEED)
os.chdir(os.environ["PROJECT"])


def opened(path, flags, folder=None):
    file = os.open(path, flags | os.O_NONBLOCK, 0o644, dir_fd=folder)
    try:
        if b"SECRET" in os.read(file, 100):
            print("read", path, flush=True)
    finally:
        os.close(file)


def read(path):
    opened(path, chance.choice([os.O_RDONLY, os.O_RDONLY | os.O_CREAT, os.O_RDWR]))


def read_by_handle(path):
    handle = os.open(path, os.O_PATH)
    try:
        opened("/proc/self/fd/%d" % handle, os.O_RDONLY)
    finally:
        os.close(handle)


def read_in_folder(path):
    folder = os.open(os.path.dirname(path) or ".", os.O_PATH)
    try:
        opened(os.path.basename(path), os.O_RDONLY, folder)
    finally:
        os.close(folder)


def read_by_link(path):
    link = "link%d" % chance.randrange(4)
    try:
        os.symlink(os.path.abspath(path), link)
    except OSError:
        pass
    opened(link, os.O_RDONLY)


def read_by_second_name(path):
    os.link(path, "second%d" % SEED)
    opened("second%d" % SEED, os.O_RDONLY)


def write(path):
    file = os.open(path, chance.choice([os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC]), 0o644)
    os.write(file, b"evil")
    os.close(file)


def write_over(path):
    with open("mine%d" % SEED, "w") as file:
        file.write("evil")
    os.rename("mine%d" % SEED, path)


def shake(path):
    folder = chance.choice(["keys", "nested", "nested/.git", "libs", os.path.dirname(path) or "keys"])
    chance.choice([lambda: os.chmod(folder, chance.choice([0o000, 0o311, 0o755])), lambda: os.chmod(folder, 0o755),
                   lambda: os.rename(folder, "moved"), lambda: os.rename("moved", folder), lambda: os.rename(path, "moved"),
                   lambda: os.listdir(folder)])()


end = time.monotonic() + float(sys.argv[4])
while time.monotonic() < end:
    for change in (read, read_by_handle, read_in_folder, read_by_link, read_by_second_name, shake):
        try:
            change(chance.choice(CLOSED))
        except OSError:
            pass
    for change in (write, write_over, shake):
        try:
            change(chance.choice(PROTECTED))
        except OSError:
            pass
print("done")
