//! Ordinary work of a developer, in the cage that most commands get.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::world::{ALONE, KINDS, User, World, left_out, not_run};

fn has(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .env("PATH", crate::world::search_path())
        .output();
    found.is_ok_and(|output| output.status.success())
}

/// Scripts with a name each, and the programs that they need.
type Scripts<'a> = &'a [(&'a str, &'a [&'a str], &'a str)];

/// Runs scripts in the cage that most commands get.
fn all_work(profile: &str, scripts: Scripts<'_>) {
    all_work_in("namespaces", profile, scripts);
}

fn all_work_everywhere(profile: &str, scripts: Scripts<'_>) {
    for kind in KINDS {
        all_work_in(kind, profile, scripts);
    }
}

/// Runs scripts that need certain programs; those that are not here are said aloud.
fn all_work_in(kind: &str, profile: &str, scripts: Scripts<'_>) {
    let mut missing_programs = 0;
    for user in User::all() {
        let world = World::new(Path::new("/tmp"), user, &format!("everyday-{profile}"));
        for (what, needs, script) in scripts {
            if let Some(missing) = needs.iter().find(|program| !has(program)) {
                not_run(&format!("{what} (there is no {missing})"));
                missing_programs += 1;
                continue;
            }
            world.fresh_project();
            let output = world.caged(kind, profile, &[], &format!("set -e; {script}"));
            if output.status.code() == Some(99) {
                left_out(kind, user, &String::from_utf8_lossy(&output.stderr));
                break;
            }
            assert!(
                output.status.success(),
                "{what} in {kind} as {}: {}\n{}\n{}",
                user.name(),
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    println!(
        "{} scripts in {kind} with {profile}, {missing_programs} left out",
        scripts.len()
    );
}

/// Commits need an identity and write to the repository.
const IDENTITY: &str =
    "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;";

/// With a first commit, too.
const START: &str = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; \
    git add README; git commit -qm first;";

#[test]
fn git_reads_and_refuses_to_write_by_default() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    all_work_everywhere(
        "workspace",
        &[
            (
                "git status",
                &["git"],
                "git status --short | grep -q README",
            ),
            ("git diff", &["git"], "git diff; git diff --stat"),
            (
                "git log",
                &["git"],
                "! git log 2>err; grep -q 'does not have any commits' err",
            ),
            ("git add is refused", &["git"], "! git add README"),
            (
                "git in the private folder",
                &["git"],
                "cd $TMPDIR; git init -q r; cd r; git config user.x y; touch a; git add a",
            ),
        ],
    );
}

#[test]
fn git_writes_where_it_is_allowed_to() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    all_work_everywhere(
        "git",
        &[
            (
                "git commit",
                &["git"],
                &format!(
                    "{IDENTITY} git add README; git commit -qm x; git log --oneline | grep -q x; git branch b; git checkout -q b; git tag t"
                ),
            ),
            (
                "branches, merges and stashes",
                &["git"],
                &format!(
                    "{START} git checkout -qb side; echo s > s; git add s; git commit -qm s; git switch -q -; echo m > m; git add m; git commit -qm m; \
                    git merge -q --no-ff -m merged side; test -e s; echo more >> m; git stash push -q; ! grep -q more m; git stash pop -q; grep -q more m; \
                    git commit -qam more; git branch -D side; git tag -a v1 -m one; git worktree list; git gc -q"
                ),
            ),
            (
                "rebase, cherry-pick, revert, reset, conflicts",
                &["git"],
                &format!(
                    "{START} b=$(git branch --show-current); git checkout -qb side; echo s > s; git add s; git commit -qm s; git switch -q $b; echo m > m; git add m; \
                    git commit -qm m; git rebase -q $b side; git rebase -q --apply HEAD~1; git switch -q $b; git cherry-pick side >/dev/null; test -e s; \
                    git revert --no-edit HEAD >/dev/null; ! test -e s; git reset -q --hard HEAD~1; git checkout -qb c1; echo 1 > m; git commit -qam 1; \
                    git checkout -qb c2 HEAD~1; echo 2 > m; git commit -qam 2; ! git merge -q c1 >/dev/null; git merge --abort; ! git rebase -q c1 2>/dev/null; \
                    echo 3 > m; git add m; GIT_EDITOR=true git rebase --continue >/dev/null; git bisect start HEAD HEAD~2 >/dev/null; git bisect reset >/dev/null"
                ),
            ),
            (
                "fetch and pull from a folder",
                &["git"],
                &format!(
                    "{START} git clone -q . $TMPDIR/other; (cd $TMPDIR/other; echo o > o; git add o; git commit -qm o); git fetch -q $TMPDIR/other; git log -1 --format=%s FETCH_HEAD | grep -q o; \
                    git pull -q $TMPDIR/other HEAD; test -e o"
                ),
            ),
            (
                "no other place of objects or settings",
                &["git"],
                "! echo /x > .git/objects/info/alternates; ! echo x > .git/info/attributes; ! echo x > .git/config.worktree; ! mkdir -p .git/worktrees/x; ! mkdir -p .git/modules/x; ! echo x > .git/x",
            ),
            (
                "no repository in a repository",
                &["git"],
                "! git init -q .git/x 2>/dev/null; ! git init -q .git/rr-cache/x 2>/dev/null; ! git init -q --bare .git/lfs/x 2>/dev/null; ! test -e .git/x; ! find .git/lfs .git/rr-cache -name config | grep -q .",
            ),
            (
                "no way around by moving",
                &["git"],
                "mkdir -p .git/refs/a sub; echo x > .git/refs/a/alternates; echo x > .git/refs/config; ! mv .git/objects/info .git/objects/old; ! mv -T .git/refs/a .git/objects/info; \
                ! mv .git/refs/config .git/config; ! python3 -c 'import os; os.rename(\".git/refs/a\", \"sub/a\")'; ! python3 -c 'import os; os.rename(\"README\", \".git/HEAD\")'; \
                ! python3 -c 'import os; os.link(\".git/HEAD\", \"HEAD\")'; ! ln -s ../../sub .git/objects/zz; ! test -e .git/objects/info/alternates",
            ),
            (
                "no configuration",
                &["git"],
                "! git config core.fsmonitor ./x; ! grep -q fsmonitor .git/config",
            ),
            (
                "no hook",
                &["git"],
                "! echo x > .git/hooks/pre-commit; ! mkdir .git/modules; ! echo x > .git/commondir",
            ),
            (
                "no swapping",
                &["git"],
                "! mv .git g; ! mv .git/hooks h; ! rm -rf .git/hooks; test -d .git/hooks",
            ),
        ],
    );
}

#[test]
fn builds_tests_and_servers_run() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    all_work(
        "workspace",
        &[
            (
                "make -j",
                &["make", "cc"],
                "printf 'all: a b c d\\n%%: %%.o\\n\\tcc -o $@ $<\\n' > Makefile; for f in a b c d; do echo 'int main(){return 0;}' > $f.c; done; make -j4 CFLAGS=-O0; ./a",
            ),
            (
                "node",
                &["node"],
                "node -e 'const fs=require(\"fs\");fs.writeFileSync(\"x\",\"y\");fs.mkdirSync(\"d\");require(\"child_process\").execSync(\"true\")'",
            ),
            (
                "a server and its client",
                &["python3", "curl"],
                "python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & for i in $(seq 50); do curl -sf http://127.0.0.1:8123/README && exit 0; sleep 0.1; done; exit 1",
            ),
            (
                "node server",
                &["node"],
                "node -e 'const h=require(\"http\");const s=h.createServer((q,r)=>r.end(\"ok\")).listen(0,\"127.0.0.1\",()=>h.get({port:s.address().port},r=>{r.on(\"data\",d=>{process.exit(String(d)==\"ok\"?0:1)})}))'",
            ),
            (
                "pytest",
                &["pytest"],
                "echo 'def test_a(tmp_path): (tmp_path/\"x\").write_text(\"y\")' > test_a.py; pytest -q",
            ),
            (
                "unittest",
                &["python3"],
                "printf 'import unittest\\nclass T(unittest.TestCase):\\n  def test_a(self): pass\\n' > test_a.py; python3 -m unittest -q",
            ),
            (
                "venv",
                &["python3"],
                "python3 -m venv --without-pip v; v/bin/python -c 'import sys'",
            ),
            (
                "multiprocessing",
                &["python3"],
                "python3 -c 'import multiprocessing as m;p=m.Pool(2);print(p.map(abs,[1,-2]))'",
            ),
            (
                "cmake-like probing",
                &["cc"],
                "for i in 1 2 3; do echo 'int main(){}' > t.c; cc t.c -o t; rm t t.c; done",
            ),
            (
                "terminal",
                &["script"],
                "script -qec 'stty -a; tty' /dev/null | grep -q speed",
            ),
            (
                "here documents",
                &["bash"],
                "cat <<< x; cat <<EOF\nx\nEOF\ndiff <(echo a) <(echo a)",
            ),
        ],
    );
}

/// The toolchain lies in somebody's home; this needs it where it is.
#[test]
fn cargo_builds_a_crate() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let cargo = Command::new("sh")
        .args(["-c", "dirname $(command -v cargo)"])
        .output();
    let folder = String::from_utf8(cargo.unwrap().stdout)
        .unwrap()
        .trim()
        .to_owned();
    if folder.is_empty() {
        return not_run("cargo build (there is no cargo)");
    }
    let world = World::new(Path::new("/tmp"), User::This, "cargo");
    let project = world.project();
    fs::create_dir_all(project.join("src")).unwrap();
    fs::write(
        project.join("Cargo.toml"),
        "[package]\nname = \"a\"\nedition = \"2021\"\n[workspace]\n",
    )
    .unwrap();
    fs::write(
        project.join("src/main.rs"),
        "fn main() { println!(\"built\"); }",
    )
    .unwrap();
    let home = std::env::home_dir().unwrap();
    let options = [
        "--env".to_owned(),
        format!("PATH={folder}:{}", crate::world::search_path()),
        "--env".to_owned(),
        format!("HOME={}", home.display()),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let output = world.caged(
        "namespaces",
        "workspace",
        &options,
        "cargo run --offline 2>&1",
    );
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("built"), "{said}");
}

