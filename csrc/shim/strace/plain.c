/* Prints plain arguments: numbers, descriptors, paths, and blocks of data. */
#include "shim/strace/strace.h"

#define TEXT_SHOWN_MAX 255

void strace_int(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_put_number(trace, (int)value);
}

void strace_uint(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_put_unsigned(trace, (uint32_t)value);
}

void strace_long(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_put_number(trace, (int64_t)value);
}

void strace_size(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_put_unsigned(trace, value);
}

void strace_hex(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    if (value == 0)
        strace_put_char(trace, '0');
    else
        strace_put_hex(trace, value);
}

void strace_offset(struct trace *trace, uint64_t value, int at)
{
    strace_hex(trace, value, at);
}

void strace_address(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_put_address(trace, value);
}

/* In a host without a PID namespace, pids are this computer's, which differ from run to run: a stable trace hides them. */
void strace_pid(struct trace *trace, uint64_t value, int at)
{
    if (trace->stable && (trace->thread->process->flags & HELLO_FLAG_FAKE_NAME) != 0 && (int)value > 0)
        strace_put(trace, "PID");
    else
        strace_int(trace, value, at);
}

/* A user or group; -1 means no change. */
void strace_id(struct trace *trace, uint64_t value, int at)
{
    if ((uint32_t)value == ~0U)
        strace_put(trace, "-1");
    else
        strace_uint(trace, value, at);
}

void strace_dirfd(struct trace *trace, uint64_t value, int at)
{
    if ((int)value == AT_FDCWD)
        strace_put(trace, "AT_FDCWD");
    else
        strace_int(trace, value, at);
}

void strace_octal(struct trace *trace, uint64_t value, int at)
{
    (void)at;
    strace_put_octal(trace, value & 07777);
}

/* Copy a zero-terminated text of the application; returns its length, or -1 if it cannot be read. Pages behind it are not read.
 * */
static long fetch_text(const struct trace *trace, char *to, uint64_t address, size_t room)
{
    size_t done = 0;

    while (done < room) {
        size_t piece = 4096 - ((address + done) & 4095);

        if (piece > room - done)
            piece = room - done;
        if (!strace_fetch(trace, to + done, address + done, piece))
            return -1;
        for (size_t i = 0; i < piece; i++)
            if (to[done + i] == '\0')
                return (long)(done + i);
        done += piece;
    }
    return (long)done;
}

void strace_path(struct trace *trace, uint64_t value, int at)
{
    char text[TEXT_SHOWN_MAX];
    long length = value == 0 ? -1 : fetch_text(trace, text, value, sizeof text);

    (void)at;
    if (length < 0) {
        strace_put_address(trace, value);
        return;
    }
    strace_put_quoted(trace, text, (size_t)length);
    if (length == sizeof text)
        strace_put(trace, "...");
}

/* Print up to 32 bytes, quoted, and dots for the rest. */
void strace_data(struct trace *trace, uint64_t address, uint64_t length)
{
    char bytes[STRACE_STRING_MAX];
    size_t shown = length < sizeof bytes ? length : sizeof bytes;

    if (address == 0 || !strace_fetch(trace, bytes, address, shown)) {
        if (shown == 0 && address != 0)
            strace_put(trace, "\"\"");
        else
            strace_put_address(trace, address);
        return;
    }
    strace_put_quoted(trace, bytes, shown);
    if (shown < length)
        strace_put(trace, "...");
}

void strace_data_in(struct trace *trace, uint64_t value, int at)
{
    strace_data(trace, value, trace->a[at + 1]);
}

void strace_data_out(struct trace *trace, uint64_t value, int at)
{
    uint64_t room = trace->a[at + 1]; /* with MSG_TRUNC the result may be larger */

    strace_data(trace, value, (uint64_t)trace->result < room ? (uint64_t)trace->result : room);
}

/* Print the name that readlink(2) or getcwd(2) returns, in full. The result of getcwd counts the final zero. */
void strace_text_out(struct trace *trace, uint64_t value, int at)
{
    char text[TEXT_SHOWN_MAX];
    size_t length = (size_t)trace->result - (trace->number == __NR_getcwd ? 1 : 0);
    size_t shown = length < sizeof text ? length : sizeof text;

    (void)at;
    if (!strace_fetch(trace, text, value, shown)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put_quoted(trace, text, shown);
    if (shown < length)
        strace_put(trace, "...");
}

/* Print `[{iov_base="ab", iov_len=2}]`. At most `limit` bytes are data. */
void strace_iovecs(struct trace *trace, uint64_t address, uint64_t count, uint64_t limit)
{
    struct iovec one;

    if (address == 0 || (count > 0 && !strace_fetch(trace, &one, address, sizeof one))) {
        strace_put_address(trace, address);
        return;
    }
    strace_put_char(trace, '[');
    for (uint64_t i = 0; i < count; i++) {
        if (i == STRACE_LIST_MAX || !strace_fetch(trace, &one, address + i * sizeof one, sizeof one)) {
            strace_put(trace, ", ...");
            break;
        }
        strace_put(trace, i == 0 ? "{iov_base=" : ", {iov_base=");
        strace_data(trace, (uint64_t)one.iov_base, one.iov_len < limit ? one.iov_len : limit);
        limit -= one.iov_len < limit ? one.iov_len : limit;
        strace_put(trace, ", iov_len=");
        strace_put_unsigned(trace, one.iov_len);
        strace_put_char(trace, '}');
    }
    strace_put_char(trace, ']');
}

void strace_iovec_in(struct trace *trace, uint64_t value, int at)
{
    strace_iovecs(trace, value, trace->a[at + 1], ~0UL);
}

void strace_iovec_out(struct trace *trace, uint64_t value, int at)
{
    strace_iovecs(trace, value, trace->a[at + 1], (uint64_t)trace->result);
}

/* Print an int behind a pointer: `[16]`, or `[128 => 16]` if the call has changed it. */
void strace_int_out(struct trace *trace, uint64_t value, int at)
{
    int number;

    (void)at;
    if (value == 0 || !strace_fetch(trace, &number, value, sizeof number)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put_char(trace, '[');
    if (trace->length_at == at && trace->length_before != number) {
        strace_put_number(trace, trace->length_before);
        strace_put(trace, " => ");
    }
    strace_put_number(trace, number);
    strace_put_char(trace, ']');
}

void strace_long_in(struct trace *trace, uint64_t value, int at)
{
    int64_t number;

    (void)at;
    if (value == 0 || !strace_fetch(trace, &number, value, sizeof number)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put_char(trace, '[');
    strace_put_number(trace, number);
    strace_put_char(trace, ']');
}

void strace_fd_pair_out(struct trace *trace, uint64_t value, int at)
{
    int pair[2];

    (void)at;
    if (!strace_fetch(trace, pair, value, sizeof pair)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put_char(trace, '[');
    strace_put_number(trace, pair[0]);
    strace_put(trace, ", ");
    strace_put_number(trace, pair[1]);
    strace_put_char(trace, ']');
}
