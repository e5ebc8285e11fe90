#!/usr/bin/python3
"""mutants.py [NAME...]: plants the fault of NAME.patch, by default each, one at a time in a copy of the sources, and tells which of
its checks finds it, the cheapest first. `make mutants` calls it. Fails if a mutant is not found.

OF: a kind of check; only mutants that name such a check, and only these of their checks.
BY: other checks in place of those that the patches name, with ; between them. What they find is not noted.
SECONDS_IN_ALL, QUERIES, SEED: of the searches.
mutants.py --table writes the table of README.md, and nothing else."""

import datetime
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
FOUND = HERE / "found.tsv"
README = HERE / "README.md"
CCACHE = "/usr/lib/ccache"
TABLE = "| mutant | room | what it breaks | found first by | after | last on |\n|---|---|---|---|---|---|\n"

# What a check of each kind runs, what its log says of a fault that is found, and what of that is told, if not all. A kind with a
# server of its own gets the library from the copy. The others install it into a copy of PostgreSQL.
ONE = "set -f; scripts/test-one.sh {kind} {rest}"
TESTS = r"^not ok .*|.*\bFAILED .*"
TAP = r"^not ok \d+ - (.*)|^.*Wstat: .*Failed: 0\)|^.*Dubious.*"
KINDS = {
    "unit": (ONE, r"\[  FAILED  \] (\S+)|.*(?:Assertion|Segmentation|Aborted|terminate called|Floating point exception).*"),
    "privacy": (ONE, r"\[  FAILED  \] (\S+)"),
    "regress": (ONE, TESTS),
    "isolation": (ONE, TESTS),
    "tap": (ONE, TAP),
    "distributed": (ONE, TAP),
    "exhaustive": ("make exhaustive CHECKS='{rest}'", r"^(.*?)  .*REFUTED"),
    "adversary": ("make adversary CHECKS='{rest}'", r".*REFUTED.*"),
    "audit": ("make audit CASES='{rest}'", r".*REFUTED.*"),
    "fuzz": ("make fuzz TARGETS='{rest}'", r"^--- (.*)"),
    "sanitize": ("make sanitize ISOLATION= TAP= REGRESS='{rest}'", r"AddressSanitizer: [a-z-]+|runtime error: .*"),
    "messages": ("make messages", r"^not ok: (.*)"),
    "neighbours": ("make neighbours", r"^Stopped after (\d+ queries)"),
    "attack": ("make attack", r"^FOUND: (.*)|terminated by signal.*"),
    "chaos": ("make chaos", r"^in (episode \d+)"),
}
DEFAULTS = {"MOST_DIFFERENCES": "1", "QUERIES": "8000", "SECONDS_IN_ALL": "60"}
BUILT = ("exhaustive", "messages", "neighbours", "test/quick", "chaos", "sanitize", "fuzz")


