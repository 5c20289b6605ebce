# plan.sh - sourced after lib.sh: a plan of one kernel that adds 1 to buffer `sum` a step, with or
# without input.

make_plan() {
	cat >"$TMP/add.cl" <<-'K'
	kernel void add(global float *sum, uint n)
	{
		if (get_global_id(0) < n)
			sum[get_global_id(0)] += 1;
	}
	K
	compile "$TMP/add.cl" || fail "add.cl: $(cat kernels/add.log)"
	head -c 1024 /dev/zero >buffers/sum
	plan_json "$1" >"$TMP/p.json"
	cp "$TMP/p.json" plans/ || fail "p.json: $(value plans/p/status error)"
}

# plan_json INPUT - INPUT is a JSON member with its comma, or nothing.
plan_json() {
	cat <<-J
	{ "format": "rx580-plan-1", $1
	  "steps": [ { "kernel": "add:add", "groups": [4], "group": [64], "args": { "sum": "sum", "n": 256 } } ],
	  "state": [ { "name": "sum", "at": "sum", "dtype": "F32", "shape": [256] } ] }
	J
}

sums() {
	od -An -tf4 -v -w1024 buffers/sum | tr -s ' ' '\n' | sort -u | grep .
}
