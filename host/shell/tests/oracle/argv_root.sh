# Makes an empty root and starts a bash in it. Runs inside of fresh namespaces.
#
#   argv_root.sh FOLDER COUNT DRIVER < SCRIPTS
#
# The root holds nothing but bash, its libraries, /dev/null and COUNT empty folders: whatever a
# script says, there is no program to run and no file to harm.
set -euo pipefail
cage=$1 count=$2 driver=$3

mount -t tmpfs -o mode=755 oracle "$cage"
mkdir "$cage/.oracle" "$cage/dev" "$cage/work"
bash=$(command -v bash)
cp -L "$bash" "$cage/.oracle/bash"
while read -r library; do
  mkdir -p "$cage${library%/*}"
  cp -L "$library" "$cage$library"
done < <(ldd "$bash" | grep -o '/[^ ]*')
# So that letters beyond ASCII are letters to bash.
locale=/usr/lib/locale/C.utf8
if [[ -d $locale ]]; then
  mkdir -p "$cage${locale%/*}"
  cp -r "$locale" "$cage$locale"
fi
: > "$cage/dev/null"
mount --bind /dev/null "$cage/dev/null"
(cd "$cage/work" && seq 0 "$((count - 1))" | xargs mkdir)
chroot=$(command -v chroot)
exec env -i LC_ALL=C.UTF-8 HOME=/home/dev PATH=/nowhere \
  "$chroot" "$cage" /.oracle/bash --norc --noprofile -c "$driver"
