//! Repositories that use other tools: build tools, package managers, interpreters, editors, and
//! file names that look like flags.

use super::Hostile;

pub(super) const CASES: &[Hostile] = &[
    (
        "mkdir -p chain/bin; cp evil chain/bin/cargo; cp evil chain/bin/rustc; printf '[toolchain]\\npath = \"%s/chain\"\\n' $PWD > rust-toolchain.toml",
        &[
            "cargo --version",
            "rustc --version",
            "cargo metadata --no-deps",
        ],
    ),
    (
        "mkdir -p tc/bin; ln -s $(readlink -f $(command -v perl)) tc/bin/cargo; ln -s /usr/bin/env tc/bin/rustc; printf 'print \"PWNED\\n\";' > metadata; printf '[toolchain]\\npath = \"/proc/self/cwd/tc\"\\n' > rust-toolchain.toml",
        &[
            "cargo metadata --no-deps",
            "cargo --version",
            "rustc --version",
        ],
    ),
    (
        "mkdir -p chain/bin; cp evil chain/bin/cargo; cp evil chain/bin/rustfmt; printf '[toolchain]\\npath = \"%s/chain\"\\n' $PWD > rust-toolchain",
        &[
            "cargo locate-project",
            "rustfmt --check a.txt",
            "rustup which cargo",
            "rustup show active-toolchain",
        ],
    ),
    (
        "mkdir .cargo; printf '[build]\\nrustc = \"./evil\"\\nrustc-wrapper = \"./evil\"\\n' > .cargo/config.toml; printf '[package]\\nname = \"x\"\\nversion = \"0.1.0\"\\n' > Cargo.toml; mkdir src; touch src/lib.rs",
        &[
            "cargo metadata --no-deps",
            "cargo --version",
            "cargo locate-project",
        ],
    ),
    (
        "mkdir .cargo src; printf '[alias]\\ntree = \"run\"\\nmetadata = [\"run\"]\\nxx = \"run\"\\n[target.\\x27cfg(all())\\x27]\\nrunner = \"./evil\"\\nlinker = \"./evil\"\\n[registry]\\nglobal-credential-providers = [\"./evil\"]\\n[build]\\nrustc-workspace-wrapper = \"./evil\"\\nrustdoc = \"./evil\"\\n' > .cargo/config.toml; \
         printf '[package]\\nname = \"x\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > Cargo.toml; echo 'fn main() {}' > src/main.rs; printf 'fn main() { println!(\"cargo::warning=PWNED\"); }' > build.rs",
        &[
            "cargo tree --offline",
            "cargo metadata --no-deps --offline",
            "cargo pkgid",
            "cargo xx",
        ],
    ),
    (
        "mkdir .cargo; printf '[env]\\nRUSTC = \"./evil\"\\n[build]\\nrustc-wrapper = \"./evil\"\\n[term]\\nverbose = true\\n' > .cargo/config; printf '[package]\\nname = \"x\"\\nversion = \"0.1.0\"\\n' > Cargo.toml; mkdir src; touch src/lib.rs",
        &[
            "cargo metadata --no-deps --offline",
            "cargo --version --verbose",
            "cargo read-manifest",
        ],
    ),
    (
        "echo 'script-shell=./evil' > .npmrc; echo 'node-options=--require ./evil.js' >> .npmrc; echo 'console.log(\"PWNED\")' > evil.js; echo {} > package.json",
        &["npm --version", "npm ls", "node --version"],
    ),
    (
        "mkdir -p node_modules/.bin node_modules/npm; for n in npm node eslint tsc ls git; do cp evil node_modules/.bin/$n; done; printf '{\"scripts\": {\"preinstall\": \"sh ./evil\", \"version\": \"sh ./evil\", \"test\": \"sh ./evil\", \"prels\": \"sh ./evil\"}, \"packageManager\": \"npm@0.0.1\"}' > package.json",
        &[
            "npm ls",
            "npm --version",
            "npm test",
            "npx eslint",
            "npm run version",
            "ls",
            "git status",
        ],
    ),
    (
        "echo 'git=./evil' > .npmrc; echo 'editor=./evil' >> .npmrc; echo 'viewer=./evil' >> .npmrc; echo 'shell=./evil' >> .npmrc; echo 'browser=./evil' >> .npmrc; echo 'prefix=.' >> .npmrc; echo 'globalconfig=./x' >> .npmrc; echo {} > package.json",
        &[
            "npm view x",
            "npm config list",
            "npm outdated",
            "npm help ls",
            "npm docs",
        ],
    ),
    (
        "printf 'module.exports = {}; console.log(\"PWNED\")' > index.js; for f in .eslintrc.js eslint.config.js prettier.config.js jest.config.js .pnpmfile.cjs .yarnrc.cjs tsconfig.js; do cp index.js $f; done; echo 'yarnPath: ./evil' > .yarnrc.yml; printf '{\"type\": \"commonjs\"}' > package.json",
        &[
            "node --version",
            "node --check index.js",
            "npm ls",
            "yarn --version",
            "pnpm ls",
        ],
    ),
    (
        "printf 'import os; print(\"PWNED\")' > sitecustomize.py; cp sitecustomize.py site.py; cp sitecustomize.py os.py",
        &["python3 --version", "pip --version", "pip list"],
    ),
    (
        "printf 'import os; print(\"PWNED\")' > usercustomize.py; for f in pip encodings re json pkg_resources setuptools; do cp usercustomize.py $f.py; done; printf 'import os; print(\"PWNED\")\\n' > x.pth; printf '[easy_install]\\n' > setup.cfg; cp usercustomize.py setup.py; cp usercustomize.py conftest.py",
        &[
            "pip list",
            "pip show x",
            "pip freeze",
            "pip check",
            "python3 -V",
            "pytest --version",
            "pytest --collect-only",
        ],
    ),
    (
        "mkdir -p v/bin; cp evil v/bin/python3; cp evil v/bin/python; cp evil v/bin/pip; echo 'home = ./v/bin' > pyvenv.cfg; echo $PWD/v > .python-version; echo 'python ../../../../..'$PWD/v > .tool-versions",
        &[
            "python3 --version",
            "python --version",
            "pip list",
            "pip --version",
        ],
    ),
    (
        "p=$PWD/v; mkdir -p v/bin; cp evil v/bin/python3; cp evil v/bin/pip; echo ../../../../../../..$p > .python-version",
        &["python3 --version", "pip list", "pip --version"],
    ),
    (
        "mkdir -p v/bin; for n in ruby node java go terraform python3; do cp evil v/bin/$n; done; for f in .ruby-version .node-version .nvmrc .java-version .go-version .terraform-version .sdkmanrc; do echo $PWD/v > $f; done; printf '[tools]\\nnode = \"path:./v\"\\n[env]\\n_.source = \"./evil\"\\n[hooks]\\nenter = \"./evil\"\\n' > mise.toml; cp mise.toml .mise.toml",
        &[
            "ruby --version",
            "node --version",
            "java -version",
            "go version",
            "terraform version",
            "ls",
        ],
    ),
    (
        "printf 'all:\\n\\t./evil\\n' > Makefile; printf '.DEFAULT:\\n\\t./evil\\n' > GNUmakefile",
        &["make --version"],
    ),
    (
        "printf 'include x.mk\\nX := $(shell ./evil)\\nall:\\n\\t+./evil\\n' > Makefile; printf 'Y := $(shell ./evil)\\nx.mk:\\n\\t./evil\\n' > GNUmakefile; printf '$(shell ./evil)\\n' > x.mk",
        &[
            "make -n",
            "make -p",
            "make -q",
            "make --dry-run all",
            "make --version",
        ],
    ),
    (
        "echo 'source ./evil' > .envrc; echo './evil' > .bashrc; echo './evil' > .bash_env",
        &["pwd", "env", "ls -a"],
    ),
    (
        "for f in .profile .bash_profile .bash_login .zshrc .zshenv .kshrc .env .inputrc .envrc .autoenv .in .bash_logout; do echo 'sh ./evil' > $f; done; echo 'LD_PRELOAD=./evil' >> .env",
        &["pwd", "cd . && ls", "echo $HOME", "env", "bash --version"],
    ),
    (
        "echo ':!./evil' > .exrc; echo 'shell ./evil' > .gdbinit",
        &["gdb --version", "file a.txt"],
    ),
    (
        "for f in .vimrc .gvimrc .nvimrc .exrc; do echo ':!sh ./evil' > $f; done; echo 'command script import ./evil.py' > .lldbinit; echo 'print(\"PWNED\")' > .gdbinit.py; echo 'python print(\"PWNED\")' > .gdbinit; echo '.shell ./evil' > .sqliterc; echo '((nil . ((eval . (shell-command \"./evil\")))))' > .dir-locals.el; printf '# vim: set modeline: \\n/* vim: set fdm=expr fde=system(\"sh\\\\ ./evil\"): */\\n' > m.txt",
        &[
            "vim --version",
            "cat m.txt",
            "gdb --version",
            "gdb -batch -ex quit",
            "less m.txt",
            "head m.txt",
        ],
    ),
    (
        "echo '--pre=./evil' > .ripgreprc; cp .ripgreprc .rgrc; echo '--pager=./evil' > .ackrc; echo 'def x: \"PWNED\";' > .jq; echo '{\"a\": 1}' > a.json; echo 'output = pwned' > .curlrc; echo 'output_document = pwned' > .wgetrc; echo 'use_askpass = ./evil' >> .wgetrc",
        &[
            "rg one",
            "jq . a.json",
            "jq 'import \"x\" as x; .' a.json",
            "curl --version",
            "wget --version",
            "grep one a.txt",
        ],
    ),
    (
        "mkdir .docker; printf '{\"credsStore\": \"evil\", \"cliPluginsExtraDirs\": [\"./p\"], \"credHelpers\": {\"x\": \"evil\"}}' > .docker/config.json; mkdir p; cp evil p/docker-compose; cp evil docker-credential-evil; printf 'services:\\n  x:\\n    build: .\\n' > compose.yaml; echo 'DOCKER_CONFIG=.docker' > .env",
        &[
            "docker --version",
            "docker ps",
            "docker compose ps",
            "docker info",
            "docker version",
        ],
    ),
    (
        "printf 'provider_installation {\\n dev_overrides {\\n \"x/y\" = \"./p\"\\n }\\n}\\ncredentials_helper \"evil\" {}\\n' > .terraformrc; cp .terraformrc terraform.rc; mkdir -p p .terraform/providers; cp evil p/terraform-provider-y; printf 'data \"external\" \"x\" {\\n program = [\"./evil\"]\\n}\\nterraform {\\n required_providers {\\n y = {\\n source = \"x/y\"\\n }\\n }\\n}\\n' > main.tf",
        &[
            "terraform version",
            "terraform fmt -check",
            "terraform workspace show",
            "terraform providers",
            "terraform validate",
            "terraform state list",
        ],
    ),
    (
        "cp evil git; cp evil ls; cp evil cat",
        &["git status", "ls", "cat a.txt"],
    ),
    (
        "mkdir bin; for n in git ls cat sort grep sh bash env python3; do cp evil bin/$n; cp evil $n; done; printf '#!/bin/sh\\n./evil' > bin/git-status",
        &[
            "git status",
            "sort a.txt",
            "grep one a.txt",
            "env",
            "ls bin",
            "cat bin/git | sort | head -1",
        ],
    ),
    (
        "touch -- '--compress-program=.evil' '-S1' '--pre=evil' '-exec' '--checkpoint=1' '--checkpoint-action=exec=sh evil' '-fprintf' '--files0-from=a.txt' '-oevil2'",
        &[
            "sort *",
            "grep one *",
            "find * -name x",
            "tar cf /dev/null *",
            "rg one *",
            "cat *",
            "ls *",
            "file *",
            "wc *",
            "head *",
        ],
    ),
    (
        "mkdir '$(sh evil)' '`sh evil`'; touch '; sh evil' '| sh evil' \"'; sh evil; '\"; printf 'x\\n; sh ./evil\\n' > list; ln -s 'a; sh evil' link",
        &[
            "ls",
            "find . -name '*evil*'",
            "ls | sort",
            "cat list | xargs echo",
            "for f in *; do echo $f; done",
            "find . -type f | xargs ls",
        ],
    ),
    (
        "printf '.SH NAME\\nx\\n.sy sh ./evil\\n.pso sh ./evil\\n' > x.1; mkdir -p man/man1; cp x.1 man/man1/ls.1; echo \"MANDATORY_MANPATH $PWD/man\" > .manpath; cp .manpath man_db.conf; printf '\\033]0;x\\007' > esc.txt",
        &[
            "man -k ls",
            "man ./x.1",
            "man ls",
            "cat esc.txt",
            "less x.1",
        ],
    ),
    (
        "printf 'BEGIN { system(\"sh ./evil\") }' > x.awk; printf '1e sh ./evil\\n' > x.sed; printf '{ \"a\": 1 }' > a.json; printf 'print \"PWNED\\n\";' > x.pl; cp x.pl strict.pm; mkdir lib; cp x.pl lib/strict.pm; cp x.pl sitecustomize.pl",
        &[
            "awk -f x.awk a.txt",
            "sed -f x.sed a.txt",
            "sed -n 1p a.txt",
            "perl -v",
            "awk '{print $1}' a.txt",
            "perl -ne print a.txt",
        ],
    ),
];