/// A registry that knows one package, on the loopback device of the cage.
const REGISTRY: &str = r#"
const http = require("http"), fs = require("fs"), crypto = require("crypto");
const tar = fs.readFileSync(process.env.TMPDIR + "/left.tgz");
http.createServer((request, answer) => {
  if (request.url.endsWith(".tgz")) return answer.end(tar);
  const dist = { tarball: "http://127.0.0.1:4873/left.tgz",
    integrity: "sha512-" + crypto.createHash("sha512").update(tar).digest("base64") };
  answer.end(JSON.stringify({ name: "left", "dist-tags": { latest: "1.0.0" },
    versions: { "1.0.0": { name: "left", version: "1.0.0", dist } } }));
}).listen(4873, "127.0.0.1");
"#;

#[test]
fn npm_installs_from_a_local_registry() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let script = format!(
        "mkdir -p $TMPDIR/package; echo '{{\"name\":\"left\",\"version\":\"1.0.0\"}}' > $TMPDIR/package/package.json; \
         tar czf $TMPDIR/left.tgz -C $TMPDIR package; cat > $TMPDIR/registry.js <<'EOF'\n{REGISTRY}\nEOF\n\
         node $TMPDIR/registry.js & for i in $(seq 50); do curl -sf http://127.0.0.1:4873/left >/dev/null && break; sleep 0.1; done; \
         echo '{{\"name\":\"a\",\"version\":\"1.0.0\"}}' > package.json; \
         npm install --registry http://127.0.0.1:4873 --no-audit --no-fund left && test -e node_modules/left/package.json"
    );
    all_work(
        "workspace",
        &[("npm install", &["npm", "node", "curl"], &script)],
    );
}

#[test]
fn a_read_only_command_changes_nothing() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    all_work(
        "read-only",
        &[
            (
                "reading",
                &[],
                "cat README; ls -la; grep -r read . | head -1; find . -name README",
            ),
            (
                "no new file",
                &[],
                "! echo x > new; ! mkdir d; ! touch README; ! rm README; ! mv README r; ! chmod 777 README; test -e README",
            ),
            (
                "private folder",
                &[],
                "echo x > $TMPDIR/x; cat $TMPDIR/x; t=$(mktemp); echo y > $t",
            ),
            ("git", &["git"], "git status --short | grep -q README"),
        ],
    );
}
