#!/bin/bash
# bridge: one line a key, the PCIe link, counters; reading it sends nothing.
. "$(dirname "$0")/lib.sh"
requires awk
in_mount

expect "lines that are not KEY VALUE" "" "$(grep -Ev '^[a-z_]+ [^ ]' bridge)"
expect "keys that come twice" "" "$(cut -d' ' -f1 bridge | sort | uniq -d)"
expect "link" up "$(value bridge pcie_link)"
case $(value bridge family) in
rtl921x)
	expect "generation, width" "1 1" "$(value bridge pcie_gen) $(value bridge pcie_width)"
	expect "of the bridge's port" "3 2" "$(value bridge pcie_max_gen) $(value bridge pcie_max_width)"
	case $(value bridge pcie_port) in
	0x????????) ;;
	*) fail "pcie_port: expected 0x and eight digits, got '$(value bridge pcie_port)'" ;;
	esac
	;;
esac
for key in retries link_timeouts recoveries port_resets refusals unlocks tlp_timeouts; do
	expect "$key" 0 "$(value bridge $key)"
done
expect "ability_engine_burst" 0 "$(value bridge ability_engine_burst)"
expect "ability_functions" 0 "$(value bridge ability_functions)"
no_samples
sent=$(value bridge commands)
for _ in 1 2 3 4 5 6 7 8; do cat bridge status >/dev/null; done
expect "commands after reading bridge and status" "$sent" "$(value bridge commands)"
finish
