/* Makes the processor's time stamp counter show virtual time: reads of it fault, and the fault (a SIGSEGV, which
 * sys/signal/fault.c gets) is answered here. */
#include "shim/sys/time/time.h"
#include "shim/turn/turn.h"

#define GENERAL_PROTECTION 13
#define CYCLES_PER_NS 2 /* the frequency in /proc/cpuinfo of an emulated host, see simunix/launch/view/hardware_files.py */

/* From now on, reads of the counter by this thread and by those that it creates fault. Under the CPU policy charged,
 * reads do not fault: the shim itself measures computing by the counter (turn/cpu_charge.c), and programs read the real
 * counter. */
void tsc_trap(const struct process *process)
{
    if ((process->flags & HELLO_FLAG_CHARGED) == 0)
        NATIVE(prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

/* Allow reads of the counter again before an exec, since the dynamic loader of the new program reads it before the shim is
 * loaded. */
void tsc_release(void)
{
    NATIVE(prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
}

/* Return the size of the instruction if it reads the counter, else 0. The function reads only bytes that the processor
 * has fetched. */
static int reading(const uint8_t *code)
{
    if (code[0] != 0x0f)
        return 0;
    if (code[1] == 0x31)
        return 2;                                      /* rdtsc */
    return code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0; /* rdtscp */
}

/* A thread that reads the counter again and again without a call spins until a moment. Each read costs a fault here,
 * which takes hundreds of times as long as a native read: the longer the thread has spun, the more virtual time a
 * reading costs, so that spinning is not slower than on a real computer. The moment is missed by a thousandth of the
 * spinning at most, and by what Linux lets a timer be late by (PR_SET_TIMERSLACK in prctl(2)). */
#define SPUN_PART 1024
#define LONGEST_READING_NS 50000

static void charge_spinning(struct thread *thread)
{
    uint64_t now_ns = thread->process->page->now_ns;
    uint64_t price_ns;

    if (thread->pace.asked != thread->spin.asked_at_tsc) {
        thread->spin.since_ns = now_ns;
        return;
    }
    price_ns = (now_ns - thread->spin.since_ns) / SPUN_PART;
    if (price_ns > LONGEST_READING_NS)
        price_ns = LONGEST_READING_NS;
    if (price_ns > thread->process->page->read_cost_ns)
        clock_charge_plainly(thread, price_ns);
}

/* Answer a fault of the application if it was a read of the counter; return whether it was. */
bool tsc_answer(struct thread *thread, struct sigcontext *registers)
{
    int size = registers->trapno == GENERAL_PROTECTION ? reading((const uint8_t *)registers->rip) : 0;
    uint64_t cycles;

    if (size == 0 || thread->process->tsc_faults)
        return false;
    charge_spinning(thread);
    cycles = CYCLES_PER_NS * (uint64_t)clock_read(thread, CLOCK_MONOTONIC);
    thread->spin.asked_at_tsc = thread->pace.asked;
    registers->rax = (uint32_t)cycles;
    registers->rdx = cycles >> 32;
    if (size == 3)
        registers->rcx = 0; /* node and processor */
    registers->rip += (uint64_t)size;
    return true;
}

/* prctl(PR_SET_TSC): an application that wants its readings to fault gets the faults as its own. */
long tsc_set(struct process *process, long mode)
{
    if (mode != PR_TSC_ENABLE && mode != PR_TSC_SIGSEGV)
        return -EINVAL;
    process->tsc_faults = mode == PR_TSC_SIGSEGV;
    return 0;
}

long tsc_get(const struct process *process, int *mode)
{
    if (is_bad_pointer(mode))
        return -EFAULT;
    *mode = process->tsc_faults ? PR_TSC_SIGSEGV : PR_TSC_ENABLE;
    return 0;
}
