/* code_object.c - ELF part of code_object.h: segments, relocations, kernel descriptors. Metadata:
 * co_metadata.c. Field offsets: ELF-64 specification; AMDGPU values: LLVM AMDGPUUsage "ELF Code
 * Object", "Kernel Descriptor".
 */
#include "device/compile/code_object.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/compile/co_priv.h"
#include "device/err.h"

#define EM_AMDGPU_MACHINE       224   /* LLVM AMDGPUUsage, table "AMDGPU ELF Header" */
#define EF_AMDGPU_MACH_GFX803   0x02a /* LLVM AMDGPUUsage, table "AMDGPU ELF Header e_flags" */
#define EF_AMDGPU_MACH_MASK     0x0ff /* same */
#define ELFOSABI_AMDGPU_HSA_ABI 64    /* same */
#define R_AMDGPU_RELATIVE64_ID  13    /* LLVM AMDGPUUsage, "Relocation Records" */
#define R_AMDGPU_NONE_ID        0     /* same */
#define NT_AMDGPU_METADATA_ID   32    /* LLVM AMDGPUUsage, "Note Records" */
#define DESCRIPTOR_SIZE         64    /* LLVM AMDGPUUsage, "Kernel Descriptor" */
#define FETCH_PADDING           256   /* instruction fetch runs past the end, polaris.md 9.6 */

int co_bad(struct co_parser *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (p->why && p->why_size)
		vsnprintf(p->why, p->why_size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int check_header(struct co_parser *p)
{
	const uint8_t *e = p->elf;

	if (p->len < sizeof(Elf64_Ehdr) || memcmp(e, ELFMAG, SELFMAG))
		return co_bad(p, "not an ELF file");
	if (p->len > CO_MAX_SIZE)
		return co_bad(p, "larger than %u bytes", CO_MAX_SIZE);
	if (e[EI_CLASS] != ELFCLASS64 || e[EI_DATA] != ELFDATA2LSB)
		return co_bad(p, "not a 64-bit little-endian ELF file");
	if (get_le16(e + 18) != EM_AMDGPU_MACHINE || e[EI_OSABI] != ELFOSABI_AMDGPU_HSA_ABI)
		return co_bad(p, "not an AMDGPU HSA code object (machine %u, OS ABI %u)",
		        get_le16(e + 18), e[EI_OSABI]);
	if (e[EI_ABIVERSION] != 2 && e[EI_ABIVERSION] != 3) /* v4, v5: polaris.md 9.6 */
		return co_bad(p, "code object ABI version byte %u, expected 2 (v4) or 3 (v5)",
		        e[EI_ABIVERSION]);
	if ((get_le32(e + 48) & EF_AMDGPU_MACH_MASK) != EF_AMDGPU_MACH_GFX803)
		return co_bad(p, "compiled for another GPU (e_flags 0x%x), need -mcpu=gfx803",
		        get_le32(e + 48));
	if (get_le16(e + 16) != ET_DYN)
		return co_bad(p, "not linked (ELF type %u)", get_le16(e + 16));
	p->phoff = get_le64(e + 32);
	p->phnum = get_le16(e + 56);
	if (get_le16(e + 54) != sizeof(Elf64_Phdr) ||
	        !range_ok(p->phoff, (uint64_t)p->phnum * sizeof(Elf64_Phdr), p->len))
		return co_bad(p, "program headers outside the file");
	return 0;
}

/* One program header, bounds-checked against the file. */
static int read_phdr(struct co_parser *p, unsigned i, Elf64_Phdr *ph)
{
	const uint8_t *h = p->elf + p->phoff + (size_t)i * sizeof(Elf64_Phdr);

	ph->p_type = get_le32(h);
	ph->p_offset = get_le64(h + 8);
	ph->p_vaddr = get_le64(h + 16);
	ph->p_filesz = get_le64(h + 32);
	ph->p_memsz = get_le64(h + 40);
	if (!range_ok(ph->p_offset, ph->p_filesz, p->len))
		return co_bad(p, "segment %u outside the file", i);
	return 0;
}

static int load_segments(struct co_parser *p)
{
	Elf64_Phdr ph;
	uint64_t top = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < p->phnum; i++) {
			if (read_phdr(p, i, &ph))
				return -EINVAL;
			if (ph.p_type != PT_LOAD)
				continue;
			if (ph.p_filesz > ph.p_memsz ||
			        !range_ok(ph.p_vaddr, ph.p_memsz, CO_MAX_SIZE))
				return co_bad(p, "segment %u has impossible sizes", i);
			if (pass == 0)
				top = MAX(top, ph.p_vaddr + ph.p_memsz);
			else
				memcpy(p->co->image + ph.p_vaddr, p->elf + ph.p_offset,
				        ph.p_filesz);
		}
		if (pass == 0) {
			if (!top)
				return co_bad(p, "no loadable segment");
			p->loaded = top;
			p->co->image_size = align_up(top + FETCH_PADDING, 256);
			p->co->image = calloc(1, p->co->image_size);
			if (!p->co->image)
				return -ENOMEM;
		}
	}
	return 0;
}

