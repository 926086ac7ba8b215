//! Repositories that use git itself: settings that name programs, attributes that choose them, and
//! control folders that lie elsewhere.

use super::Hostile;

pub(super) const CASES: &[Hostile] = &[
    (
        "git config core.fsmonitor ./evil",
        &["git status", "git diff", "git status; touch made"],
    ),
    (
        "git config core.fsmonitor ./evil; git update-index --fsmonitor 2>/dev/null || true",
        &[
            "git ls-files -m",
            "git ls-files -o",
            "git describe --always --dirty",
            "git diff-files",
            "git diff-index HEAD",
            "git grep one",
            "git check-ignore a.txt",
            "git stash list",
            "git worktree list",
        ],
    ),
    (
        "cp evil .git/hooks/fsmonitor-watchman; git config core.fsmonitor .git/hooks/fsmonitor-watchman",
        &["git status", "git diff --stat"],
    ),
    (
        "git config diff.external ./evil",
        &["git diff", "git show", "git diff; mkdir made"],
    ),
    (
        "git config diff.external 'sh ./evil #'; git stash -q",
        &[
            "git diff",
            "git log -p",
            "git stash show -p",
            "git diff-tree -p HEAD",
            "git log -p --ext-diff",
            "git diff --ext-diff HEAD~0",
        ],
    ),
    (
        "echo '*.txt diff=x' > .gitattributes; git config diff.x.command 'sh ./evil #'",
        &["git diff", "git show", "git log -p"],
    ),
    (
        "echo '*.txt diff=x' > .gitattributes; git config diff.x.textconv 'sh ./evil'",
        &["git diff", "git show", "git blame a.txt", "git log -p"],
    ),
    (
        "echo '*.txt diff=x' > .git/info/attributes; git config diff.x.textconv 'sh ./evil'; git config diff.x.cachetextconv true",
        &[
            "git diff",
            "git grep --textconv one",
            "git cat-file --textconv HEAD:a.txt",
        ],
    ),
    (
        "echo '*.txt diff=x' > attributes; git config core.attributesFile $PWD/attributes; git config diff.x.textconv 'sh ./evil'",
        &["git diff", "git show HEAD"],
    ),
    (
        "echo '*.txt filter=x' > .gitattributes; git config filter.x.clean 'sh ./evil'; touch a.txt",
        &["git status", "git diff", "git diff --stat"],
    ),
    (
        "echo '*.txt filter=x' > .gitattributes; git config filter.x.process 'sh ./evil'; git config filter.x.required true; touch a.txt",
        &["git status", "git diff", "git archive HEAD"],
    ),
    (
        "echo '*.txt filter=x' > .gitattributes; git config filter.x.smudge 'sh ./evil'; git add .gitattributes",
        &[
            "git archive HEAD",
            "git cat-file --filters HEAD:a.txt",
            "git show HEAD:a.txt",
        ],
    ),
    (
        "echo '*.txt filter=lfs' > .gitattributes; git config filter.lfs.process 'git-lfs filter-process; sh ./evil'; touch a.txt",
        &["git status", "git diff"],
    ),
    (
        "echo '*.txt merge=x' > .gitattributes; git config merge.x.driver 'sh ./evil'; git config merge.default x",
        &[
            "git diff",
            "git merge-base HEAD HEAD",
            "git merge-tree HEAD HEAD",
        ],
    ),
    ("git config core.pager ./evil", &["git log", "git diff"]),
    (
        "for c in log diff show branch status; do git config pager.$c 'sh ./evil'; done",
        &[
            "git log",
            "git diff",
            "git show",
            "git branch",
            "git status",
        ],
    ),
    (
        "git config interactive.diffFilter 'sh ./evil'; git config diff.tool x; git config difftool.x.cmd 'sh ./evil'; git config mergetool.x.cmd 'sh ./evil'",
        &["git diff", "git difftool -y", "git mergetool --tool=x"],
    ),
    (
        "git config core.hooksPath $PWD; cp evil post-index-change; cp evil post-checkout",
        &["git status"],
    ),
    (
        "for h in post-index-change reference-transaction pre-auto-gc post-checkout; do cp evil .git/hooks/$h; done; touch a.txt",
        &["git status", "git diff", "git log", "git branch"],
    ),
    (
        "git config hook.x.command 'sh ./evil'; git config hook.x.event post-index-change; touch a.txt",
        &["git status", "git diff"],
    ),
    (
        "git config alias.status '!sh ./evil'; git config alias.lg '!sh ./evil'; git config alias.go '-c core.pager=./evil log'",
        &["git status", "git lg", "git go"],
    ),
    (
        "git config core.editor 'sh ./evil'; git config sequence.editor 'sh ./evil'",
        &["git status", "git log", "git branch --edit-description"],
    ),
    (
        "git config core.askPass ./evil; git config credential.helper '!sh ./evil'; git remote add origin https://localhost:1/x",
        &[
            "git remote -v",
            "git remote show -n origin",
            "git ls-remote",
            "git fetch",
        ],
    ),
    (
        "git config core.sshCommand 'sh ./evil'; git config core.gitProxy ./evil; git config ssh.variant simple; git remote add origin ssh://u@localhost/x",
        &[
            "git remote -v",
            "git remote show origin",
            "git ls-remote origin",
            "git fetch",
        ],
    ),
    (
        "git config protocol.ext.allow always; git remote add origin 'ext::sh ./evil'",
        &[
            "git remote -v",
            "git remote show -n origin",
            "git remote show origin",
            "git ls-remote",
        ],
    ),
    (
        "git remote add origin .; git config remote.origin.uploadpack 'sh ./evil'; git config remote.other.url x; git config remote.other.vcs ../../evil",
        &[
            "git remote -v",
            "git remote show -n origin",
            "git ls-remote origin",
        ],
    ),
    (
        "git config gpg.program ./evil; git config log.showSignature true; \
         git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n x\\n -----END PGP SIGNATURE-----' > c; git reset -q --soft $(git hash-object -t commit -w c)",
        &[
            "git log",
            "git show",
            "git log --show-signature",
            "git log --format=%G?",
            "git verify-commit HEAD",
        ],
    ),
    (
        "git config gpg.format ssh; git config gpg.ssh.program $PWD/evil; git config gpg.ssh.allowedSignersFile a.txt; git config format.pretty %GG; \
         git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN SSH SIGNATURE-----\\n x\\n -----END SSH SIGNATURE-----' > c; git reset -q --soft $(git hash-object -t commit -w c)",
        &["git log", "git show"],
    ),
    (
        "git config trailer.x.command 'sh ./evil'; git config trailer.x.cmd 'sh ./evil'; git config trailer.x.key X",
        &[
            "git log --format='%(trailers)'",
            "git interpret-trailers a.txt",
        ],
    ),
    (
        "git config tar.x.command 'sh ./evil'; git config tar.tar.gz.command 'sh ./evil'",
        &[
            "git archive --format=x HEAD",
            "git archive --format=tar.gz HEAD",
            "git archive HEAD",
        ],
    ),
    (
        "git config man.viewer x; git config man.x.cmd 'sh ./evil'; git config help.format man; git config web.browser y; git config browser.y.cmd 'sh ./evil'; git config help.autocorrect immediate; git config alias.statu '!sh ./evil'",
        &[
            "git help status",
            "git status --help",
            "git help -w log",
            "git stat",
        ],
    ),
    (
        "git config diff.external git-difftool--helper; git config diff.tool x; git config difftool.prompt false; git config difftool.x.cmd 'sh ./evil'",
        &["git diff", "touch z; git diff"],
    ),
    (
        "git config uploadpack.packObjectsHook ./evil; git config core.alternateRefsCommand 'sh ./evil'; git clone -q . other; echo $PWD/other/.git/objects > .git/objects/info/alternates",
        &[
            "git log",
            "git rev-list --alternate-refs --count HEAD",
            "git count-objects -v",
        ],
    ),
    (
        "git config extensions.partialClone origin; git config remote.origin.promisor true; git config remote.origin.partialclonefilter blob:none; git config remote.origin.url .; git config remote.origin.uploadpack './evil;'; f=.git/objects/$(git rev-parse HEAD:a.txt | sed 's,..,&/,'); rm -f $f",
        &[
            "git show",
            "git cat-file -p HEAD:a.txt",
            "git log -p",
            "git diff HEAD",
        ],
    ),
    (
        "git config include.path ../more; printf '[core]\\nfsmonitor = ./evil\\npager = ./evil\\n[diff]\\nexternal = ./evil\\n' > more",
        &["git status", "git log", "git diff"],
    ),
    (
        "git config includeIf.onbranch:**.path ../more; printf '[core]\\nfsmonitor = ./evil\\n[diff]\\nexternal = ./evil\\n' > more",
        &["git status", "git diff"],
    ),
    (
        "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor ./evil; git config --worktree diff.external ./evil",
        &["git status", "git diff"],
    ),
    (
        "git worktree add -q wt; git config core.fsmonitor $PWD/evil; git config diff.external $PWD/evil",
        &[
            "git -C wt status",
            "cd wt && git status",
            "git worktree list",
        ],
    ),
    (
        "mv .git data; echo 'gitdir: data' > .git; git config core.fsmonitor ./evil; git config diff.external ./evil",
        &["git status", "git diff"],
    ),
    (
        "cp -r .git common; git --git-dir=common config core.fsmonitor ./evil; git --git-dir=common config diff.external ./evil; echo ../common > .git/commondir",
        &["git status", "git diff"],
    ),
    (
        "git init -q sub; cd sub; cp ../evil .; echo x > x; git add x; git -c user.name=x -c user.email=x@x commit -qm x; git config core.fsmonitor ./evil; git config diff.external ./evil; cd ..; git add sub 2>/dev/null; echo y > sub/x",
        &[
            "git status",
            "git diff",
            "git diff --submodule=diff",
            "git -C sub status",
            "cd sub && git status",
            "git submodule status",
        ],
    ),
    (
        "git init -q sub; git -C sub -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; printf '[submodule \"sub\"]\\npath = sub\\nurl = ./sub\\n' > .gitmodules; git config submodule.sub.update '!sh ../evil'; git add sub .gitmodules 2>/dev/null",
        &[
            "git status",
            "git submodule",
            "git submodule status",
            "git diff --submodule",
        ],
    ),
    (
        "mkdir docs; cd docs; git init -q --bare .; git config core.bare false; git config core.worktree .; git config core.fsmonitor ../evil",
        &[
            "cd docs && git status",
            "cd docs && git diff",
            "git -C docs status",
            "find docs -name HEAD -execdir git status ';'",
        ],
    ),
    (
        "git init -q --bare x.git; git --git-dir=x.git config core.pager 'sh ../evil'; git --git-dir=x.git config alias.log '!sh ../evil'; cp evil x.git/hooks/reference-transaction",
        &[
            "git -C x.git log",
            "cd x.git && git branch",
            "git --git-dir=x.git log",
        ],
    ),
    (
        "git config core.worktree ..; git config core.fsmonitor $PWD/evil; git config core.ignoreStat false",
        &["git status", "git diff"],
    ),
    (
        "git config init.templateDir $PWD/t; mkdir -p t/hooks; cp evil t/hooks/post-checkout; git config core.commentChar auto; touch empty; git config blame.ignoreRevsFile empty; git config mailmap.file evil",
        &["git blame a.txt", "git log", "git shortlog HEAD"],
    ),
];
