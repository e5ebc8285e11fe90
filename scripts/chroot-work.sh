# shellcheck shell=bash
# The chroots of a script, which removes them however it ends. Source it instead of chroot.sh.

# shellcheck source=scripts/chroot.sh
source "$(dirname "${BASH_SOURCE[0]}")/chroot.sh"
# shellcheck source=scripts/process-group.sh
source "$(dirname "${BASH_SOURCE[0]}")/process-group.sh"

# begin_work NAME: sets work to a new directory for chroots and files. When the script ends, so do the command of
# run_in_group and the directory.
begin_work() {
  work=$(chroot_directory "$1")
  trap end_work EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP PIPE
}

# git in this tree, which may belong to another user than root
git_here() { git -C "$chroot_tree" -c safe.directory="$(realpath "$chroot_tree")" "$@"; }

end_work() {
  end_process_group
  chroot_remove_all "$work"
  rm -rf --one-file-system "$work"
}
