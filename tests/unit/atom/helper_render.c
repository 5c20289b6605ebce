#include <stdio.h>
#include <stdlib.h>

#include "device/vbios/info.h"
#include "device/vbios/powerplay.h"
#include "device/vbios/voltage.h"
#include "device/vbios/vram_info.h"
#include "helper_render.h"

static void num(json_t *o, const char *key, long long v)
{
	json_object_set_new(o, key, json_integer(v));
}

static void hex(json_t *o, const char *key, uint32_t v)
{
	json_object_set_new(o, key, json_sprintf("0x%x", v));
}

static void text(json_t *o, const char *key, const char *v)
{
	json_object_set_new(o, key, json_string(v));
}

static json_t *array(json_t *o, const char *key)
{
	json_t *a = json_array();

	json_object_set_new(o, key, a);
	return a;
}

/* nothing - what stands for a table that could not be decoded. */
static json_t *nothing(json_t *begun)
{
	json_decref(begun);
	return json_null();
}

static json_t *append(json_t *a)
{
	json_t *o = json_object();

	json_array_append_new(a, o);
	return o;
}

static void revision(json_t *o, const struct vbios_rom *rom, enum atom_data index)
{
	const struct vbios_table *t = &rom->table[index];

	json_object_set_new(o, "revision", json_sprintf("%u.%u", t->major, t->minor));
}

/* N and H set a member under its own name: as a number, or as hexadecimal text. */
#define N(o, s, name) num(o, #name, (s)->name)
#define H(o, s, name) hex(o, #name, (s)->name)

static json_t *render_rom(const struct vbios_rom *rom)
{
	json_t *o = json_object(), *images = array(o, "images");

	num(o, "file_size", (long long)rom->size);
	num(o, "legacy_image_bytes", rom->legacy_bytes);
	for (unsigned i = 0; i < rom->images; i++) {
		const struct vbios_image *im = &rom->image[i];
		json_t *e = append(images);

		N(e, im, offset);
		N(e, im, bytes);
		N(e, im, code_type);
		N(e, im, indicator);
		json_object_set_new(
		        e, "vendor_device", json_sprintf("%04x:%04x", im->vendor, im->device));
		num(e, "pcir_offset", im->pcir);
		num(e, "byte_sum_mod_256", im->sum);
	}
	num(o, "checksum_byte_0x21", rom->data[0x21]);
	num(o, "atom_rom_header", rom->header);
	num(o, "master_command_table", rom->master_command);
	num(o, "master_data_table", rom->master_data);
	json_object_set_new(o, "subsystem",
	        json_sprintf("%04x:%04x", rom->subsystem_vendor, rom->subsystem_id));
	json_t *strings = array(o, "strings");

	for (unsigned i = 0; i < rom->strings; i++)
		json_array_append_new(strings, json_string(rom->string[i]));
	text(o, "name", rom->name);
	text(o, "date", rom->date);
	return o;
}

static json_t *render_list(const struct vbios_table *t, unsigned n, int commands)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < n; i++) {
		if (!t[i].size)
			continue;
		json_t *e = append(a);

		num(e, "index", i);
		N(e, &t[i], offset);
		N(e, &t[i], size);
		json_object_set_new(e, "rev", json_sprintf("%u.%u", t[i].major, t[i].minor));
		if (commands) {
			N(e, &t[i], ws_bytes);
			N(e, &t[i], ps_bytes);
		}
	}
	return a;
}

static json_t *render_firmware(const struct vbios_rom *rom)
{
	struct vbios_firmware_info f;
	json_t *o = json_object();

	if (vbios_firmware_info(rom, &f))
		return nothing(o);
	revision(o, rom, ATOM_DATA_FirmwareInfo);
	H(o, &f, firmware_revision);
	N(o, &f, default_engine_clock);
	N(o, &f, default_memory_clock);
	N(o, &f, spll_output);
	N(o, &f, gpupll_output);
	N(o, &f, max_pixel_pll_output);
	H(o, &f, binary_altered_info);
	N(o, &f, default_disp_clock);
	N(o, &f, bootup_vddc_mv);
	N(o, &f, min_pixel_pll_output);
	N(o, &f, bootup_vddci_mv);
	H(o, &f, capability);
	N(o, &f, core_ref_clock);
	N(o, &f, mem_ref_clock);
	N(o, &f, dp_ext_clock);
	N(o, &f, memory_module_id);
	N(o, &f, bootup_mvddc_mv);
	N(o, &f, bootup_vddgfx_mv);
	return o;
}

