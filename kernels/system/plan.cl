/* plan.cl - kernels the plan engine adds to every step; see docs/plan-format.md. */
kernel void plan_placeholder(global uint *out)
{
	out[0] = 1;
}
