#!/usr/bin/env bash
# The tests on a clone of this checkout (what is committed), under the conditions in which they
# have to pass; ends with pytest's closing line of each run.
#
#   tools/conditions.sh                                    every condition: four runs, the whole suite
#   tools/conditions.sh serial background+dumb             two runs; + joins conditions of one run
#   tools/conditions.sh user+read-only-home -- tests/cli   what is after -- goes to pytest
#
#   background      SIGINT is ignored, as in a process that a script starts with & or nohup
#   closed-stdin    there is no standard input
#   no-terminal     no controlling terminal either: a session of its own
#   dumb            TERM=dumb
#   c-locale        LC_ALL=C and LANG=C
#   odd-path        the clone is in a folder with spaces and letters outside ASCII
#   user            as TAMIZ_USER (nobody), who owns the clone; needs root, or is so already
#   read-only-home  nothing can be written in the home; compiled functions are kept in the clone
#   shuffled        files, and the tests in each, in an order drawn from TAMIZ_SHUFFLE (a new one)
#   serial, four    -n 0, -n 4
#
# PYTHON is the interpreter with the test dependencies (.venv/bin/python, which `make test` builds);
# TAMIZ_USER must be able to run it. PYTHONPATH, if it is set, comes behind the clone's source.
# TAMIZ_WORKERS is -n where no condition names it (2). Where the checkout is no git repository, its files
# are copied instead, but for what .gitignore names.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-$root/.venv/bin/python}
user=${TAMIZ_USER:-nobody}

runs=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    runs+=("$1")
    shift
done
[ $# -eq 0 ] || shift
[ ${#runs[@]} -gt 0 ] || runs=(
    background+closed-stdin+no-terminal+dumb+c-locale+odd-path+user+read-only-home
    shuffled serial four
)

place=$(mktemp -d)
trap 'chmod -R u+w "$place"; rm -rf "$place"' EXIT
chmod 755 "$place"

make_clone() { # folder
    if git -C "$root" rev-parse HEAD >/dev/null 2>&1; then
        git clone --quiet "$root" "$1"
    else
        mkdir -p "$1"
        tar -C "$root" -c --exclude-vcs-ignores --exclude=./carry . | tar -C "$1" -x
    fi
}

run() { # conditions joined by +, arguments of pytest
    local folder=$place/plain home=$place/home workers=${TAMIZ_WORKERS:-2} log ignored= stdin=/dev/null before=() after=()
    local environment=(OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "PATH=$PATH"
        "TAMIZ_HYPOTHESIS=${TAMIZ_HYPOTHESIS:-same examples}")
    local condition conditions
    IFS=+ read -ra conditions <<<"$1"
    shift
    rm -rf "$home"
    mkdir "$home"
    for condition in "${conditions[@]}"; do
        case $condition in
        background) ignored=INT before+=(nohup) ;;
        closed-stdin) stdin=closed ;;
        no-terminal) before+=(setsid --wait) ;;
        dumb) environment+=(TERM=dumb) ;;
        c-locale) environment+=(LC_ALL=C LANG=C) ;;
        odd-path) folder="$place/ñandú, ёж and spaces" ;;
        user) [ "$(id -u)" -ne 0 ] || after=(setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups) ;;
        read-only-home) chmod 555 "$home" ;;
        shuffled) environment+=("TAMIZ_SHUFFLE=${TAMIZ_SHUFFLE:-$RANDOM}") ;;
        serial) workers=0 ;;
        four) workers=4 ;;
        *) echo "There is no condition '$condition': see the head of $0" >&2 && return 2 ;;
        esac
    done
    [ -d "$folder" ] || make_clone "$folder/tamiz"
    folder=$folder/tamiz
    [ ${#after[@]} -eq 0 ] || chown -R "$user" "$folder" "$home"
    environment+=("HOME=$home" "PYTHONPATH=$folder/src${PYTHONPATH:+:$PYTHONPATH}" "TMPDIR=$(mktemp -d -p "$place")")
    [ ${#after[@]} -eq 0 ] || chown "$user" "$place"/tmp.*
    log=$place/log
    (
        cd "$folder"
        # Ignored signals stay ignored in what is started; `nohup` alone is for SIGHUP only.
        [ -z "$ignored" ] || trap '' "$ignored"
        if [ "$stdin" = closed ]; then exec <&-; else exec <"$stdin"; fi
        "${before[@]}" "${after[@]}" env -i "${environment[@]}" \
            "$python" -m pytest -q -n "$workers" -p no:cacheprovider "$@"
    ) >"$log" 2>&1 || sed -n '/^=.* FAILURES\|^=.* ERRORS/,$p' "$log"
    echo "${conditions[*]}: $(tail -n 1 "$log")"
    ! tail -n 1 "$log" | grep -qE 'failed|error' && tail -n 1 "$log" | grep -q passed
}

failed=0
for conditions in "${runs[@]}"; do
    run "$conditions" "$@" || failed=1
done
exit $failed
