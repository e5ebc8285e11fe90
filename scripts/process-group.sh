# shellcheck shell=bash
# Runs a command in a process group of its own, so that a script that is stopped can end all of its processes. Source it.
# shellcheck disable=SC2034 # the callers use status
process_group=

# run_in_group COMMAND...: sets status. Bash ignores set -e in a command that is a function if a condition calls this.
run_in_group() {
  status=0
  set -m
  "$@" </dev/null &
  process_group=$!
  set +m
  wait "$process_group" || status=$?
  end_process_group
}

end_process_group() {
  if [[ -n $process_group ]]; then kill -s KILL -- "-$process_group" 2>/dev/null || true; fi
  process_group=
}
