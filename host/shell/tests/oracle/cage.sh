# Makes a root in which everything may be written and everything written is seen, and starts the
# runner beside it. Runs inside of fresh namespaces.
#
#   cage.sh FOLDER RUNNER FIXTURE < COMMANDS
#
# The folders of the system lie under overlays: a change lands in FOLDER/upper. All else of the
# root is a small tmpfs. The real file system stays read-only for everything in here.
set -euo pipefail
cage=$1 runner=$2 fixture=$3

mount --make-rprivate /
mount -t tmpfs -o mode=755,noatime oracle "$cage"
mkdir "$cage/root" "$cage/upper" "$cage/work"
root=$cage/root
for path in /*; do
  name=${path#/}
  if [[ -L $path ]]; then
    cp -P "$path" "$root/$name"
    continue
  fi
  case $name in
    bin | sbin | lib* | usr | etc | var | opt | root) ;;
    *) continue ;;
  esac
  mkdir "$root/$name" "$cage/upper/$name" "$cage/work/$name"
  layers=lowerdir=$path,upperdir=$cage/upper/$name,workdir=$cage/work/$name
  mount -t overlay -o "$layers,userxattr" oracle "$root/$name"
done
mkdir -p "$root"/{proc,sys,dev/shm,dev/pts,tmp,run,mnt,srv,home/dev/project}
chmod 1777 "$root/tmp" "$root/dev/shm"
mount -t proc proc "$root/proc"
for device in null zero full random urandom tty; do
  : > "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"
if command -v ip > /dev/null; then ip link set lo up; fi

unshare --root="$root" --wd=/home/dev/project env -i HOME=/home/dev PATH="$PATH" LC_ALL=C.UTF-8 \
  bash -euo pipefail -c "$fixture" < /dev/null > /dev/null
mount -o remount,bind,ro /

if [[ -z ${RUSTUP_HOME-} && -d ${HOME-}/.rustup ]]; then export RUSTUP_HOME=$HOME/.rustup; fi

# Somebody to be killed, stopped or slowed down by mistake.
sleep infinity < /dev/null > /dev/null 2>&1 &
# The first process of a namespace has to collect orphans. Bash does, unless it makes way for its
# last command; so this is not the last.
"$runner" --inside "$cage"
exit 0
