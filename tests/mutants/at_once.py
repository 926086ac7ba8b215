"""One run of mutation testing: list, build once, try each mutant, then the few that need a build of their own."""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import switched

# A mutant that never stops making more of something must not take the machine.
MOST_MEMORY = 4 << 30
# More rounds of leaving out what does not compile are a mistake of the rewriting.
MOST_BUILDS = 40


class Run:
    def __init__(self, root: pathlib.Path, target: pathlib.Path, name: str, area):
        self.root, self.area = root, area
        self.folder = target / name
        self.tree = self.folder / "tree"
        self.build = target / "build"
        self.decided = self.folder / "results.jsonl"
        self.package = root / area.files[0].split("/src/")[0]
        self.lock = threading.Lock()

    def forget(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def mutants(self, wanted: str | None) -> list[switched.Mutant]:
        command = ["cargo", "mutants", "--list", "--json", "--package", self.area.package]
        command += [word for pattern in self.area.files for word in ("--file", pattern)]
        command += [word for path in self.area.left_out for word in ("--exclude", path)]
        text = subprocess.run(command, cwd=self.root, check=True, stdout=subprocess.PIPE, text=True).stdout
        return [one for one in switched.parse_list(text) if wanted is None or wanted in one.file]

    def all(self, mutants: list[switched.Mutant], jobs: int) -> dict[str, str]:
        """What became of each mutant, by name: caught, timeout, missed, unviable."""
        self.folder.mkdir(parents=True, exist_ok=True)
        results = self.known()
        names = {one.name for one in mutants}
        results = {name: found for name, found in results.items() if name in names}
        rest = [one for one in mutants if one.name not in results]
        print(f"{len(mutants)} mutants, {len(results)} decided earlier", flush=True)
        if rest:
            self.copy()
            program, ids = self.build_switched(rest)
            switchable = [one for one in rest if one.id in ids]
            alone = [one for one in rest if one.id not in ids]
            print(f"{len(switchable)} mutants in one build, {len(alone)} need one of their own", flush=True)
            results.update(self.try_switched(program, switchable, jobs))
            results.update(self.try_alone(alone))
        return results

    def known(self) -> dict[str, str]:
        if not self.decided.exists():
            return {}
        lines = (json.loads(line) for line in self.decided.read_text().splitlines())
        return {line["name"]: line["found"] for line in lines}

    def note(self, name: str, found: str) -> None:
        with self.lock, open(self.decided, "a") as file:
            file.write(json.dumps({"name": name, "found": found}) + "\n")
        if found == "missed":
            print(f"missed: {name}", flush=True)

    def copy(self) -> None:
        """The tree as it is now, without what git ignores."""
        shutil.rmtree(self.tree, ignore_errors=True)
        listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=self.root, check=True, stdout=subprocess.PIPE)
        for name in listed.stdout.decode().split("\0"):
            source = self.root / name
            if name and source.is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, self.tree / name)

    def build_switched(self, mutants: list[switched.Mutant]) -> tuple[pathlib.Path, set[int]]:
        """The test program that has the mutants, and the numbers of those that it has."""
        by_file = collections.defaultdict(list)
        for one in mutants:
            by_file[one.file].append(one)
        files = [switched.File(path, (self.root / path).read_bytes(), these) for path, these in by_file.items()]
        dropped: set[int] = set()
        library = str((self.package / "src" / "lib.rs").relative_to(self.root))
        for _ in range(MOST_BUILDS):
            regions, ids = {}, set()
            for file in files:
                text, regions[file.path], used = file.render(dropped)
                (self.tree / file.path).write_bytes(text)
                ids |= used
            root = self.tree / library
            text = root.read_bytes() if library in regions else (self.root / library).read_bytes()
            root.write_bytes(text + switched.ROOT.encode())
            program, errors = self.compile()
            if program is not None:
                return program, ids
            blamed = set()
            for path, start, end, message in errors:
                text = (self.tree / path).read_bytes()
                these = switched.blamed(text, regions.get(path, []), start, end)
                if not these:
                    print(f"not by a mutant alone: {path}: {message}", flush=True)
                blamed |= these
            if not blamed:
                sys.exit("the tree does not build, and no mutant is to blame")
            dropped |= blamed
        sys.exit(f"the tree does not build after {MOST_BUILDS} rounds of leaving out mutants")

    def environment(self, **more: str) -> dict[str, str]:
        return {**os.environ, "CARGO_TARGET_DIR": str(self.build), "CARGO_PROFILE_DEV_DEBUG": "0", **more}

    def compile(self):
        command = ["cargo", "test", "--no-run", "--lib", "--package", self.area.package, "--message-format", "json", "--quiet"]
        # Built once and run thousands of times.
        command += ["--config", 'profile.dev.package."*".opt-level=1', "--config", "profile.dev.opt-level=1"]
        done = subprocess.run(command, cwd=self.tree, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        program, errors = None, []
        for line in done.stdout.splitlines():
            message = json.loads(line)
            if message.get("reason") == "compiler-artifact" and message.get("executable") and message["profile"]["test"]:
                program = pathlib.Path(message["executable"])
            if message.get("reason") == "compiler-message" and message["message"]["level"] == "error":
                spans = [span for span in message["message"]["spans"] if span["is_primary"]]
                errors += [(span["file_name"], span["byte_start"], span["byte_end"], message["message"]["message"]) for span in spans]
        if done.returncode != 0 and not errors:
            sys.exit(f"the tree does not build:\n{done.stderr[-4000:]}")
        return (program if done.returncode == 0 else None), errors

    def try_switched(self, program: pathlib.Path, mutants: list[switched.Mutant], jobs: int) -> dict[str, str]:
        if not mutants:
            return {}
        # Nothing is switched on: then all tests must pass, or nothing that follows means anything.
        started = time.monotonic()
        if self.one(program, 0) != "missed":
            sys.exit("the tests fail without a mutant")
        print(f"a run of the tests takes {time.monotonic() - started:.1f} s", flush=True)
        # A run that is cut off has tried a fair sample.
        mutants = random.sample(mutants, len(mutants))

        def attempt(mutant: switched.Mutant) -> tuple[str, str]:
            found = self.one(program, mutant.id)
            self.note(mutant.name, found)
            return mutant.name, found

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            return dict(pool.map(attempt, mutants))

    def one(self, program: pathlib.Path, id: int) -> str:
        """Runs the tests until one fails."""

        def bounds() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        folder = self.tree / self.package.relative_to(self.root)
        child = subprocess.Popen(
            [program, *self.area.tests],
            cwd=folder,
            env=self.environment(TOOLBAY_MUTANT=str(id), CARGO_MANIFEST_DIR=str(folder), RUST_BACKTRACE="0"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=bounds,
        )
        late = threading.Event()

        def stop() -> None:
            late.set()
            os.killpg(child.pid, signal.SIGKILL)

        timer = threading.Timer(self.area.timeout, stop)
        timer.start()
        try:
            for line in child.stdout:
                if line.rstrip().endswith(b"... FAILED"):
                    os.killpg(child.pid, signal.SIGKILL)
                    break
            code = child.wait()
        finally:
            timer.cancel()
            child.stdout.close()
        if late.is_set():
            return "timeout"
        return "missed" if code == 0 else "caught"

    def try_alone(self, mutants: list[switched.Mutant]) -> dict[str, str]:
        """Each in a build of its own, in the same folder: only the crate is built anew."""
        results = {}
        if mutants:
            self.copy()
        for number, mutant in enumerate(mutants, 1):
            source = (self.root / mutant.file).read_bytes()
            (self.tree / mutant.file).write_bytes(mutant.applied(source))
            program, _ = self.compile()
            found = "unviable" if program is None else self.one(program, 0)
            (self.tree / mutant.file).write_bytes(source)
            self.note(mutant.name, found)
            results[mutant.name] = found
            if number % 20 == 0:
                print(f"{number} of {len(mutants)} built", flush=True)
        return results
