//! What a person should know before saying yes to a command that cannot be undone. It only
//! warns; it decides nothing.

use crate::mention::Mention;
use crate::wrapper::basename;

/// A program (and sub-command), words of which one must be there, and the warning.
type Row = (&'static str, &'static [&'static str], &'static str);

const COMMANDS: &[Row] = &[
    ("git reset", &["--hard"], "may discard uncommitted changes"),
    (
        "git push",
        &["--force", "-f", "--force-with-lease", "--mirror"],
        "may overwrite remote history",
    ),
    (
        "git push",
        &["--delete", "-d"],
        "may delete a remote branch",
    ),
    (
        "git clean",
        &["-f", "-fd", "-fdx", "-fx", "-df", "-xdf", "-xfd", "--force"],
        "may permanently delete untracked files",
    ),
    (
        "git checkout",
        &[".", "--", "-f", "--force"],
        "may discard uncommitted changes",
    ),
    ("git restore", &[], "may discard uncommitted changes"),
    (
        "git stash",
        &["drop", "clear"],
        "may permanently remove stashed changes",
    ),
    (
        "git branch",
        &["-D", "-d", "--delete"],
        "may delete a branch",
    ),
    ("git tag", &["-d", "--delete"], "may delete a tag"),
    ("git commit", &["--amend"], "may rewrite the last commit"),
    ("git rebase", &[], "may rewrite history"),
    ("git filter-branch", &[], "may rewrite history"),
    ("git filter-repo", &[], "may rewrite history"),
    (
        "git reflog",
        &["expire", "delete"],
        "may make commits unrecoverable",
    ),
    (
        "git gc",
        &["--prune=now", "--prune=all", "--aggressive"],
        "may make commits unrecoverable",
    ),
    ("git update-ref", &["-d"], "may delete a reference"),
    (
        "git worktree",
        &["remove", "prune"],
        "may remove a working tree",
    ),
    ("kubectl delete", &[], "may delete Kubernetes resources"),
    ("kubectl drain", &[], "may evict running workloads"),
    ("helm uninstall", &[], "may delete Kubernetes resources"),
    ("helm delete", &[], "may delete Kubernetes resources"),
    (
        "terraform destroy",
        &[],
        "may destroy Terraform infrastructure",
    ),
    (
        "terraform apply",
        &["-destroy", "-auto-approve"],
        "may change infrastructure without asking",
    ),
    ("tofu destroy", &[], "may destroy infrastructure"),
    ("pulumi destroy", &[], "may destroy infrastructure"),
    ("docker rm", &[], "may remove containers"),
    ("docker rmi", &[], "may remove images"),
    (
        "docker system",
        &["prune"],
        "may remove unused containers, images and volumes",
    ),
    ("docker volume", &["rm", "prune"], "may delete stored data"),
    (
        "docker compose",
        &["down"],
        "may remove containers and networks",
    ),
    ("podman rm", &[], "may remove containers"),
    ("aws s3", &["rm", "rb"], "may delete stored objects"),
    ("aws ec2", &["terminate-instances"], "may destroy machines"),
    ("gcloud projects", &["delete"], "may delete a project"),
    ("gh repo", &["delete"], "may delete a repository"),
    ("npm publish", &[], "publishes a package"),
    ("npm unpublish", &[], "may remove a published package"),
    ("cargo publish", &[], "publishes a package"),
    ("dd", &[], "may overwrite a disk or file"),
    ("mkfs", &[], "may erase a disk"),
    ("wipefs", &[], "may erase a disk"),
    ("fdisk", &[], "may change a disk's partitions"),
    ("parted", &[], "may change a disk's partitions"),
    ("shred", &[], "may destroy files beyond recovery"),
    ("truncate", &[], "may cut files short"),
    ("shutdown", &[], "stops the machine"),
    ("reboot", &[], "stops the machine"),
    ("poweroff", &[], "stops the machine"),
    ("halt", &[], "stops the machine"),
    ("killall", &[], "may end processes of others"),
    ("pkill", &[], "may end processes of others"),
    ("crontab", &["-r"], "removes all scheduled jobs"),
    ("userdel", &[], "removes a user"),
    ("iptables", &["-F", "--flush"], "may open the firewall"),
    ("dropdb", &[], "may drop a database"),
    (
        "redis-cli",
        &["FLUSHALL", "FLUSHDB", "flushall", "flushdb"],
        "may delete all keys",
    ),
];

pub(crate) fn warnings(script: &str, mentions: &[Mention]) -> Vec<&'static str> {
    let mut warnings = Vec::new();
    for mention in mentions.iter().take(MOST_MENTIONS) {
        for (command, words, warning) in COMMANDS {
            if names(mention, command) && (words.is_empty() || has_any(mention, words)) {
                warnings.push(*warning);
            }
        }
        warnings.extend(others(mention));
    }
    if script.contains("--no-verify") {
        warnings.push("may skip safety hooks");
    }
    warnings.extend(databases(script));
    let mut seen = Vec::new();
    warnings.retain(|warning| {
        let is_new = !seen.contains(warning);
        seen.push(*warning);
        is_new
    });
    warnings
}