class Mutant:
    """A patch: what it breaks, the checks that find it, and the rooms that it changes."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        text = path.read_text()
        self.rule = text.split("\n", 1)[0]
        self.checks = re.findall(r"^CHECK: (.*)", text, re.M)
        files = [pathlib.PurePath(name) for name in re.findall(r"^\+\+\+ b/src/(\S+)", text, re.M)]
        self.rooms = list(dict.fromkeys("sql" if file.parts[0] == "sql" else str(file.parent) for file in files))


def run(command, cwd, **variables):
    """The status and the output of a command."""
    # A fault may leave something unused, which CI=1 makes an error of the compiler.
    clean = {name: value for name, value in os.environ.items() if name not in ("CI", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "OF", "BY")}
    if os.path.isdir(CCACHE):
        clean["PATH"] = CCACHE + ":" + clean["PATH"]
    done = subprocess.run(["bash", "-c", command], cwd=cwd, env={**clean, **variables}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, done.stdout


def must(command, cwd, **variables):
    status, log = run(command, cwd, **variables)
    if status:
        sys.exit(log[-3000:] + f"\n{command}: status {status}")
    return log


def plant(mutant, copy):
    shutil.rmtree(copy, ignore_errors=True)
    os.makedirs(copy / ".build/test")
    must(f"scripts/pack-tree.sh | tar -C '{copy}' -xf - && cp -a src '{copy}/'", TREE)
    for built in BUILT:
        if (TREE / ".build" / built).exists():
            must(f"cp -a .build/{built} '{copy}/.build/{built}'", TREE)
    must(f"patch --silent --fuzz=0 --strip=1 <'{mutant.path}'", copy)


def tell(check, log):
    """What the log says of the fault that the check found, in a few words, or None."""
    kind = check.split()[0]
    lines = [next((part for part in match.groups() if part), match.group()) for match in re.finditer(KINDS[kind][1], log, re.M)]
    if kind == "regress" and lines:
        names = re.findall(r"^test (\S+) .*FAILED|^not ok \d+ +- (\S+)", log, re.M)
        return f"{len(re.findall('^[+-]', log, re.M))} lines of {', '.join(old or new for old, new in names)}"
    return re.sub(r"\s+", " ", lines[0]).strip(" .:")[:70].replace("|", "/") if lines else None


def ask(check, copy, server):
    """What this check finds in the copy, or None."""
    kind, _, rest = check.partition(" ")
    variables = {**DEFAULTS, **({"SECONDS_IN_ALL": "300"} if kind == "chaos" else {}), **{k: os.environ[k] for k in DEFAULTS if os.environ.get(k)}}
    if kind in ("regress", "isolation", "tap", "distributed"):
        variables["PG_CONFIG"] = server
    command = KINDS[kind][0].format(kind=kind, rest=rest)
    if kind == "regress":
        command += " || { cat regression.diffs | sed 1,3d; exit 1; }"
    status, log = run(command, copy, **variables)
    if status == 0:
        return None
    told = tell(check, log)
    if told is None:
        print(log[-3000:] + f"\n{check}: status {status}, but nothing is found", file=sys.stderr)
    return told


def read_found():
    """What found.tsv has of the mutants and checks that there are: by mutant and check, after how much and when."""
    there = {(mutant.name, check) for mutant in all_mutants() for check in mutant.checks}
    lines = [line.split("\t") for line in FOUND.read_text().splitlines()]
    return {(line[0], line[1]): line[2:] for line in lines if (line[0], line[1]) in there}


def note(mutant, check, after):
    """Keeps what was found, with the date, in found.tsv. Several runs may do so at a time."""
    with open(HERE / "mutants.py") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        rows = read_found()
        rows[mutant.name, check] = [after, datetime.date.today().isoformat()]
        FOUND.write_text("".join("\t".join([*key, *rows[key]]) + "\n" for key in sorted(rows)))
        write_table()


def write_table():
    rows = read_found()
    text = README.read_text().split(TABLE)[0] + TABLE
    for mutant in sorted(all_mutants(), key=lambda mutant: (mutant.rooms, mutant.name)):
        seen = next((check for check in mutant.checks if (mutant.name, check) in rows), None)
        after, date = rows[mutant.name, seen] if seen else ("", "not yet")
        check = (seen or mutant.checks[0]).replace("|", r"\|")
        text += f"| {mutant.name} | {', '.join(mutant.rooms)} | {mutant.rule} | `{check}` | {after} | {date} |\n"
    README.write_text(text)


def all_mutants():
    return [Mutant(path) for path in sorted(HERE.glob("*.patch"))]


def main():
    if sys.argv[1:] == ["--table"]:
        return write_table()
    of, by = os.environ.get("OF"), os.environ.get("BY")
    mutants = [Mutant(HERE / f"{name}.patch") for name in sys.argv[1:]] or all_mutants()
    found, tried = 0, 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="dpquantile-mutants-") as work:
        os.chmod(work, 0o755)
        server = must(f"scripts/private-server.sh {work}/server dpquantile.so", TREE).strip()
        for mutant in mutants:
            checks = [check.strip() for check in by.split(";")] if by else mutant.checks
            if of:
                checks = [check for check in checks if check.split()[0] == of]
            if not checks:
                continue
            tried += 1
            copy = pathlib.Path(work, "tree")
            plant(mutant, copy)
            told = check = None
            for check in checks:
                told = ask(check, copy, server)
                if told is not None:
                    break
            found += told is not None
            print(f"{mutant.name:28} {check + ': ' + told if told is not None else 'NOT FOUND'}", flush=True)
            if told is not None and not by:
                note(mutant, check, told)
    print(f"{found} of {tried} mutants found")
    return found != tried


if __name__ == "__main__":
    sys.exit(main())
