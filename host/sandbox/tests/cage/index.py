# Tries to leave a file where git reads it back, in every way that there is to put one there. Says what was done.
import ctypes, hashlib, os, struct, zlib

RENAME_EXCHANGE = 2
libc = ctypes.CDLL(None)


def blob(text):
    whole = b"blob %d\0" % len(text) + text
    name = hashlib.sha1(whole).hexdigest()
    os.makedirs(".git/objects/" + name[:2], exist_ok=True)
    with open(".git/objects/%s/%s" % (name[:2], name[2:]), "wb") as file:
        file.write(zlib.compress(whole))
    return bytes.fromhex(name)


def index(*paths):
    evil = blob(b"#!/bin/sh\ntouch $PROJECT/ran-outside\n")
    body = b"DIRC" + struct.pack(">II", 2, len(paths))
    for path in sorted(paths):
        entry = struct.pack(">10I", 0, 0, 0, 0, 0, 0, 0o100755, 0, 0, 0) + evil + struct.pack(">H", len(path)) + path
        body += entry + b"\0" * (8 - len(entry) % 8)
    return body + hashlib.sha1(body).digest()


EVIL = {
    ".git/index": index(b".git/hooks/post-checkout", b"../outside"),
    ".git/MERGE_RR": b"0" * 40 + b"\t../outside\0",
    ".git/sequencer/opts": b"[options]\n\tstrategy = /../evil\n",
}
FINE = {
    ".git/index": index(b"README"),
    ".git/MERGE_RR": b"0" * 40 + b"\tREADME\0",
    ".git/sequencer/opts": b"[options]\n\tstrategy = ort\n",
}


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def rewritten(place, content):
    write(place, content)


def made_anew(place, content):
    os.unlink(place)
    write(place, content)


def truncated(place, content):
    os.truncate(place, 4)


def through_a_handle(place, content):
    handle = os.open(place, os.O_RDONLY)
    write("/proc/self/fd/%d" % handle, content)


def renamed(place, content):
    write(place + ".lock", content)
    os.rename(place + ".lock", place)


def linked(place, content):
    write(place + ".lock", content)
    os.unlink(place)
    os.link(place + ".lock", place)


def exchanged(place, content):
    write(place + ".lock", content)
    done = libc.renameat2(-100, (place + ".lock").encode(), -100, place.encode(), RENAME_EXCHANGE)
    if done != 0:
        raise OSError()


def exchanged_the_other_way(place, content):
    write(place + ".lock", content)
    done = libc.renameat2(-100, place.encode(), -100, (place + ".lock").encode(), RENAME_EXCHANGE)
    if done != 0:
        raise OSError()


def by_a_link(place, content):
    os.unlink(place)
    os.symlink("../README", place)


def changed_afterwards(place, content):
    with open(place + ".lock", "wb") as file:
        file.write(FINE[place])
        file.flush()
        os.rename(place + ".lock", place)
        file.seek(0)
        file.truncate()
        file.write(content)


def changed_by_an_older_name(place, content):
    write(place + ".lock", FINE[place])
    os.link(place + ".lock", ".git/objects/other")
    os.rename(place + ".lock", place)
    write(".git/objects/other", content)


os.makedirs(".git/sequencer", exist_ok=True)
for place in EVIL:
    for way in [rewritten, made_anew, truncated, through_a_handle, renamed, linked, exchanged, exchanged_the_other_way, by_a_link,
                changed_afterwards, changed_by_an_older_name]:
        write(place + ".lock", FINE[place])
        os.rename(place + ".lock", place)
        assert open(place, "rb").read() == FINE[place]
        try:
            way(place, EVIL[place])
        except OSError:
            pass
        try:
            with open(place, "rb") as file:
                if file.read() != FINE[place]:
                    print(place, way.__name__)
        except OSError:
            pass
        for left in [place + ".lock", ".git/objects/other"]:
            if os.path.lexists(left):
                os.unlink(left)
        if os.path.islink(place):
            print(place, "is a link")
            os.unlink(place)
print("done")
