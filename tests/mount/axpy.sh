# axpy.sh - sourced after lib.sh by tests that run AXPY as a plan, in a mount and with $TMP.

# axpy_run GROUPS ITEMS N - y += 2.5 x for the first N values of buffers/x and buffers/y, one step of a
# plan that stays loaded; the kernel is kernels/axpy.co.
axpy_run() {
	local line
	cat >"$TMP/axpy.json" <<J
{ "format": "rx580-plan-1",
  "steps": [ { "kernel": "axpy:axpy", "groups": [$1], "group": [$2], "args": { "a": 2.5, "x": "x", "y": "y", "n": $3 } } ] }
J
	works cp "$TMP/axpy.json" plans/
	exec 3<>plans/axpy/run
	echo 1 >&3
	line=$(tail -n 1 <&3) # after 5 s without a result lines of progress come first
	exec 3>&-
	case $line in
	'{"seq":1,"steps":1,"ok":true,'*) ;;
	*) fail "run: expected one good step, got '$line'" ;;
	esac
}

# axpy_proof - from its source: 257 outputs equal, 63 guard values untouched. Needs python:numpy.
axpy_proof() {
	cat >"$TMP/axpy.cl" <<'K'
kernel void axpy(float a, global const float *x, global float *y, uint n)
{
	size_t i = get_global_id(0);
	if (i < n)
		y[i] += a * x[i];
}
K
	works compile "$TMP/axpy.cl"
	"$PYTHON" - <<'P'
import numpy as np
np.arange(320, dtype=np.float32).tofile('buffers/x')
np.full(320, 7, np.float32).tofile('buffers/y')
P
	axpy_run 5 64 257
	expect "257 outputs and 63 guards" "257 63" "$("$PYTHON" -c "
import numpy as np
y = np.fromfile('buffers/y', np.float32)
print((y[:257] == 7 + 2.5 * np.arange(257)).sum(), (y[257:] == 7).sum())")"
	works rm plans/axpy.json
}
