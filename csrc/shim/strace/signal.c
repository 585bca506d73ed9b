/* Prints the arguments of calls about signals: numbers, sets, dispositions, siginfo. */
#include "shim/strace/strace.h"

void strace_signal_of(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_put_signal(trace, (int)value);
}

void strace_signal_set_in(struct trace *trace, uint64_t value, int at)
{
    uint64_t set;

    (void)at;
    if (value == 0 || !strace_fetch(trace, &set, value, sizeof set))
        strace_put_address(trace, value);
    else
        strace_put_signal_set(trace, set);
}

/* The signal mask of a call that waits: the address of a set; for pselect6(2), of a pair of such an address and a size. */
void strace_mask_argument(struct trace *trace, uint64_t value, int at)
{
    uint64_t pair[2];

    if (trace->number != __NR_pselect6) {
        strace_signal_set_in(trace, value, at);
        return;
    }
    if (value == 0 || !strace_fetch(trace, pair, value, sizeof pair)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put(trace, "{sigmask=");
    strace_signal_set_in(trace, pair[0], at);
    strace_put(trace, ", sigsetsize=");
    strace_put_unsigned(trace, pair[1]);
    strace_put_char(trace, '}');
}

static void put_handler(struct trace *trace, const void *handler)
{
    if (handler == (void *)SIG_DFL)
        strace_put(trace, "SIG_DFL");
    else if (handler == (void *)SIG_IGN)
        strace_put(trace, "SIG_IGN");
    else
        strace_put_address(trace, (uint64_t)handler);
}

void strace_sigaction_in(struct trace *trace, uint64_t value, int at)
{
    struct kernel_sigaction action;

    (void)at;
    if (value == 0 || !strace_fetch(trace, &action, value, sizeof action)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put(trace, "{sa_handler=");
    put_handler(trace, action.handler);
    strace_put(trace, ", sa_mask=");
    strace_put_signal_set(trace, action.mask);
    strace_put(trace, ", sa_flags=");
    strace_put_flags(trace, strace_sigaction_flags, action.flags);
    if (action.flags & SA_RESTORER) {
        strace_put(trace, ", sa_restorer=");
        strace_put_address(trace, (uint64_t)action.restorer);
    }
    strace_put_char(trace, '}');
}

static const struct strace_flag *codes_of(const siginfo_t *info)
{
    if (info->si_code <= 0 || info->si_code == SI_KERNEL)
        return strace_siginfo_codes;
    if (info->si_signo == SIGCHLD)
        return strace_child_codes;
    return info->si_signo == SIGSEGV ? strace_fault_codes : strace_siginfo_codes;
}

static void put_sender(struct trace *trace, const siginfo_t *info)
{
    strace_put(trace, ", si_pid=");
    strace_pid(trace, (uint64_t)info->si_pid, 0);
    strace_put_member(trace, ", si_uid", info->si_uid);
}

static void put_child(struct trace *trace, const siginfo_t *info)
{
    put_sender(trace, info);
    if (info->si_code == 1) { /* CLD_EXITED */
        strace_put_member(trace, ", si_status", info->si_status);
    } else {
        strace_put(trace, ", si_status=");
        strace_put_signal(trace, info->si_status);
    }
    strace_put(trace, ", si_utime=0, si_stime=0"); /* computing takes no virtual time */
}

static void put_value(struct trace *trace, const siginfo_t *info)
{
    strace_put_member(trace, ", si_int", info->si_int);
    strace_put(trace, ", si_ptr=");
    strace_put_address(trace, (uint64_t)info->si_ptr);
}

static void put_details(struct trace *trace, const siginfo_t *info)
{
    if (info->si_code == SI_TIMER) {
        strace_put_member(trace, ", si_timerid", info->si_tid);
        strace_put_member(trace, ", si_overrun", info->si_overrun);
        put_value(trace, info);
    } else if (info->si_code <= 0) {
        put_sender(trace, info);
        if (info->si_code == SI_QUEUE)
            put_value(trace, info);
    } else if (info->si_signo == SIGCHLD) {
        put_child(trace, info);
    } else if (info->si_signo == SIGSEGV || info->si_signo == SIGBUS || info->si_signo == SIGFPE || info->si_signo == SIGILL) {
        strace_put(trace, ", si_addr=");
        strace_put_address(trace, (uint64_t)info->si_addr);
    }
}

void strace_siginfo_of(struct trace *trace, const siginfo_t *info)
{
    strace_put(trace, "{si_signo=");
    strace_put_signal(trace, info->si_signo);
    strace_put(trace, ", si_code=");
    strace_put_value(trace, codes_of(info), (uint32_t)info->si_code);
    put_details(trace, info);
    strace_put_char(trace, '}');
}

void strace_siginfo_in(struct trace *trace, uint64_t value, int at)
{
    siginfo_t info;

    (void)at;
    if (value == 0 || !strace_fetch(trace, &info, value, sizeof info))
        strace_put_address(trace, value);
    else
        strace_siginfo_of(trace, &info);
}