/// Nobody reads warnings about more than that; and a script is looked at while somebody waits.
const MOST_MENTIONS: usize = 500;

fn names(mention: &Mention, command: &str) -> bool {
    let Some((name, rest)) = mention.words.split_first() else {
        return false;
    };
    let base = basename(name);
    let Some(behind) = command.strip_prefix(base) else {
        return base.starts_with("mkfs.") && command == "mkfs";
    };
    match behind.strip_prefix(' ') {
        Some(second) => rest.first().is_some_and(|word| word == second),
        None => behind.is_empty() && !base.is_empty(),
    }
}

fn has_any(mention: &Mention, words: &[&str]) -> bool {
    mention
        .words
        .iter()
        .any(|word| words.contains(&word.as_str()))
}

/// What is not said by single words.
fn others(mention: &Mention) -> Option<&'static str> {
    let (name, rest) = mention.words.split_first()?;
    match basename(name) {
        "rm" if mention.is_whole => {
            let flag = |letters: [char; 2], long: &str| {
                rest.iter().any(|word| {
                    word == long
                        || (word.starts_with('-')
                            && !word.starts_with("--")
                            && word.contains(letters))
                })
            };
            match (flag(['r', 'R'], "--recursive"), flag(['f', 'f'], "--force")) {
                (true, true) => Some("may recursively force-remove files"),
                (true, false) => Some("may recursively remove files"),
                (false, true) => Some("may force-remove files"),
                (false, false) => None,
            }
        }
        "find" if rest.iter().any(|word| word == "-delete") => Some("may delete files"),
        "git" if rest.first().is_some_and(|word| word == "push") => rest
            .iter()
            .skip(1)
            .any(|word| word.starts_with(':') || word.starts_with('+'))
            .then_some("may overwrite or delete a remote branch"),
        "chmod" | "chown" => rest
            .iter()
            .any(|word| word == "-R" || word == "--recursive")
            .then_some("may change the access to many files"),
        _ => None,
    }
}

/// SQL in any argument, in capitals or not.
fn databases(script: &str) -> Vec<&'static str> {
    let upper = script.to_ascii_uppercase();
    let words: Vec<&str> = upper
        .split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let mut found = Vec::new();
    for (at, pair) in words.windows(2).enumerate() {
        match pair {
            ["DROP", "TABLE" | "DATABASE" | "SCHEMA" | "INDEX" | "VIEW"]
            | ["TRUNCATE", "TABLE"] => {
                found.push("may drop or truncate database objects");
            }
            ["DELETE", "FROM"] if !words[at..].contains(&"WHERE") => {
                found.push("may delete all rows");
            }
            _ => {}
        }
    }
    if found.is_empty() && upper.contains("TRUNCATE ") && upper.contains("SQL") {
        found.push("may drop or truncate database objects");
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{Place, inspect};

    #[test]
    fn each_kind_of_loss_is_named_and_nothing_else() {
        for (script, wanted) in [
            (
                "git reset --hard HEAD~1",
                &["may discard uncommitted changes"][..],
            ),
            (
                "git -C x reset --hard",
                &["may discard uncommitted changes"],
            ),
            ("git push --force", &["may overwrite remote history"]),
            ("git push -f origin main", &["may overwrite remote history"]),
            (
                "git push origin :main",
                &["may overwrite or delete a remote branch"],
            ),
            ("git commit --amend", &["may rewrite the last commit"]),
            ("git commit -m x --no-verify", &["may skip safety hooks"]),
            ("rm -rf build", &["may recursively force-remove files"]),
            ("rm -r -f build", &["may recursively force-remove files"]),
            ("rm -R build", &["may recursively remove files"]),
            ("rm --recursive build", &["may recursively remove files"]),
            ("rm --force build", &["may force-remove files"]),
            ("rm --preserve-root refs", &[]),
            ("rm --interactive refs", &[]),
            ("rm refs", &[]),
            ("sudo rm -fr x", &["may recursively force-remove files"]),
            (
                "psql -c 'DROP TABLE users'",
                &["may drop or truncate database objects"],
            ),
            (
                "psql -c 'truncate table x'",
                &["may drop or truncate database objects"],
            ),
            ("mysql -e 'delete from users;'", &["may delete all rows"]),
            ("mysql -e 'delete from users where id = 1'", &[]),
            (
                "kubectl delete ns prod",
                &["may delete Kubernetes resources"],
            ),
            (
                "terraform destroy",
                &["may destroy Terraform infrastructure"],
            ),
            (
                "ls && terraform destroy",
                &["may destroy Terraform infrastructure"],
            ),
            ("git status", &[]),
            ("echo rm -rf x", &[]),
            ("git log --grep reset", &[]),
        ] {
            let report = inspect(script, &Place::new("/p"));
            assert_eq!(report.warnings, wanted, "{script}");
        }
    }
}
