# A small project with what everyday commands ask for, and with names that look like flags.
umask 022
cd /home/dev/project
export GIT_AUTHOR_NAME=Dev GIT_AUTHOR_EMAIL=dev@example.com GIT_COMMITTER_NAME=Dev
export GIT_COMMITTER_EMAIL=dev@example.com GIT_AUTHOR_DATE='2024-01-02T03:04:05Z'
export GIT_COMMITTER_DATE='2024-01-02T03:04:05Z'
git init -q -b main --template= .
git config user.name Dev
git config user.email dev@example.com
git config gc.auto 0
mkdir -p src sub/deep scripts docker bin a c cmd target/debug deploy
printf 'fn main() {\n    println!("x");\n}\n' > src/main.rs
cp src/main.rs src/lib.rs
printf 'int main(void) { return 0; }\n' | tee src/a.cc a.c > src/x
printf '# Title\n\nSome text with TODO and x.\n' > README.md
printf 'name,count\nb,2\na,1\n' | tee data.csv a.csv > b.csv
printf 'b\na\nc\na\n' | tee names.txt a.txt b.txt f.txt log.txt server.log counts.txt words.txt > deps.txt
cp names.txt f; cp names.txt x; cp names.txt a/b; cp names.txt c/d; cp names.txt file; cp names.txt b
printf '{"name": "x", "a": [1, 2], "scripts": {"test": "true"}, "dependencies": {}, "version": "1.0.0"}\n' |
  tee data.json package.json a.json > b.json
printf 'a: 1\n' | tee config.yaml config.yml a.yml b.yml > ci.yml
printf '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n' | tee Cargo.toml > sub/Cargo.toml
printf 'all:\n\ttouch made\n' > Makefile
printf '#!/bin/sh\ntouch made\n' | tee build.sh deploy.sh scripts/x.sh a.sh > b.sh
cp build.sh bin/tool; cp build.sh target/debug/app
chmod +x build.sh deploy.sh scripts/x.sh bin/tool target/debug/app
printf 'FROM scratch\n' | tee Dockerfile > docker/Dockerfile
printf 'console.log(1)\n' | tee index.js > src/index.js
printf 'print(1)\n' > main.py
printf 'package main\nfunc main() {}\n' > main.go
printf 'requests==2.0\n' > requirements.txt
printf 'TOKEN=x\n' > .env
printf '*.log\n' > .gitignore
printf 'leaf\n' > sub/deep/leaf.txt
: > empty
printf '\0\1\2\377' > binary.bin
cp "$(type -P true)" a.out
# Names that are flags to a careless command.
printf 'a\n' > ./-rf
printf 'a\n' > ./--output=x
printf 'a\n' > ./-o
printf 'a\n' > ./--help
printf 'a\n' > 'a b'
printf 'a\n' > '~'
ln -s README.md link
ln -s src linked
ln -s /etc/passwd outside
ln -s nowhere dangling
tar -cf a.tar README.md src
tar -czf a.tgz README.md src
cp a.tgz archive.tar.gz
gzip -c names.txt > a.gz
cp a.gz log.gz
if type -P xz > /dev/null; then xz -c names.txt > a.xz; fi
if type -P zip > /dev/null; then zip -q archive.zip README.md names.txt && cp archive.zip release.zip; fi
git add -A -- .
git commit -q -m 'First'
printf 'more\n' >> README.md
git commit -q -am 'Second x'
git tag v1.0
git branch feature
git branch feature/x 2> /dev/null || true
git update-ref refs/remotes/origin/main HEAD
git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
git config remote.origin.url https://example.invalid/x.git
git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'
printf 'stashed\n' >> names.txt
git stash -q
git bundle create -q x.bundle main
# Changed, new and staged files, so that there is something to show, and an old index.
printf 'changed\n' >> README.md
printf 'new\n' > new.txt
printf 'staged\n' > staged.txt
git add staged.txt
touch -d '2024-01-02' data.csv names.txt
printf '[user]\n\tname = Dev\n' > /home/dev/.gitconfig
printf 'export A=1\n' > /home/dev/.profile
printf 'keep\n' > /tmp/keep
mkdir -p /home/dev/.config
