#!/bin/bash
# Prometheus, rules and dashboards, against a real daemon: that they are well formed, that every query of every panel and every
# rule answers, and that what Prometheus has is what the daemon counted.
#
#   scripts/test_observability.sh [--bin FOLDER] [--seconds N] [--pictures FOLDER]
#
# --bin has tensord and tensordctl (build/release/bin). The load lasts N seconds (40). --pictures draws the dashboards there;
# docs/images has those of a run of 120. With ../shared, or TENSORD_SHARED_DIR, real models are part of the load.
set -uo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --venv || exit 1
python=build/venv/bin/python
prometheus=deploy/prometheus
status=0

# check TITLE COMMAND...: what it says only if it fails.
check() {
  local title=$1 said
  shift
  if said=$("$@" 2>&1); then
    echo "ok: $title"
  else
    echo "FAULT: $title"
    echo "$said"
    status=1
  fi
}

# Debian's promtool is built without Kubernetes: of that configuration it can check all else.
check_kubernetes_config() {
  local copy result=0
  grep -q '^    kubernetes_sd_configs:$' $prometheus/prometheus.kubernetes.yml || return 1
  copy=$(mktemp)
  sed -e '/^    kubernetes_sd_configs:$/,+1d' -e "s|- rules/|- $PWD/$prometheus/rules/|" \
    $prometheus/prometheus.kubernetes.yml >"$copy"
  promtool check config "$copy" || result=1
  rm "$copy"
  return $result
}

check "promtool check config" promtool check config $prometheus/prometheus.yml
check "promtool check config, Kubernetes" check_kubernetes_config
check "promtool check rules" promtool check rules $prometheus/rules/*.yml
check "promtool test rules" promtool test rules $prometheus/tests/*.yml
check "dashboards are what the generator writes" $python deploy/grafana/generate.py --check
check "dashboards have no faults" $python scripts/observability/check_dashboards.py
check "rules have no faults" $python scripts/observability/check_rules.py
$python scripts/observability/live_check.py "$@" || status=1

[ $status -eq 0 ] && echo "observability: all well"
exit $status