static json_t *render_usage(const struct vbios_rom *rom)
{
	struct vbios_vram_usage u;
	json_t *o = json_object();

	if (vbios_vram_usage(rom, &u))
		return nothing(o);
	H(o, &u, start);
	N(o, &u, firmware_kb);
	N(o, &u, driver_kb);
	return o;
}

static json_t *render_pins(const struct vbios_rom *rom)
{
	struct vbios_gpio_lut lut;
	json_t *a = json_array();

	if (vbios_gpio_lut(rom, &lut))
		return nothing(a);
	for (unsigned i = 0; i < lut.pins; i++) {
		json_t *o = append(a);

		H(o, &lut.pin[i], reg);
		N(o, &lut.pin[i], bit);
		N(o, &lut.pin[i], id);
	}
	return a;
}

static void render_module(json_t *o, const struct vbios_vram_module *m)
{
	H(o, m, channel_map);
	N(o, m, module_size);
	H(o, m, mc_arb_ramcfg);
	H(o, m, enable_channels);
	N(o, m, ext_memory_id);
	H(o, m, memory_type);
	N(o, m, channels);
	N(o, m, channel_width);
	H(o, m, density);
	N(o, m, bank_col);
	N(o, m, misc);
	N(o, m, memory_size_mb);
	N(o, m, tuning_set);
	N(o, m, row);
	H(o, m, vendor_id);
	N(o, m, refresh);
	text(o, "part", m->part);
}

static void render_clk_patch(json_t *o, const struct vbios_mc_regs *r)
{
	json_t *regs = array(o, "mem_clk_patch_regs"), *blocks = array(o, "mem_clk_patch_blocks");

	for (unsigned i = 0; i < r->regs; i++)
		json_array_append_new(regs, json_pack("[o,o]", json_sprintf("0x%x", r->reg[i].reg),
		                                    json_sprintf("0x%x", r->reg[i].code)));
	num(o, "mem_clk_patch_block_bytes", r->block_bytes);
	for (unsigned i = 0; i < r->blocks; i++) {
		json_t *b = append(blocks);

		N(b, &r->block[i], max_clock);
		N(b, &r->block[i], module);
	}
}

static json_t *render_vram(const struct vbios_rom *rom)
{
	struct vbios_vram_info *v = calloc(1, sizeof(*v));
	json_t *o = json_object(), *modules = array(o, "modules");

	if (!v || vbios_vram_info(rom, v)) {
		free(v);
		return nothing(o);
	}
	revision(o, rom, ATOM_DATA_VRAM_Info);
	N(o, v, mem_adjust);
	N(o, v, mem_clk_patch);
	N(o, v, mc_adjust_per_tile);
	N(o, v, mc_phy_init);
	N(o, v, dram_data_remap);
	N(o, v, clk_patch_ver);
	N(o, v, module_ver);
	N(o, v, phy_tiles);
	for (unsigned i = 0; i < v->module_count; i++)
		render_module(append(modules), &v->module[i]);
	render_clk_patch(o, &v->clk_patch);
	free(v);
	return o;
}

static json_t *render_smu(const struct vbios_rom *rom)
{
	struct vbios_smu_info s;
	json_t *o = json_object(), *ranges = array(o, "ranges");

	if (vbios_smu_info(rom, &s))
		return nothing(o);
	revision(o, rom, ATOM_DATA_SMU_Info);
	N(o, &s, smu_ver);
	N(o, &s, share_power_source);
	for (unsigned i = 0; i < s.ranges; i++) {
		const struct vbios_smu_range *r = &s.range[i];
		json_t *e = append(ranges);

		N(e, r, max_sclk);
		N(e, r, vco);
		N(e, r, postdiv);
		N(e, r, fcw_pcc);
		N(e, r, fcw_upper);
		N(e, r, fcw_lower);
	}
	return o;
}