static int add_relocation(struct co_parser *p, const uint8_t *rela)
{
	struct code_object *co = p->co;
	uint64_t offset = get_le64(rela);
	uint32_t type = get_le32(rela + 8); /* low half of r_info */
	int64_t addend = (int64_t)get_le64(rela + 16);

	if (type == R_AMDGPU_NONE_ID)
		return 0;
	if (type != R_AMDGPU_RELATIVE64_ID)
		return co_bad(p, "relocation type %u is not supported", type);
	if (!range_ok(offset, 8, p->loaded) || addend < 0 || (uint64_t)addend > p->loaded)
		return co_bad(p, "relocation outside the image");
	co->relocs[co->nrelocs].offset = offset;
	co->relocs[co->nrelocs].addend = addend;
	co->nrelocs++;
	return 0;
}

/* Walk PT_DYNAMIC for DT_RELA and DT_RELASZ. */
static int find_relocations(struct co_parser *p, const Elf64_Phdr *dyn)
{
	uint64_t rela = 0, size = 0;

	for (uint64_t o = 0; o + 16 <= dyn->p_filesz; o += 16) {
		uint64_t tag = get_le64(p->elf + dyn->p_offset + o),
		         value = get_le64(p->elf + dyn->p_offset + o + 8);
		if (tag == DT_NULL)
			break;
		if (tag == DT_RELA)
			rela = value;
		if (tag == DT_RELASZ)
			size = value;
	}
	if (!size)
		return 0;
	if (p->co->relocs)
		return co_bad(p, "more than one dynamic segment");
	if (size % sizeof(Elf64_Rela) || !range_ok(rela, size, p->loaded))
		return co_bad(p, "relocation table outside the image");
	p->co->relocs = calloc(size / sizeof(Elf64_Rela), sizeof(*p->co->relocs));
	if (!p->co->relocs)
		return -ENOMEM;
	for (uint64_t o = 0; o < size; o += sizeof(Elf64_Rela)) {
		int err = add_relocation(p, p->co->image + rela + o);
		if (err)
			return err;
	}
	return 0;
}

/* Look for the metadata note in one PT_NOTE segment; leaves p->note NULL when it is not there. */
static int find_note(struct co_parser *p, const Elf64_Phdr *seg)
{
	uint64_t o = 0;

	while (o + 12 <= seg->p_filesz) {
		const uint8_t *n = p->elf + seg->p_offset + o;
		uint64_t name = align_up(get_le32(n), 4), desc = get_le32(n + 4);
		if (!range_ok(o + 12, name + desc, seg->p_filesz))
			return co_bad(p, "note outside its segment");
		if (get_le32(n + 8) == NT_AMDGPU_METADATA_ID && get_le32(n) == 7 &&
		        !memcmp(n + 12, "AMDGPU", 7)) {
			p->note = n + 12 + name;
			p->note_len = desc;
			return 0;
		}
		o += 12 + name + align_up(desc, 4);
	}
	return 0;
}

struct symbols {
	const uint8_t *table; /* count entries of Elf64_Sym */
	uint64_t count;
	const char *names;
	uint64_t names_size;
};

