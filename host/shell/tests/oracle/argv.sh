# Lets bash evaluate scripts and tell the words of every command that it would run.
#
# Standard input: for each script three texts that end in NUL: the builtin that stays real
# (`builtin` or `command`; the script does not use it), names with a slash, separated by \005, and
# the script. Standard output: \004 WORD \005 WORD \005 … \006 for each command, the trace in
# between, and \007 FILE \005 … \006 behind each run with the files that it made. No script holds
# such characters: they are refused before.

# A command that is not found comes here. So do all builtins: functions of their names hide them.
command_not_found_handle() {
  "$_oracle_real" printf -v _oracle_record '%s\005' "${@//$'\n'/$'\016'}"
  "$_oracle_real" printf '\004%s\006\n' "$_oracle_record" >&241
  ((_oracle_status == 0))
}

mapfile -d '' -t _oracle_all
exec 241>&1 < /dev/null
shopt -s nullglob dotglob
for _oracle_name in $(compgen -b); do
  if [[ $_oracle_name != builtin && $_oracle_name != command ]]; then
    builtin eval "function $_oracle_name { command_not_found_handle $_oracle_name \"\$@\"; }"
  fi
done

_oracle_folder=0
for ((_oracle_at = 0; _oracle_at < ${#_oracle_all[@]}; _oracle_at += 3)); do
  for _oracle_status in 0 1; do
    builtin cd "/work/$((_oracle_folder++))"
    (
      _oracle_real=${_oracle_all[_oracle_at]}
      _oracle_hidden=command
      if [[ $_oracle_real == command ]]; then _oracle_hidden=builtin; fi
      IFS=$'\005' _oracle_names=(${_oracle_all[_oracle_at + 1]} "$_oracle_hidden")
      for _oracle_name in "${_oracle_names[@]}"; do
        # Only this name is still real in both cases until its own turn, the last.
        builtin eval "function $_oracle_name { command_not_found_handle $_oracle_name \"\$@\"; }"
      done
      "$_oracle_real" unset IFS OLDPWD _oracle_name
      "$_oracle_real" shopt -u nullglob dotglob
      # The trace counts commands with a slash too, and assignments.
      PS4=$'+\020${FUNCNAME:+F}\021' BASH_XTRACEFD=241
      "$_oracle_real" set -x
      "$_oracle_real" eval -- "${_oracle_all[_oracle_at + 2]}"
    ) > /dev/null 2>&1
    _oracle_files=(*)
    IFS=$'\005'
    builtin printf '\007%s\006\n' "${_oracle_files[*]//$'\n'/$'\016'}"
    builtin unset IFS
  done
done
