# shellcheck shell=bash
# How the scripts end with an error. They source it.

die() {
  echo "$*" >&2
  exit 1
}

# require_known WHAT "NAME..." [NAME...]: ends the script with status 2 unless each further name is one of the first.
require_known() {
  local what=$1 known=$2 name
  for name in "${@:3}"; do
    [[ " $known " == *" $name "* ]] || {
      echo "There is no $what $name, only: $known" >&2
      exit 2
    }
  done
}
