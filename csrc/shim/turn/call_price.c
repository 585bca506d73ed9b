/* The prices of system calls: as a rule a small fixed price; but if a thread makes one call after the other without
 * ever waiting, each call costs the time that it takes natively, so that such loops end.
 *
 * The daemons of a cluster wait after some calls, so all of their calls have the fixed price. A thread that has made
 * thousands of calls since it last waited, or a thousand children since it last slept, is a loop, perhaps until a clock
 * says so: virtual time must not fall far behind the real time that the loop takes on this computer. From two thousand
 * children on, each child costs the time that it takes under simunix, which is more than natively, and virtual time
 * falls no further behind. A thread that does nothing but make processes, each as soon as the process before has ended,
 * is recognised after a hundred processes. */
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

/* The number of children that a thread makes, or of new programs that a process runs, since it last slept, before each
 * costs its native time; and before each costs its time under simunix (a fork with the child's end, an exec
 * with the loader; CPU time, measured). */
#define BIRTHS 1000
#define BIRTHS_IN_A_LOOP 2000

/* A process is made in haste if it comes within so many ns after the price of the last one was paid, so that its maker
 * cannot have waited for a network in between. After so many such processes, the thread counts as a loop. */
#define HASTE_NS 100000
#define HASTY_BIRTHS 100
#define HASTY_BIRTHS_IN_A_LOOP 200

struct birth_price {
    uint32_t native_ns, here_ns;
};

static const struct birth_price fork_price = {150000, 1000000};
static const struct birth_price exec_price = {500000, 1000000};
static const struct birth_price thread_price = {30000, 200000};

/* glibc makes threads by clone3, and forks by clone. */
static const struct birth_price *birth_price(long number)
{
    if (number == __NR_clone || number == __NR_fork || number == __NR_vfork)
        return &fork_price;
    if (number == __NR_execve || number == __NR_execveat)
        return &exec_price;
    return number == __NR_clone3 ? &thread_price : NULL;
}

/* Return the price for a thread that has made so many children, of which the first `free` cost nothing extra. */
static uint64_t price_after(uint64_t births, uint64_t free, uint64_t in_a_loop, const struct birth_price *price)
{
    return births <= free ? 0 : births <= in_a_loop ? price->native_ns : price->here_ns;
}

static uint64_t price_in_haste(uint64_t births, const struct birth_price *price)
{
    return price_after(births, HASTY_BIRTHS, HASTY_BIRTHS_IN_A_LOOP, price);
}

/* Return the price of a process made in haste. Between two of them, a loop pays for one, and waits for a child that has
 * paid for its new program, which counts as one more. */
static uint64_t of_haste_ns(struct thread *thread, const struct birth_price *price)
{
    uint64_t now_ns = thread->process->page->now_ns;
    uint64_t births = thread->pace.hasty_births;

    if (now_ns - thread->pace.born_ns <=
        HASTE_NS + price_in_haste(births, &fork_price) + price_in_haste(births + 1, &exec_price))
        thread->pace.hasty_births++;
    else
        thread->pace.hasty_births = 0;
    thread->pace.born_ns = now_ns;
    return price_in_haste(thread->pace.hasty_births, price);
}

static uint64_t of_birth_ns(struct thread *thread, const struct birth_price *price)
{
    uint64_t long_run_ns = price_after(++thread->pace.births, BIRTHS, BIRTHS_IN_A_LOOP, price);
    uint64_t haste_ns = price == &thread_price ? 0 : of_haste_ns(thread, price);

    return haste_ns > long_run_ns ? haste_ns : long_run_ns;
}

/* After a million calls without ever waiting, a thread counts as a loop for good: each call costs what it takes under
 * simunix, and more if it takes long natively. */
#define CALLS_IN_A_LOOP 1000000
#define HERE_NS 3000

static uint64_t least_ns(struct thread *thread, long number)
{
    const struct birth_price *price = birth_price(number);
    uint64_t least = 0;

    if (price != NULL)
        return of_birth_ns(thread, price);
    if (thread->pace.asked <= CALLS_BEFORE_IMPATIENCE)
        return 0;
    if (number >= 0 && number < (long)(sizeof native_ns / sizeof native_ns[0]))
        least = native_ns[number];
    return thread->pace.asked <= CALLS_IN_A_LOOP ? least : HERE_NS + least;
}

/* Charge the price of a trapped call; sched_yield has a price of its own. */
void clock_charge_call(struct call *call)
{
    uint64_t cost_ns = call->thread->process->page->call_cost_ns;

    bool is_charged = call->thread->policy.is_charged;

    if (__builtin_expect(is_charged, 0))
        charge_look(call->thread, cost_point_of_call(call->number));
    if (call->number != __NR_sched_yield)
        clock_charge(call->thread, cost_ns, cost_ns != 0 && !is_charged ? least_ns(call->thread, call->number) : 0);
}

/* Charge the price of sched_yield. If no other thread can run, the price is the native time of the call, however often
 * it is made. If others can run, the thread spins until one of them has done something. */
void clock_charge_yield(struct call *call, bool is_alone)
{
    struct thread *thread = call->thread;
    const struct simunix_clock_page *page = thread->process->page;

    if (is_alone) {
        thread->pace.looks++;
        clock_charge_plainly(thread, page->call_cost_ns);
        clock_charge_plainly(thread, page->poll_cost_ns);
    } else {
        clock_charge(thread, page->call_cost_ns, 0);
        clock_charge_poll(call);
    }
}
