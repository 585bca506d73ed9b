/* Loads the shim itself, in programs into which the host's init has put it because the dynamic loader would not
 * (injected_entry.S).
 *
 * injected_place runs in a mapping of the whole file, before anything is relocated: it may use no pointer that the
 * linker left to the loader (tables of addresses, functions of libc), and nothing that is written to.
 */
#include "shim/core/memory.h"
#include "shim/entry/entry.h"

#include <linux/auxvec.h>
#include <linux/elf.h>

#ifndef R_X86_64_RELATIVE
#define R_X86_64_RELATIVE 8
#endif
#define PAGE 4096UL

static _Noreturn void give_up(void)
{
    for (;;)
        NATIVE(exit_group, 125);
}

static uint64_t map(uint64_t address, uint64_t size, int protection, int flags, int file, uint64_t offset)
{
    long result = NATIVE(mmap, address, size, protection, flags | MAP_PRIVATE, file, offset);

    if (result < 0)
        give_up();
    return (uint64_t)result;
}

static int protection_of(const Elf64_Phdr *segment)
{
    return (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
           (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

/* Map a segment's bytes from the file, and zeroes behind them. */
static void place_segment(uint64_t base, const Elf64_Phdr *segment, int library)
{
    uint64_t start = base + (segment->p_vaddr & -PAGE);
    uint64_t file_end = base + segment->p_vaddr + segment->p_filesz;
    uint64_t page_end = (file_end + PAGE - 1) & -PAGE;
    uint64_t end = (base + segment->p_vaddr + segment->p_memsz + PAGE - 1) & -PAGE;

    map(start, page_end - start, protection_of(segment), MAP_FIXED, library, segment->p_offset & -PAGE);
    if (segment->p_flags & PF_W)
        memset((void *)file_end, 0, page_end - file_end);
    if (end > page_end)
        map(page_end, end - page_end, protection_of(segment), MAP_FIXED | MAP_ANONYMOUS, -1, 0);
}

/* Relocate the library. Symbols of libc, which are weak, do not exist here: 0. */
static void relocate(uint64_t base, const Elf64_Dyn *entry)
{
    const Elf64_Rela *relocation = NULL;
    const Elf64_Sym *symbols = NULL;
    uint64_t size = 0;

    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_RELA)
            relocation = (const void *)(base + entry->d_un.d_ptr);
        else if (entry->d_tag == DT_RELASZ)
            size = entry->d_un.d_val;
        else if (entry->d_tag == DT_SYMTAB)
            symbols = (const void *)(base + entry->d_un.d_ptr);
    }
    for (const Elf64_Rela *end = relocation + size / sizeof *relocation; relocation < end; relocation++) {
        const Elf64_Sym *symbol = &symbols[ELF64_R_SYM(relocation->r_info)];
        uint64_t value = symbol->st_shndx != 0 ? base + symbol->st_value : 0;

        if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_RELATIVE)
            value = base;
        *(uint64_t *)(base + relocation->r_offset) = value == 0 ? 0 : value + (uint64_t)relocation->r_addend;
    }
}

/* Lay out and relocate the library whose file is mapped whole at `flat`. Returns its base address. */
uint64_t injected_place(const uint8_t *flat, int library)
{
    const Elf64_Ehdr *header = (const void *)flat;
    const Elf64_Phdr *segments = (const void *)(flat + header->e_phoff);
    uint64_t span = 0;
    uint64_t base;

    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            span = (segments[i].p_vaddr + segments[i].p_memsz + PAGE - 1) & -PAGE;
    base = map(0, span, PROT_NONE, MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            place_segment(base, &segments[i], library);
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_DYNAMIC)
            relocate(base, (const void *)(base + segments[i].p_vaddr));
    return base;
}

/* Prepare the program's stack and break. */
static uint64_t *settle(uint64_t *stack, bool has_room)
{
    struct thread *thread = current_thread();

    if (!has_room) {
        warn_once(thread, WARN_REAL, "has addresses by chance, since it is setuid or gains privileges (ulimit -v?)", NULL);
        return stack;
    }
    addresses_keep_break(thread->process);
    return addresses_move_stack(stack);
}

/* Start the shim as the constructor does, and move the auxiliary vector so that the program finds it after its
 * environment, which has become shorter. Returns the program's stack. */
uint64_t *injected_start(uint64_t *stack, void *flat, size_t size, int library)
{
    char **argv = (char **)(stack + 1);
    char **environment = argv + stack[0] + 1;
    const uint64_t *from = (const uint64_t *)environment;
    uint64_t *to = (uint64_t *)environment;
    bool chance;
    bool has_room;

    NATIVE(munmap, flat, size);
    NATIVE(close, library);
    chance = addresses_have_chance();
    has_room = chance && addresses_take(stack);
    while (*from++ != 0)
        ;
    if (!shim_begin(argv, environment))
        fatal("this program was to be emulated, and its environment does not say by which server", argv[0], 0);
    while (*to++ != 0)
        ;
    for (uint64_t kind = ~AT_NULL; kind != AT_NULL; from += 2, to += 2) {
        to[0] = kind = from[0];
        to[1] = from[1]; /* this place may be that of from[0] */
    }
    return chance ? settle(stack, has_room) : stack;
}
