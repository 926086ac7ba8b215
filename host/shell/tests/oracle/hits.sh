# Lets bash run scripts and tells which of them ran the command `zz`.
#
# Standard input: scripts that end in NUL. Standard output: \004 for each time that the command ran,
# and \007 behind each script. Everything else is real: builtins, expansions, traps. There is no
# other program in this root, and nothing to harm.

# A command that is not found comes here.
command_not_found_handle() {
  if [[ $1 == zz ]]; then builtin printf '\004' >&241; fi
}

mapfile -d '' -t _oracle_all
exec 241>&1 < /dev/null
_oracle_folder=0
for _oracle_script in "${_oracle_all[@]}"; do
  builtin cd "/work/$((_oracle_folder++))"
  (
    ulimit -t 2
    builtin eval -- "$_oracle_script"
    builtin wait
  ) > /dev/null 2>&1
  builtin printf '\007'
done
