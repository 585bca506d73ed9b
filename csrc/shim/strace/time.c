/* Prints times: timespec, timeval, and the intervals of timers. */
#include "shim/strace/strace.h"

static void put_pair(struct trace *trace, const int64_t pair[2], const char *fraction)
{
    strace_put(trace, "{");
    strace_put_member(trace, "tv_sec", pair[0]);
    strace_put(trace, ", ");
    strace_put_member(trace, fraction, pair[1]);
    strace_put_char(trace, '}');
}

/* Print a timespec or, as `fraction` says, a timeval. */
void strace_timespec_at(struct trace *trace, uint64_t address, const char *fraction)
{
    int64_t pair[2];

    if (address == 0 || !strace_fetch(trace, pair, address, sizeof pair))
        strace_put_address(trace, address);
    else
        put_pair(trace, pair, fraction);
}

void strace_timespec_in(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_timespec_at(trace, value, "tv_nsec");
}

void strace_timeval_in(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_timespec_at(trace, value, "tv_usec");
}

/* Print the rest of a sleep, which the kernel returns only if a signal has ended the sleep. */
void strace_remainder_out(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_put_address(trace, value);
}

/* Print two moments of a file: last access, last change. */
void strace_timespecs_in(struct trace *trace, uint64_t value, int at)
{
    int64_t pairs[2][2];

    (void)at;
    if (value == 0 || !strace_fetch(trace, pairs, value, sizeof pairs)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put_char(trace, '[');
    for (int i = 0; i < 2; i++) {
        if (i > 0)
            strace_put(trace, ", ");
        if (pairs[i][1] == 0x3fffffff)
            strace_put(trace, "UTIME_NOW");
        else if (pairs[i][1] == 0x3ffffffe)
            strace_put(trace, "UTIME_OMIT");
        else
            put_pair(trace, pairs[i], "tv_nsec");
    }
    strace_put_char(trace, ']');
}

static void put_interval(struct trace *trace, uint64_t address, const char *fraction)
{
    int64_t pairs[2][2];

    if (address == 0 || !strace_fetch(trace, pairs, address, sizeof pairs)) {
        strace_put_address(trace, address);
        return;
    }
    strace_put(trace, "{it_interval=");
    put_pair(trace, pairs[0], fraction);
    strace_put(trace, ", it_value=");
    put_pair(trace, pairs[1], fraction);
    strace_put_char(trace, '}');
}

void strace_itimerval_in(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    put_interval(trace, value, "tv_usec");
}

void strace_itimerspec_in(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    put_interval(trace, value, "tv_nsec");
}