static json_t *render_gfx(const struct vbios_rom *rom)
{
	struct vbios_gfx_info g;
	json_t *o = json_object();

	if (vbios_gfx_info(rom, &g))
		return nothing(o);
	revision(o, rom, ATOM_DATA_GFX_Info);
	json_object_set_new(o, "gfx_ip", json_sprintf("%u.%u", g.ip_major, g.ip_minor));
	N(o, &g, shader_engines);
	N(o, &g, tile_pipes);
	N(o, &g, cu_per_sh);
	N(o, &g, sh_per_se);
	N(o, &g, rb_per_se);
	N(o, &g, tcc);
	return o;
}

static json_t *render_profiling(const struct vbios_rom *rom)
{
	struct vbios_profiling p;
	json_t *o = json_object(), *tdc = array(o, "tdc_limit_per_dpm");

	if (vbios_profiling(rom, &p))
		return nothing(o);
	revision(o, rom, ATOM_DATA_ASIC_ProfilingInfo);
	N(o, &p, max_vddc_10uv);
	N(o, &p, min_vddc_10uv);
	for (unsigned i = 0; i < VBIOS_DPM_LEVELS; i++)
		json_array_append_new(tdc, json_integer(p.tdc_limit[i]));
	N(o, &p, max_voltage_0_25mv);
	return o;
}

static json_t *render_voltages(const struct vbios_rom *rom)
{
	struct vbios_voltages v;
	json_t *a = json_array();

	if (vbios_voltages(rom, &v))
		return nothing(a);
	for (unsigned i = 0; i < v.objects; i++) {
		json_t *o = append(a);

		N(o, &v.object[i], type);
		N(o, &v.object[i], mode);
		N(o, &v.object[i], size);
	}
	return a;
}

static void render_levels(json_t *o, const struct vbios_powerplay *p)
{
	json_t *sclk = array(o, "sclk"), *mclk = array(o, "mclk"), *pcie = array(o, "pcie");

	for (unsigned i = 0; i < p->sclks; i++) {
		const struct vbios_pp_sclk *s = &p->sclk[i];
		json_t *e = append(sclk);

		N(e, s, vdd_index);
		N(e, s, vddc_offset_mv);
		N(e, s, sclk);
		N(e, s, edc);
		N(e, s, reliability_temp);
		num(e, "cks_byte", s->cks);
		N(e, s, sclk_offset);
	}
	for (unsigned i = 0; i < p->mclks; i++) {
		const struct vbios_pp_mclk *m = &p->mclk[i];
		json_t *e = append(mclk);

		N(e, m, vddc_index);
		N(e, m, vddci_mv);
		N(e, m, vddgfx_offset);
		N(e, m, mvdd_mv);
		N(e, m, mclk);
	}
	for (unsigned i = 0; i < p->pcies; i++) {
		json_t *e = append(pcie);

		N(e, &p->pcie[i], gen);
		N(e, &p->pcie[i], lanes);
		N(e, &p->pcie[i], sclk);
	}
}

static void render_lookup(
        json_t *o, const char *key, const struct vbios_pp_lookup *entries, unsigned n)
{
	json_t *a = array(o, key);

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(a, json_integer(entries[i].mv));
}

static json_t *render_fan(const struct vbios_pp_fan *f)
{
	json_t *o = json_object();

	N(o, f, rev);
	N(o, f, hysteresis);
	json_object_set_new(o, "tmin_tmed_thigh_0_01c",
	        json_pack("[i,i,i]", f->tmin_0_01c, f->tmed_0_01c, f->thigh_0_01c));
	json_object_set_new(o, "pwm_min_med_high_0_01pct",
	        json_pack("[i,i,i]", f->pwm_min_0_01pct, f->pwm_med_0_01pct, f->pwm_high_0_01pct));
	N(o, f, tmax_0_01c);
	N(o, f, mode);
	N(o, f, pwm_max_pct);
	N(o, f, sensitivity);
	N(o, f, rpm_max);
	N(o, f, acoustic_sclk);
	N(o, f, target_temp);
	N(o, f, min_pwm_limit);
	N(o, f, zero_rpm);
	N(o, f, fan_stop_temp);
	N(o, f, fan_start_temp);
	return o;
}

