# Shared by the scripts: paths inside the clone, and the tools kept there.
# shellcheck shell=bash

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
TOOLS="$ROOT/.tools"
VENV="$ROOT/.venv"
export UV_CACHE_DIR="${UV_CACHE_DIR:-$TOOLS/uv-cache}"
export UV_PYTHON_INSTALL_DIR="$TOOLS/python-managed"
export UV_PROJECT_ENVIRONMENT="$VENV"
export UV_LINK_MODE="${UV_LINK_MODE:-hardlink}"
export npm_config_cache="${npm_config_cache:-$TOOLS/npm-cache}"
export PYTHONPATH=

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Packages of script/system-packages whose probe finds nothing, one per line.
missing_system_packages() {
  local probe package
  while read -r probe package; do
    case "$probe" in
      '' | '#'*) continue ;;
      /*) compgen -G "$probe" >/dev/null || echo "$package" ;;
      *) command -v "$probe" >/dev/null || echo "$package" ;;
    esac
  done <"$ROOT/script/system-packages"
}

# Install what is missing when root on Debian; otherwise stop with the command to run.
ensure_system_packages() {
  local missing
  mapfile -t missing < <(missing_system_packages | sort -u)
  command -v python3 >/dev/null && python3 -c 'import ensurepip, venv' 2>/dev/null ||
    command -v uv >/dev/null || missing+=(python3 python3-venv)
  [ "${#missing[@]}" -eq 0 ] && return 0
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    say "installing Debian packages: ${missing[*]}"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$TOOLS/apt.log" 2>&1 ||
      { tail -n 20 "$TOOLS/apt.log" >&2; die "apt-get failed; its log is .tools/apt.log"; }
    mapfile -t missing < <(missing_system_packages)
    [ "${#missing[@]}" -eq 0 ] || die "still missing after installing: ${missing[*]}"
  else
    die "missing system packages. Run: sudo apt-get install -y --no-install-recommends ${missing[*]}"
  fi
}

# Put the path of a uv into $UV: the one on PATH, or one installed below .tools.
ensure_uv() {
  if command -v uv >/dev/null; then
    UV="$(command -v uv)"
  else
    UV="$TOOLS/uv/bin/uv"
    if ! "$UV" --version >/dev/null 2>&1; then
      say "installing uv"
      rm -rf "$TOOLS/uv"
      python3 -m venv "$TOOLS/uv"
      "$TOOLS/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv
    fi
  fi
}

# uv.lock is committed without host names, so that it follows whatever package index
# this machine uses. These two translate between that form and the one that uv reads.
LOCK_INDEX='https://index.invalid/simple'
LOCK_FILES='https://files.invalid/packages'
LOCK_PROJECT="$TOOLS/project"

# Ask uv for the index in use and the place of its files: $INDEX and $FILES.
find_index() {
  local probe="$TOOLS/index-probe"
  mkdir -p "$probe"
  printf '[project]\nname = "probe"\nversion = "0"\nrequires-python = ">=3.14"\ndependencies = ["iniconfig"]\n' >"$probe/pyproject.toml"
  "$UV" lock --quiet --project "$probe" --python "$1" || die "the package index cannot be reached"
  INDEX="$(sed -n 's/^source = { registry = "\(.*\)" }$/\1/p' "$probe/uv.lock" | head -n 1)"
  FILES="$(sed -n 's#^.*{ url = "\(.*\)/../../[0-9a-f]*/iniconfig-.*#\1#p' "$probe/uv.lock" | head -n 1)"
  [ -n "$INDEX" ] && [ -n "$FILES" ] || die "cannot tell which package index uv uses"
}

# Make $LOCK_PROJECT: pyproject.toml and a uv.lock that uv reads.
render_lock() {
  find_index "$1"
  mkdir -p "$LOCK_PROJECT"
  cp "$ROOT/pyproject.toml" "$LOCK_PROJECT/pyproject.toml"
  rm -f "$LOCK_PROJECT/uv.lock"
  if [ -s "$ROOT/uv.lock" ]; then
    sed -e "s#$LOCK_INDEX#$INDEX#g" -e "s#$LOCK_FILES#$FILES#g" "$ROOT/uv.lock" >"$LOCK_PROJECT/uv.lock"
  fi
}
