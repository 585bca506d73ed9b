/* Nice values count from the one that the whole emulation has, which is its user's affair. */
#include "shim.h"

#define NICE_LEAST (-20)
#define NICE_MOST 19
#define RAW_OFFSET 20 /* the kernel answers 20 - nice, since an error is negative */

static long within_nice(long nice)
{
    return nice < NICE_LEAST ? NICE_LEAST : nice > NICE_MOST ? NICE_MOST : nice;
}

/* As the emulation has it, what the kernel has. */
long nice_shown(const struct process *process, long nice)
{
    return within_nice(nice - (long)process->page->nice);
}

long sys_getpriority(struct call *call)
{
    long result = NATIVE(getpriority, call->a[0], call->a[1]);

    return result <= 0 ? result : RAW_OFFSET - nice_shown(call->thread->process, RAW_OFFSET - result);
}

long sys_setpriority(struct call *call)
{
    long nice = within_nice((int)call->a[2]);

    return NATIVE(setpriority, call->a[0], call->a[1], within_nice(nice + (long)call->thread->process->page->nice));
}
