#!/bin/bash
# telemetry and hwmon/: one sample, no traffic, what may be written; the exporter; a card without power management.
. "$(dirname "$0")/lib.sh"
requires "$PYTHON"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
in_mount

commands() { value bridge commands; }
field() { "$PYTHON" -c 'import json, sys; print(json.load(open("telemetry"))[sys.argv[1]])' "$1"; }
grew() { [ "$(field sample)" -ge "$1" ]; }

# frozen, both views agree and reading them sends nothing
no_samples
before=$(commands)
"$PYTHON" - <<'P' || fail "telemetry and hwmon differ"
import json, os, sys
t = json.load(open('telemetry'))
pairs = {'temp1_input': 'temperature_mc', 'temp1_crit': 'temperature_critical_mc', 'fan1_input': 'fan_rpm',
         'pwm1': 'pwm', 'power1_average': 'power_uw', 'power1_cap': 'power_cap_uw',
         'power1_cap_max': 'power_cap_max_uw', 'in0_input': 'vddc_mv', 'freq1_input': 'sclk_hz',
         'freq2_input': 'mclk_hz', 'fan1_fault': 'fan_stuck'}
bad = 0
for i in range(20):
    for name, key in pairs.items():
        got = open('hwmon/' + name).read()
        if got != '%d\n' % t[key]:
            print('hwmon/%s: expected %d, got %r' % (name, t[key], got))
            bad = 1
    if json.load(open('telemetry')) != t:
        print('telemetry changed without a sample')
        bad = 1
for name in os.listdir('hwmon'):
    size, text = os.stat('hwmon/' + name).st_size, open('hwmon/' + name).read()
    if size != len(text):
        print('hwmon/%s: expected size %d, got %d' % (name, len(text), size))
        bad = 1
sys.exit(bad)
P
cat hwmon/* telemetry >"$TMP/all"
expect "commands to the bridge by reading" "$before" "$(commands)"

# the fan
expect "fan at the start" 2 "$(cat hwmon/pwm1_enable)"
refuses "Invalid argument" put hwmon/pwm1 100
works put hwmon/pwm1_enable 1
works put hwmon/pwm1 255
expect "fan after pwm1_enable" 1 "$(cat hwmon/pwm1_enable)"
full() { [ "$(cat hwmon/pwm1)" = 255 ] && [ "$(cat hwmon/fan1_input)" -gt 2500 ]; }
works put hwmon/update_interval 100
eventually 60 full || fail "pwm1 255: expected full speed, got $(cat hwmon/pwm1) and $(cat hwmon/fan1_input) rpm"
expect "fan in status" manual "$(value status fan)"
refuses "Invalid argument" put hwmon/pwm1 256
refuses "Invalid argument" put hwmon/pwm1_enable 7
works put hwmon/pwm1_enable 2
expect "fan given back" automatic "$(value status fan)"

# the power limit: the board's own and below
max=$(cat hwmon/power1_cap_max)
refuses "Invalid argument" put hwmon/power1_cap $((max + 1000000))
refuses "Invalid argument" put hwmon/power1_cap $(($(cat hwmon/power1_cap_min) - 1000000))
works put hwmon/power1_cap $((max - 20000000))
expect "power1_cap" $((max - 20000000)) "$(cat hwmon/power1_cap)"

# the interval
works put hwmon/update_interval 100
n=$(field sample)
eventually 60 grew $((n + 10)) || fail "10 samples at 100 ms: expected them within a minute, got $(($(field sample) - n))"

# the exporter
export=$ROOT/scripts/prometheus
works "$export" "$RX580" "$TMP/gpu.prom"
expect "up" 1 "$(value "$TMP/gpu.prom" rx580_up)"
expect "exported power limit" $(((max - 20000000) / 1000000)) "$(value "$TMP/gpu.prom" rx580_power_limit_watts)"
expect "mode" 644 "$(stat -c %a "$TMP/gpu.prom")"
grep -vE '^# (HELP|TYPE) rx580_[a-z_]+ .|^rx580_[a-z_]+(\{[a-z]+="[a-z]+"\})? [0-9.e+-]+$' "$TMP/gpu.prom" && fail "lines node_exporter cannot read"
refuses "usage" "$export" "$RX580" "$TMP/gpu.txt"
refuses "No such file" "$export" "$TMP/nothing" "$TMP/gpu.prom"
expect "up without a mount" 0 "$(value "$TMP/gpu.prom" rx580_up)"
expect "nothing is left beside it" gpu.prom "$(cd "$TMP" && echo *prom*)"

# without power management, as asked for or because the SMU refuses a power controller
clocks() {
	"$BUILD/rx580fs" "$@" --run 'sed -n "s/^clocks //p" "$RX580/status"; cat "$RX580"/hwmon/freq[12]_input
		cat "$RX580/hwmon/power1_cap" 2>&1 | grep -o "No data.*"; sed -n "s/^guest_errors //p" "$RX580/bridge"' 2>"$TMP/err" |
		tr '\n' ' '
}
none="300/300 MHz, no power management 300000000 300000000 No data available 0 "
expect "--no-dpm" "$none" "$(clocks --card virtual --no-dpm)"
expect "-o dpm=off" "$none" "$(clocks --card virtual -o dpm=off)"
expect "a power controller that does not start" "$none" "$(clocks --card virtual,fault=smu-fails=0x185)"
grep -q "power management could not be started" "$TMP/err" || fail "a power controller that does not start: $(cat "$TMP/err")"
finish
