/* What system calls cost: little as a rule, and what they cost natively once a thread makes one after the other without ever
 * waiting, so that such loops end.
 *
 * The daemons of a cluster wait after some calls, and their calls all cost the same. A thread that has made thousands of calls
 * since it last waited, or a thousand children since it last slept, is a loop, perhaps until a clock says so: virtual time is
 * not to fall far behind the real time that the loop takes here. From two thousand children on, each costs what it costs here,
 * which is more than natively, and virtual time falls behind no further.
 */
#include "shim/turn/turn.h"

/* Measured natively on a virtual machine of 2026 (Linux 6.18, ext4), rounded: those calls that cost more than
 * IMPATIENT_FACTOR times the price of a call. In nanoseconds. */
static const uint16_t native_ns[] = {
    [__NR_mmap] = 5000,
    [__NR_munmap] = 5000,
    [__NR_mremap] = 5000,
    [__NR_mprotect] = 4000,
    [__NR_brk] = 4000,
    [__NR_open] = 3000,
    [__NR_openat] = 3000,
    [__NR_creat] = 15000,
    [__NR_unlink] = 15000,
    [__NR_unlinkat] = 15000,
    [__NR_link] = 15000,
    [__NR_linkat] = 15000,
    [__NR_symlink] = 15000,
    [__NR_symlinkat] = 15000,
    [__NR_rename] = 15000,
    [__NR_renameat] = 15000,
    [__NR_renameat2] = 15000,
    [__NR_mkdir] = 30000,
    [__NR_mkdirat] = 30000,
    [__NR_rmdir] = 30000,
    [__NR_getdents64] = 5000,
    [__NR_kill] = 5000,
    [__NR_tkill] = 5000,
    [__NR_tgkill] = 5000,
    [__NR_rt_sigqueueinfo] = 5000,
    [__NR_rt_tgsigqueueinfo] = 5000,
    [__NR_socket] = 10000,
    [__NR_socketpair] = 10000,
    [__NR_pipe] = 6000,
    [__NR_pipe2] = 6000,
    [__NR_sendto] = 8000,
    [__NR_sendmsg] = 8000,
    [__NR_recvfrom] = 8000,
    [__NR_recvmsg] = 8000,
};

/* How many children a thread makes, or new images a process, since it last slept, before each costs what it costs natively, and
 * before each costs what it costs under simunix (a fork with the child's end, an exec with the loader; CPU time, measured). */
#define BIRTHS 1000
#define BIRTHS_IN_A_LOOP 2000

struct birth_price {
    uint32_t native_ns, here_ns;
};

/* glibc makes threads by clone3, and forks by clone. */
static struct birth_price birth_price(long number)
{
    if (number == __NR_clone || number == __NR_fork || number == __NR_vfork)
        return (struct birth_price){150000, 1000000};
    if (number == __NR_execve || number == __NR_execveat)
        return (struct birth_price){500000, 1000000};
    return number == __NR_clone3 ? (struct birth_price){30000, 200000} : (struct birth_price){0, 0};
}

static uint64_t of_birth_ns(struct thread *thread, struct birth_price price)
{
    thread->births++;
    if (thread->births <= BIRTHS)
        return 0;
    return thread->births <= BIRTHS_IN_A_LOOP ? price.native_ns : price.here_ns;
}

static uint64_t least_ns(struct thread *thread, long number)
{
    struct birth_price price = birth_price(number);

    if (price.native_ns != 0)
        return of_birth_ns(thread, price);
    if (thread->asked <= CALLS_BEFORE_IMPATIENCE || number < 0 || number >= (long)(sizeof native_ns / sizeof native_ns[0]))
        return 0;
    return native_ns[number];
}

/* The price of any trapped call; sched_yield has its own. */
void clock_charge_call(struct call *call)
{
    uint64_t cost_ns = call->thread->process->page->call_cost_ns;

    if (call->number != __NR_sched_yield)
        clock_charge(call->thread, cost_ns, cost_ns != 0 ? least_ns(call->thread, call->number) : 0);
}

/* sched_yield of a thread that is alone costs as much here as it does natively, however often it comes; if others can run, the
 * thread spins until one of them has done something. */
void clock_charge_yield(struct call *call, bool is_alone)
{
    struct thread *thread = call->thread;
    const struct simunix_clock_page *page = thread->process->page;

    if (is_alone) {
        thread->looks++;
        clock_charge_plainly(thread, page->call_cost_ns);
        clock_charge_plainly(thread, page->poll_cost_ns);
    } else {
        clock_charge(thread, page->call_cost_ns, 0);
        clock_charge_poll(call);
    }
}
