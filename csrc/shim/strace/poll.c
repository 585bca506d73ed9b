/* Prints the descriptors for which poll, select and epoll wait, and the ready ones. */
#include "shim/strace/strace.h"

static void put_pollfds(struct trace *trace, uint64_t address, uint64_t count, bool found)
{
    struct pollfd entry;
    unsigned shown = 0;

    strace_put_char(trace, '[');
    for (uint64_t i = 0; i < count && strace_fetch(trace, &entry, address + i * sizeof entry, sizeof entry); i++) {
        if (found && entry.revents == 0)
            continue;
        if (shown++ > 0)
            strace_put(trace, ", ");
        if (shown > STRACE_LIST_MAX) {
            strace_put(trace, "...");
            break;
        }
        strace_put_member(trace, "{fd", entry.fd);
        strace_put(trace, found ? ", revents=" : ", events=");
        strace_put_flags(trace, strace_poll_events, (uint16_t)(found ? entry.revents : entry.events));
        strace_put_char(trace, '}');
    }
    strace_put_char(trace, ']');
}

void strace_pollfds_in(struct trace *trace, uint64_t value, int at)
{
    if (value == 0)
        strace_put(trace, "NULL");
    else
        put_pollfds(trace, value, trace->a[at + 1], false);
}

static void put_fd_set(struct trace *trace, uint64_t address, int count)
{
    bool first = true;
    uint64_t word = 0;

    strace_put_char(trace, '[');
    for (int fd = 0; fd < count; fd++) {
        if ((fd & 63) == 0 && !strace_fetch(trace, &word, address + (uint64_t)fd / 8, sizeof word))
            break;
        if ((word >> (fd & 63) & 1) == 0)
            continue;
        if (!first)
            strace_put_char(trace, ' ');
        strace_put_number(trace, fd);
        first = false;
    }
    strace_put_char(trace, ']');
}

void strace_fd_set_in(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    if (value == 0)
        strace_put(trace, "NULL");
    else
        put_fd_set(trace, value, (int)trace->a[0]);
}

static const char *const set_names[3] = {"in ", "out ", "except "};

static void put_ready_sets(struct trace *trace)
{
    bool first = true;

    for (int i = 0; i < 3; i++) {
        uint64_t words[16] = {0};
        size_t size = ((trace->a[0] + 63) / 64 * 8) & 127;
        uint64_t any = 0;

        if (trace->a[1 + i] == 0 || !strace_fetch(trace, words, trace->a[1 + i], size))
            continue;
        for (size_t word = 0; word < 16; word++)
            any |= words[word];
        if (any == 0)
            continue;
        strace_put(trace, first ? "" : ", ");
        strace_put(trace, set_names[i]);
        put_fd_set(trace, trace->a[1 + i], (int)trace->a[0]);
        first = false;
    }
}

/* Print the brackets after the result: `(Timeout)`, or the ready descriptors. */
void strace_ready_events(struct trace *trace)
{
    bool polls = trace->number == __NR_poll || trace->number == __NR_ppoll;

    if (trace->result == 0) {
        strace_put(trace, " (Timeout)");
        return;
    }
    strace_put(trace, " (");
    if (polls)
        put_pollfds(trace, trace->a[0], trace->a[1], true);
    else
        put_ready_sets(trace);
    strace_put_char(trace, ')');
}

static void put_epoll_event(struct trace *trace, const struct epoll_event *event)
{
    strace_put(trace, "{events=");
    strace_put_flags(trace, strace_epoll_events, event->events);
    if (trace->stable && event->data >> 32 != 0) {
        strace_put(trace, ", data=0x...}");
        return;
    }
    strace_put(trace, ", data={u32=");
    strace_put_unsigned(trace, (uint32_t)event->data);
    strace_put(trace, ", u64=");
    strace_put_unsigned(trace, event->data);
    strace_put(trace, "}}");
}

void strace_epoll_event_in(struct trace *trace, uint64_t value, int at)
{
    struct epoll_event event;

    (void)at;
    if (value == 0 || trace->a[1] == EPOLL_CTL_DEL || !strace_fetch(trace, &event, value, sizeof event))
        strace_put_address(trace, value);
    else
        put_epoll_event(trace, &event);
}

void strace_epoll_events_out(struct trace *trace, uint64_t value, int at)
{
    struct epoll_event event;

    (void)at;
    strace_put_char(trace, '[');
    for (long i = 0; i < trace->result && strace_fetch(trace, &event, value + (uint64_t)i * sizeof event, sizeof event); i++) {
        strace_put(trace, i > 0 ? ", " : "");
        if (i == STRACE_LIST_MAX) {
            strace_put(trace, "...");
            break;
        }
        put_epoll_event(trace, &event);
    }
    strace_put_char(trace, ']');
}
