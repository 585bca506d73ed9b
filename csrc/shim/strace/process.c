/* Prints the arguments of calls that make and end processes and threads: clone, exec, wait, limits, futexes. */
#include "shim/strace/strace.h"

void strace_wait_status_of(struct trace *trace, int status)
{
    int signal = status & 0x7f;

    if ((status & 0xff) == 0x7f) {
        strace_put(trace, "{WIFSTOPPED(s) && WSTOPSIG(s) == ");
        strace_put_signal(trace, status >> 8 & 0xff);
    } else if (status == 0xffff) {
        strace_put(trace, "{WIFCONTINUED(s)");
    } else if (signal == 0) {
        strace_put(trace, "{WIFEXITED(s) && WEXITSTATUS(s) == ");
        strace_put_number(trace, status >> 8 & 0xff);
    } else {
        strace_put(trace, "{WIFSIGNALED(s) && WTERMSIG(s) == ");
        strace_put_signal(trace, signal);
        if (status & 0x80)
            strace_put(trace, " && WCOREDUMP(s)");
    }
    strace_put_char(trace, '}');
}

void strace_wait_status_out(struct trace *trace, uint64_t value, int at)
{
    int status;

    (void)at;
    if (value == 0 || trace->result == 0 || !strace_fetch(trace, &status, value, sizeof status)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put_char(trace, '[');
    strace_wait_status_of(trace, status);
    strace_put_char(trace, ']');
}

static void put_limit(struct trace *trace, const char *name, uint64_t value)
{
    strace_put(trace, name);
    if (value == ~0UL) {
        strace_put(trace, "RLIM64_INFINITY");
    } else if (value > 1024 && value % 1024 == 0) {
        strace_put_unsigned(trace, value / 1024);
        strace_put(trace, "*1024");
    } else {
        strace_put_unsigned(trace, value);
    }
}

void strace_rlimit_in(struct trace *trace, uint64_t value, int at)
{
    uint64_t limits[2];

    (void)at;
    if (value == 0 || !strace_fetch(trace, limits, value, sizeof limits)) {
        strace_put_address(trace, value);
        return;
    }
    put_limit(trace, "{rlim_cur=", limits[0]);
    put_limit(trace, ", rlim_max=", limits[1]);
    strace_put_char(trace, '}');
}

void strace_argv_in(struct trace *trace, uint64_t value, int at)
{
    uint64_t argument;

    if (value == 0 || !strace_fetch(trace, &argument, value, sizeof argument)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put_char(trace, '[');
    for (uint64_t i = 0; strace_fetch(trace, &argument, value + i * sizeof argument, sizeof argument) && argument != 0; i++) {
        strace_put(trace, i > 0 ? ", " : "");
        if (i == STRACE_LIST_MAX) {
            strace_put(trace, "...");
            break;
        }
        strace_path(trace, argument, at);
    }
    strace_put_char(trace, ']');
}

void strace_environment_in(struct trace *trace, uint64_t value, int at)
{
    uint64_t count = 0;
    uint64_t variable;

    (void)at;
    strace_put_address(trace, value);
    if (value == 0)
        return;
    while (strace_fetch(trace, &variable, value + count * sizeof variable, sizeof variable) && variable != 0)
        count++;
    strace_put(trace, " /* ");
    strace_put_unsigned(trace, count);
    strace_put(trace, count == 1 ? " var */" : " vars */");
}

/* Print the option of prctl(2), and its first argument by a name, as an address or as a number. */
void strace_prctl_of(struct trace *trace, uint64_t value, int at)
{
    strace_put_value(trace, strace_prctl_options, (uint32_t)value);
    strace_put(trace, ", ");
    if (value == PR_SET_NAME)
        strace_path(trace, trace->a[at + 1], at + 1);
    else if (value == PR_GET_NAME || value == PR_GET_PDEATHSIG || value == PR_GET_CHILD_SUBREAPER)
        strace_put_address(trace, trace->a[at + 1]);
    else if (value == PR_SET_PDEATHSIG)
        strace_put_signal(trace, (int)trace->a[at + 1]);
    else
        strace_hex(trace, trace->a[at + 1], at + 1);
}

/* The arguments behind the operation that a futex call uses, in the order in which they are shown. */
enum futex_part { FUTEX_VALUE = 1, FUTEX_TIMEOUT = 2, FUTEX_COUNT = 4, FUTEX_OTHER = 8, FUTEX_THIRD = 16, FUTEX_BITSET = 32 };

static const uint8_t futex_parts[] = {
    [FUTEX_WAIT] = FUTEX_VALUE | FUTEX_TIMEOUT,
    [FUTEX_WAKE] = FUTEX_VALUE,
    [FUTEX_FD] = FUTEX_VALUE,
    [FUTEX_REQUEUE] = FUTEX_VALUE | FUTEX_COUNT | FUTEX_OTHER,
    [FUTEX_CMP_REQUEUE] = FUTEX_VALUE | FUTEX_COUNT | FUTEX_OTHER | FUTEX_THIRD,
    [FUTEX_WAKE_OP] = FUTEX_VALUE | FUTEX_COUNT | FUTEX_OTHER | FUTEX_THIRD,
    [FUTEX_LOCK_PI] = FUTEX_TIMEOUT,
    [FUTEX_WAIT_BITSET] = FUTEX_VALUE | FUTEX_TIMEOUT | FUTEX_BITSET,
    [FUTEX_WAKE_BITSET] = FUTEX_VALUE | FUTEX_BITSET,
    [FUTEX_WAIT_REQUEUE_PI] = FUTEX_VALUE | FUTEX_TIMEOUT | FUTEX_OTHER,
    [FUTEX_CMP_REQUEUE_PI] = FUTEX_VALUE | FUTEX_COUNT | FUTEX_OTHER | FUTEX_THIRD,
    [13] = FUTEX_TIMEOUT, /* FUTEX_LOCK_PI2 */
};

static void put_futex_operation(struct trace *trace, uint64_t operation)
{
    strace_put_value(trace, strace_futex_ops, operation & 0x7f);
    if (operation & FUTEX_PRIVATE_FLAG)
        strace_put(trace, "_PRIVATE");
    if (operation & FUTEX_CLOCK_REALTIME)
        strace_put(trace, "|FUTEX_CLOCK_REALTIME");
}

static void put_futex_bitset(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    if ((uint32_t)value == FUTEX_BITSET_MATCH_ANY)
        strace_put(trace, "FUTEX_BITSET_MATCH_ANY");
    else
        strace_put_hex(trace, (uint32_t)value);
}

static const struct {
    uint8_t part;
    uint8_t argument; /* the place of the argument in the call */
    strace_printer print;
} futex_printers[] = {
    {FUTEX_VALUE, 2, strace_uint},    {FUTEX_TIMEOUT, 3, strace_timespec_in}, {FUTEX_COUNT, 3, strace_uint},
    {FUTEX_OTHER, 4, strace_address}, {FUTEX_THIRD, 5, strace_uint},          {FUTEX_BITSET, 5, put_futex_bitset},
};

void strace_futex_of(struct trace *trace, uint64_t value, int at)
{
    uint64_t operation = value & 0x7f;
    unsigned parts = operation < sizeof futex_parts ? futex_parts[operation] : FUTEX_VALUE;

    put_futex_operation(trace, value);
    for (size_t i = 0; i < sizeof futex_printers / sizeof futex_printers[0]; i++)
        if (parts & futex_printers[i].part) {
            strace_put(trace, ", ");
            futex_printers[i].print(trace, trace->a[futex_printers[i].argument], at);
        }
}

static void put_child_tid(struct trace *trace, const char *name, uint64_t address)
{
    int tid;

    strace_put(trace, name);
    if (trace->result > 0 && strace_fetch(trace, &tid, address, sizeof tid)) {
        strace_put_char(trace, '[');
        strace_pid(trace, (uint64_t)tid, 0);
        strace_put_char(trace, ']');
    } else {
        strace_put_address(trace, address);
    }
}

/* clone(flags, stack, parent_tid, child_tid, tls) */
void strace_clone_of(struct trace *trace, uint64_t value, int at)
{
    uint64_t flags = value & ~0xffUL;

    (void)at;
    strace_put(trace, "child_stack=");
    strace_put_address(trace, trace->a[1]);
    strace_put(trace, ", flags=");
    if (flags != 0)
        strace_put_flags(trace, strace_clone_flags, flags);
    if ((value & 0xff) != 0 || flags == 0) {
        strace_put(trace, flags != 0 ? "|" : "");
        strace_put_signal(trace, (int)(value & 0xff));
    }
    if (flags & (CLONE_PARENT_SETTID | CLONE_PIDFD))
        put_child_tid(trace, flags & CLONE_PIDFD ? ", pidfd=" : ", parent_tid=", trace->a[2]);
    if (flags & CLONE_SETTLS) {
        strace_put(trace, ", tls=");
        strace_put_address(trace, trace->a[4]);
    }
    if (flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) {
        strace_put(trace, ", child_tidptr=");
        strace_put_address(trace, trace->a[3]);
    }
}

static void put_clone_address(struct trace *trace, bool present, const char *name, uint64_t address)
{
    if (!present)
        return;
    strace_put(trace, name);
    strace_put_address(trace, address);
}

/* Print what clone3(2) has written to memory: `=> {parent_tid=[5]}`. */
static void put_clone3_results(struct trace *trace, const struct clone_args *args)
{
    if (trace->result <= 0 || (args->flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)) == 0)
        return;
    strace_put(trace, " => {");
    if (args->flags & CLONE_PIDFD)
        put_child_tid(trace, "pidfd=", args->pidfd);
    if (args->flags & CLONE_PARENT_SETTID)
        put_child_tid(trace, args->flags & CLONE_PIDFD ? ", parent_tid=" : "parent_tid=", args->parent_tid);
    strace_put_char(trace, '}');
}

void strace_clone3_of(struct trace *trace, uint64_t value, int at)
{
    struct clone_args args;

    (void)at;
    if (value == 0 || !strace_fetch(trace, &args, value, CLONE_ARGS_SIZE_VER0)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put(trace, "{flags=");
    strace_put_flags(trace, strace_clone_flags, args.flags);
    put_clone_address(trace, (args.flags & CLONE_PIDFD) != 0, ", pidfd=", args.pidfd);
    put_clone_address(trace, (args.flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) != 0, ", child_tid=", args.child_tid);
    put_clone_address(trace, (args.flags & CLONE_PARENT_SETTID) != 0, ", parent_tid=", args.parent_tid);
    strace_put(trace, ", exit_signal=");
    strace_put_signal(trace, (int)args.exit_signal);
    put_clone_address(trace, true, ", stack=", args.stack);
    strace_put(trace, ", stack_size=");
    strace_hex(trace, args.stack_size, 0);
    put_clone_address(trace, (args.flags & CLONE_SETTLS) != 0, ", tls=", args.tls);
    strace_put_char(trace, '}');
    put_clone3_results(trace, &args);
}