static json_t *render_thermal(const struct vbios_pp_thermal *t)
{
	json_t *o = json_object();

	N(o, t, rev);
	N(o, t, type);
	N(o, t, i2c_line);
	N(o, t, i2c_addr);
	N(o, t, fan_params);
	N(o, t, min_rpm_x100);
	N(o, t, max_rpm_x100);
	N(o, t, flags);
	return o;
}

static json_t *render_powertune(const struct vbios_pp_powertune *t)
{
	json_t *o = json_object();

	N(o, t, rev);
	N(o, t, tdp_w);
	N(o, t, configurable_tdp_w);
	N(o, t, tdc_a);
	N(o, t, battery_w);
	N(o, t, small_power_w);
	N(o, t, max_power_delivery_w);
	N(o, t, tjmax_c);
	N(o, t, edc);
	N(o, t, software_shutdown_c);
	N(o, t, clock_stretch);
	N(o, t, hotspot_c);
	N(o, t, boost_w);
	return o;
}

static json_t *render_powerplay(const struct vbios_rom *rom)
{
	struct vbios_powerplay p;
	json_t *o = json_object();

	if (vbios_powerplay(rom, &p))
		return nothing(o);
	revision(o, rom, ATOM_DATA_PowerPlayInfo);
	N(o, &p, header_size);
	N(o, &p, format_id);
	H(o, &p, platform_caps);
	N(o, &p, max_od_engine);
	N(o, &p, max_od_memory);
	N(o, &p, power_control_limit_pct);
	N(o, &p, ulv_offset_mv);
	N(o, &p, states);
	render_levels(o, &p);
	render_lookup(o, "vddc_lookup", p.vddc, p.vddcs);
	render_lookup(o, "vddgfx_lookup", p.vddgfx, p.vddgfxs);
	json_object_set_new(o, "fan", p.has_fan ? render_fan(&p.fan) : json_null());
	json_object_set_new(
	        o, "thermal_controller", p.has_thermal ? render_thermal(&p.thermal) : json_null());
	json_object_set_new(
	        o, "powertune", p.has_powertune ? render_powertune(&p.powertune) : json_null());
	num(o, "mm_levels", p.mms);
	num(o, "vce_states", p.vces);
	json_t *hard = array(o, "hard_limits");

	for (unsigned i = 0; i < p.hards; i++) {
		json_t *e = append(hard);

		N(e, &p.hard[i], sclk);
		N(e, &p.hard[i], mclk);
		N(e, &p.hard[i], vddc);
		N(e, &p.hard[i], vddci);
		N(e, &p.hard[i], vddgfx);
	}
	return o;
}

json_t *render_vbios(const struct vbios_rom *rom)
{
	json_t *o = json_object();

	json_object_set_new(o, "rom", render_rom(rom));
	json_object_set_new(o, "command_tables", render_list(rom->command, ATOM_COMMAND_COUNT, 1));
	json_object_set_new(o, "data_tables", render_list(rom->table, ATOM_DATA_COUNT, 0));
	json_object_set_new(o, "FirmwareInfo", render_firmware(rom));
	json_object_set_new(o, "VRAM_UsageByFirmware", render_usage(rom));
	json_object_set_new(o, "GPIO_Pin_LUT", render_pins(rom));
	json_object_set_new(o, "VRAM_Info", render_vram(rom));
	json_object_set_new(o, "SMU_Info", render_smu(rom));
	json_object_set_new(o, "GFX_Info", render_gfx(rom));
	json_object_set_new(o, "ASIC_ProfilingInfo", render_profiling(rom));
	json_object_set_new(o, "VoltageObjectInfo", render_voltages(rom));
	json_object_set_new(o, "PowerPlay", render_powerplay(rom));
	return o;
}
