/* Sets the range of addresses whose system calls the kernel does not trap: the shim's own text. Syscall User Dispatch
 * is switched on here, for each thread. */
#include "shim/core/core.h"

#include <linux/elf.h>

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden"))); /* the linker's: this library's header */

static const Elf64_Phdr *own_text(void)
{
    const Elf64_Phdr *segment = (const void *)((const uint8_t *)&__ehdr_start + __ehdr_start.e_phoff);

    while (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0)
        segment++;
    return segment;
}

bool trap_is_own_text(uint64_t address)
{
    const Elf64_Phdr *segment = own_text();

    return address - (uint64_t)&__ehdr_start - segment->p_vaddr < segment->p_memsz;
}

/* From now on trap all system calls of this thread, except those from the shim's own executable segment. */
void trap_arm(void)
{
    const uint8_t *base = (const uint8_t *)&__ehdr_start;
    const Elf64_Phdr *segment = own_text();
    long result;

    result = NATIVE(prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, base + segment->p_vaddr, segment->p_memsz, NULL);
    if (result != 0)
        fatal("this kernel lacks Syscall User Dispatch (Linux 5.11 or newer, x86-64, CONFIG_GENERIC_ENTRY)", NULL, result);
}