/* The dynamic symbols, through DT_SYMTAB/DT_STRTAB; the table ends where DT_HASH says. */
static int read_symbols(struct co_parser *p, struct symbols *s)
{
	uint64_t symtab = 0, strtab = 0, strsz = 0, hash = 0;

	for (uint64_t o = 0; o + 16 <= p->dynamic.p_filesz; o += 16) {
		uint64_t tag = get_le64(p->elf + p->dynamic.p_offset + o);
		uint64_t v = get_le64(p->elf + p->dynamic.p_offset + o + 8);
		symtab = tag == DT_SYMTAB ? v : symtab;
		strtab = tag == DT_STRTAB ? v : strtab;
		strsz = tag == DT_STRSZ ? v : strsz;
		hash = tag == DT_HASH ? v : hash;
	}
	if (!hash || !range_ok(hash, 8, p->loaded) || !range_ok(strtab, strsz, p->loaded))
		return co_bad(p, "no usable dynamic symbol table");
	s->count = get_le32(p->co->image + hash + 4); /* nchain, ELF specification "Hash Table" */
	if (!range_ok(symtab, s->count * sizeof(Elf64_Sym), p->loaded))
		return co_bad(p, "symbol table outside the image");
	s->table = p->co->image + symtab;
	s->names = (const char *)p->co->image + strtab;
	s->names_size = strsz;
	return 0;
}

/* Name of symbol @i; "" when it has no whole one. */
static const char *symbol_name(const struct symbols *s, uint64_t i)
{
	uint64_t at = get_le32(s->table + i * sizeof(Elf64_Sym)); /* st_name */

	if (at >= s->names_size || !memchr(s->names + at, '\0', s->names_size - at))
		return "";
	return s->names + at;
}

/* Nothing on the card defines what the object leaves open. A weak symbol may stay so, as 0 (ELF
 * specification "Symbol Table", st_info, st_shndx). */
static int check_undefined(struct co_parser *p)
{
	struct symbols s;
	int err = read_symbols(p, &s);

	for (uint64_t i = 1; !err && i < s.count; i++) {
		const uint8_t *sym = s.table + i * sizeof(Elf64_Sym);

		if (get_le16(sym + 6) == SHN_UNDEF && ELF64_ST_BIND(sym[4]) == STB_GLOBAL)
			err = co_bad(p,
			        "nothing defines %.100s, and there is no library on the card: "
			        "define it in the source, or link what does",
			        symbol_name(&s, i));
	}
	return err;
}

static int find_symbol(struct co_parser *p, const char *name, uint64_t *value)
{
	struct symbols s;
	int err = read_symbols(p, &s);

	for (uint64_t i = 0; !err && i < s.count; i++)
		if (!strcmp(symbol_name(&s, i), name)) {
			*value = get_le64(s.table + i * sizeof(Elf64_Sym) + 8);
			return 0;
		}
	return err ? err : co_bad(p, "symbol %s not found", name);
}

static int scan_segments(struct co_parser *p)
{
	Elf64_Phdr ph;
	int err = 0;

	for (unsigned i = 0; i < p->phnum && !err; i++) {
		err = read_phdr(p, i, &ph);
		if (!err && ph.p_type == PT_DYNAMIC) {
			p->dynamic = ph;
			err = check_undefined(p);
			if (!err)
				err = find_relocations(p, &ph);
		}
		if (!err && ph.p_type == PT_NOTE)
			err = find_note(p, &ph);
	}
	if (!err && !p->note)
		err = co_bad(p, "no AMDGPU metadata note");
	return err;
}

/* Kernel descriptor fields: polaris.md 9.2. */
static int read_descriptor(struct co_parser *p, struct co_kernel *k, const char *symbol)
{
	if (find_symbol(p, symbol, &k->descriptor))
		return -EINVAL;
	if (k->descriptor % DESCRIPTOR_SIZE || !range_ok(k->descriptor, DESCRIPTOR_SIZE, p->loaded))
		return co_bad(p, "descriptor of %s misplaced", k->name);
	const uint8_t *d = p->co->image + k->descriptor;
	k->entry = k->descriptor + get_le64(d + 16);
	if (k->entry % 256 || !range_ok(k->entry, 4, p->loaded))
		return co_bad(p, "entry of %s misplaced", k->name);
	if (get_le32(d) > 65536 || get_le32(d + 8) > 65536)
		return co_bad(p, "%s wants impossible LDS or argument sizes", k->name);
	k->lds_bytes = get_le32(d);
	k->scratch_bytes = get_le32(d + 4);
	k->kernarg_size = MAX(k->kernarg_size, get_le32(d + 8));
	k->rsrc1 = get_le32(d + 48);
	k->rsrc2 = get_le32(d + 52);
	k->properties = get_le16(d + 56);
	if (k->scratch_bytes >
	        64 * 1024) /* polaris.md 9.4: WAVESIZE has 13 bits of KiB a wave; keep far below */
		return co_bad(
		        p, "%s wants %u bytes of scratch a work-item", k->name, k->scratch_bytes);
	for (unsigned i = 0; i < k->nargs; i++)
		if (!range_ok(k->args[i].offset, k->args[i].size, k->kernarg_size))
			return co_bad(
			        p, "argument %u of %s outside the argument block", i, k->name);
	return 0;
}

