# shellcheck shell=bash disable=SC2154
# Planted faults, in $here/mutants/NAME.patch. The first line of a patch is the rule that it breaks. Source it, with $here and
# $tree set.

# mutant_names [NAME...]: prints these names, or all
mutant_names() {
  local names=("$@")
  if ((!$#)); then
    names=("$here"/mutants/*.patch)
    names=("${names[@]##*/}")
    names=("${names[@]%.patch}")
  fi
  printf '%s\n' "${names[@]}"
}

# plant NAME COPY [BUILT...]: makes the directory COPY, a copy of the tree with this fault. Of what is in .build it has BUILT.
plant() {
  local name=$1 copy=$2 built
  rm -rf "$copy"
  mkdir -p "$copy/.build"
  cp -a "$tree"/{Makefile,dpquantile.control,scripts,src,test} "$copy/"
  for built in "${@:3}"; do
    if [[ -e $tree/.build/$built ]]; then cp -a "$tree/.build/$built" "$copy/.build/"; fi
  done
  patch --silent --fuzz=0 --strip=1 --directory="$copy" <"$here/mutants/$name.patch" ||
    { echo "$name.patch does not fit the sources any more" >&2 && return 1; }
}
