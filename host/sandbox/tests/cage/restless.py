"""Another process of the user's: replaces, makes, renames and chmods until it is told to stop.

What is closed holds SECRET, what is protected holds `mine`, wherever it comes from. Prints what it finds
changed before it puts something else there."""

import os
import random
import shutil
import sys
import time

PROJECT, STAGE, SEED = os.environ["PROJECT"], os.environ["STAGE"], int(sys.argv[1])
CLOSED = sys.argv[2].split(",")
PROTECTED = sys.argv[3].split(",")
MODES = [0o000, 0o111, 0o311, 0o444, 0o700, 0o755]
chance = random.Random(SEED)
os.chmod(PROJECT, 0o755)
os.chdir(PROJECT)
open(os.path.join(STAGE, "begun"), "w").close()


def attempt(change, *arguments):
    try:
        return change(*arguments)
    except OSError:
        return None


def check(path):
    text = attempt(lambda: open(path).read())
    if text is not None and "evil" in text:
        print("changed", path, flush=True)


def make(path, text):
    beside = os.path.join(STAGE, "beside")
    with open(beside, "w") as file:
        file.write(text)
    attempt(os.makedirs, os.path.dirname(path) or ".", 0o755, True)
    attempt(os.rename, beside, path)


def replace():
    path = chance.choice(PROTECTED + CLOSED)
    check(path)
    make(path, "SECRET" if path in CLOSED else "mine")


def remove():
    path = chance.choice(PROTECTED + CLOSED)
    check(path)
    attempt(os.unlink, path)


def away_and_back():
    path = chance.choice(["keys", "nested", "libs", "nested/.git", ".vscode"])
    away = os.path.join(STAGE, "away")
    attempt(os.rename, path, away)
    attempt(os.rename, away, path)


def change_mode():
    path = chance.choice(["keys", "nested", "nested/.git", "libs", ".env", ".mcp.json", PROJECT])
    attempt(os.chmod, path, chance.choice(MODES))
    if path == PROJECT or chance.random() < 0.8:
        attempt(os.chmod, path, 0o755)


def new_repository():
    folder = "libs/" + chance.choice("abc")
    for part in ("config", "hooks/post-checkout"):
        check(os.path.join(folder, ".git", part))
    attempt(shutil.rmtree, folder)
    make(folder + "/.git/config", "mine")
    make(folder + "/.git/hooks/post-checkout", "mine")


while not os.path.exists(os.path.join(STAGE, "stop")):
    time.sleep(0.003)
    chance.choice([replace, replace, replace, remove, away_and_back, change_mode, new_repository])()
for path in [PROJECT] + [os.path.join(*parts) for parts in (("keys",), ("nested",), ("nested", ".git"), ("libs",))]:
    attempt(os.chmod, path, 0o755)