/* What only a host that answers while the kernel runs can give, or more than this card is. Value
 * kinds: LLVM AMDGPUUsage, "Code Object V3 Kernel Argument Metadata Map". A kernel has such an
 * argument when it may use it; with printf, one has nearly all of them. */
static const struct {
	const char *kind, *used_by;
} unavailable[] = {
        {"hidden_hostcall_buffer", "printf, assert or another call to the host"},
        {"hidden_printf_buffer", "printf"},
        {"hidden_heap_v1", "malloc"},
        {"hidden_default_queue", "enqueue_kernel"},
        {"hidden_completion_action", "enqueue_kernel"},
        {"hidden_multigrid_sync_arg", "synchronisation of several cards"},
};

static int check_hidden(struct co_parser *p, const struct co_kernel *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(unavailable); i++)
		for (unsigned a = 0; a < k->nargs; a++)
			if (!strcmp(k->args[a].hidden, unavailable[i].kind))
				return co_bad(p,
				        "%.64s uses %s (%s), which does not exist here: take it "
				        "out, a kernel can write to a buffer instead; if there is "
				        "none, compile with -O1 or more",
				        k->name, unavailable[i].used_by, unavailable[i].kind);
	return 0;
}

static int check_kernels(struct co_parser *p)
{
	int err = 0;

	for (unsigned i = 0; !err && i < p->co->nkernels; i++) {
		err = read_descriptor(p, &p->co->kernels[i], p->symbols[i]);
		if (!err)
			err = check_hidden(p, &p->co->kernels[i]);
	}
	return err;
}

/* What only the parser reads and no instruction can reach: half of a small object, and a second on
 * a slow bridge. */
static void drop_notes(struct co_parser *p)
{
	Elf64_Phdr ph;

	for (unsigned i = 0; i < p->phnum; i++)
		if (read_phdr(p, i, &ph) == 0 && ph.p_type == PT_NOTE &&
		        range_ok(ph.p_vaddr, ph.p_filesz, p->loaded))
			memset(p->co->image + ph.p_vaddr, 0, ph.p_filesz);
}

int code_object_parse(
        const void *elf, size_t len, struct code_object **out, char *why, size_t why_size)
{
	struct co_parser p = {.elf = elf, .len = len, .why = why, .why_size = why_size};
	int err = check_header(&p);

	if (err)
		return err;
	p.co = calloc(1, sizeof(*p.co));
	if (!p.co)
		return -ENOMEM;
	err = load_segments(&p);
	if (!err)
		err = scan_segments(&p);
	if (!err)
		err = co_parse_metadata(&p);
	if (!err)
		err = check_kernels(&p);
	if (!err)
		drop_notes(&p);
	free(p.symbols);
	if (err) {
		code_object_free(p.co);
		return err;
	}
	*out = p.co;
	return 0;
}

void code_object_free(struct code_object *co)
{
	if (!co)
		return;
	for (unsigned i = 0; i < co->nkernels; i++)
		free(co->kernels[i].args);
	free(co->kernels);
	free(co->relocs);
	free(co->image);
	free(co);
}

const struct co_kernel *code_object_find(const struct code_object *co, const char *kernel)
{
	for (unsigned i = 0; i < co->nkernels; i++)
		if (!strcmp(co->kernels[i].name, kernel))
			return &co->kernels[i];
	return NULL;
}

void code_object_relocate(const struct code_object *co, uint64_t base, uint8_t *image)
{
	for (unsigned i = 0; i < co->nrelocs; i++)
		put_le64(image + co->relocs[i].offset, base + (uint64_t)co->relocs[i].addend);
}
