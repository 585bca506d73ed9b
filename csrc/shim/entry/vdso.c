/* Clock reads that never enter the kernel: the vDSO's entry points are overwritten with jumps to the functions below. */
#include "shim/core/clock.h"
#include "shim/core/memory.h"
#include "shim/entry/entry.h"
#include "shim/sys/file/file.h"
#include "shim/sys/numa/numa.h"
#include "shim/turn/turn.h"

#include <linux/elf.h>

/* In glibc, a program's time(2) and gettimeofday(2) call the vDSO directly, and clock_gettime(2) calls it by a function
 * of glibc. */
#define CALLER __builtin_return_address(0)

/* Count a coarse clock read. simunix adds more CPU time to a coarse read than to others, since a native coarse read
 * takes less time (entry/calibrate.c). */
static void count_coarse_read(void)
{
    current_thread()->process->page->coarse_reads++;
}

static long vdso_clock_gettime(int clock_id, struct kernel_timespec *time)
{
    int64_t value;

    if (!clock_is_known(clock_id))
        return -EINVAL;
    if (clock_is_coarse(clock_id))
        count_coarse_read();
    value = clock_read_from(current_thread(), clock_id, CALLER);
    time->seconds = value / SECOND_NS;
    time->nanoseconds = value % SECOND_NS;
    return 0;
}

static long vdso_gettimeofday(struct kernel_timespec *time, uint64_t *zone)
{
    int64_t value = clock_read_from(current_thread(), CLOCK_REALTIME, CALLER);

    if (time != NULL) {
        time->seconds = value / SECOND_NS;
        time->nanoseconds = value % SECOND_NS / 1000;
    }
    if (zone != NULL)
        *zone = 0;
    return 0;
}

static int64_t vdso_time(int64_t *result)
{
    int64_t seconds;

    count_coarse_read();
    seconds = clock_read_from(current_thread(), CLOCK_REALTIME, CALLER) / SECOND_NS;
    if (result != NULL)
        *result = seconds;
    return seconds;
}

static long vdso_clock_getres(int clock_id, struct kernel_timespec *resolution)
{
    if (!clock_is_known(clock_id))
        return -EINVAL;
    if (resolution != NULL)
        *resolution = (struct kernel_timespec){0, 1};
    return 0;
}

/* A process that has not asked yet which NUMA nodes there are must make the system call, which may ask. */
static long vdso_getcpu(unsigned *cpu, unsigned *node)
{
    if (node != NULL && current_thread()->process->numa.count == 0)
        return -ENOSYS;
    if (cpu != NULL)
        *cpu = current_thread()->cpu;
    if (node != NULL)
        *node = numa_node_of_cpu(current_thread(), current_thread()->cpu);
    return 0;
}

/* Seeded, as the system call is. A libc that asks for the layout of the state only now is told to use the system call.
 * glibc 2.41 and later have asked the real vDSO before the constructor of the shim ran, and use the bytes from here. */
static long vdso_getrandom(void *buffer, size_t size, unsigned flags, void *state, size_t state_size)
{
    struct call call = {.a = {(long)buffer, (long)size, flags}, .thread = current_thread()};

    (void)state;
    return state_size == ~0UL ? -ENOSYS : sys_getrandom(&call);
}

static const struct {
    const char *name;
    void *replacement;
} entry_points[] = {
    {"__vdso_clock_gettime", (void *)vdso_clock_gettime},
    {"__vdso_gettimeofday", (void *)vdso_gettimeofday},
    {"__vdso_time", (void *)vdso_time},
    {"__vdso_clock_getres", (void *)vdso_clock_getres},
    {"__vdso_getcpu", (void *)vdso_getcpu},
    {"__vdso_getrandom", (void *)vdso_getrandom},
};

/* movabs $target, %rax; jmp *%rax */
static void write_jump(uint8_t *at, void *target)
{
    at[0] = 0x48;
    at[1] = 0xb8;
    memcpy(at + 2, &target, sizeof target);
    at[10] = 0xff;
    at[11] = 0xe0;
}

struct image {
    const Elf64_Sym *symbols;
    const char *names;
    uint64_t symbol_count;
    uint64_t size;
    const uint8_t *base;
};

/* The vDSO is linked at 0 and mapped whole, so addresses in it are offsets from its base. */
static void read_dynamic(struct image *image, const Elf64_Dyn *entry)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            image->symbols = (const void *)(image->base + entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            image->names = (const char *)(image->base + entry->d_un.d_ptr);
    }
}

static bool read_image(struct image *image, const uint8_t *base)
{
    const Elf64_Ehdr *header = (const void *)base;
    const Elf64_Phdr *segments = (const void *)(base + header->e_phoff);
    const Elf64_Shdr *sections = (const void *)(base + header->e_shoff);

    *image = (struct image){.base = base};
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD)
            image->size = (segments[i].p_vaddr + segments[i].p_memsz + 4095) & ~4095UL;
        else if (segments[i].p_type == PT_DYNAMIC)
            read_dynamic(image, (const void *)(base + segments[i].p_vaddr));
    }
    for (int i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_DYNSYM)
            image->symbol_count = sections[i].sh_size / sizeof(Elf64_Sym);
    return image->symbols != NULL && image->names != NULL && image->symbol_count > 0;
}

static void patch_symbol(const struct image *image, const Elf64_Sym *symbol)
{
    for (size_t i = 0; i < sizeof entry_points / sizeof entry_points[0]; i++)
        if (symbol->st_value != 0 && text_equal(image->names + symbol->st_name, entry_points[i].name))
            write_jump((uint8_t *)image->base + symbol->st_value, entry_points[i].replacement);
}

/* `base` is AT_SYSINFO_EHDR, 0 where the kernel maps no vDSO (libc makes system calls then, which are trapped). */
void vdso_patch(uint64_t base)
{
    struct image image;

    if (base == 0)
        return;
    if (!read_image(&image, (const uint8_t *)base))
        fatal("the vDSO of this kernel has a layout that is not understood", NULL, (int64_t)base);
    if (NATIVE(mprotect, base, image.size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        fatal("the vDSO cannot be made writable", NULL, (int64_t)image.size);
    for (uint64_t i = 0; i < image.symbol_count; i++)
        patch_symbol(&image, &image.symbols[i]);
    NATIVE(mprotect, base, image.size, PROT_READ | PROT_EXEC);
}
