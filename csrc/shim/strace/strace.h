/* Traces in the format of strace(1), at virtual times: what the files of this folder share. The code of this folder
 * runs for traced threads only.
 *
 * Memory of the application is read by strace_fetch alone, since an address that the application gives may be wrong.
 *
 *     lines.c      one line per system call: its beginning, its arguments, its end
 *     results.c    what a call returned
 *     handlers.c   lines for signals that are delivered
 *     plain.c files.c time.c poll.c socket.c process.c signal.c    printers of arguments, by family
 *     flags.c tables.c    names of constants; text.c    numbers, addresses, quoted bytes
 */
#ifndef SIMUNIX_STRACE_H
#define SIMUNIX_STRACE_H

/* Optimised for size, since this code runs in traced processes only, and the library must fit into SPAN_BYTES
 * (csrc/build/build_shim.py). */
#pragma GCC optimize("Os")

#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/strace/tracing.h"

#define STRACE_LINE_MAX 2048
#define STRACE_RESULT_MAX 200 /* bytes of the line that are kept free for the result */
#define STRACE_STRING_MAX 32  /* the most bytes of data that are shown, as with strace -s 32 */
#define STRACE_LIST_MAX 32    /* the most entries of an array that are shown, as by strace */

/* A line that is being written. At the call's entry, the arguments up to the first one that the call fills in are
 * written; at its exit, the other arguments. */
struct trace {
    struct thread *thread;
    long number;
    uint64_t a[6];
    long result;
    uint64_t start_ns;
    bool leaving;
    uint8_t written; /* enum written: how much of the line is in the file already, because of a handler or an exec */
    bool stable;     /* leave addresses and pids out, so that the traces of two runs are equal */
    bool cut;
    int length_at; /* the argument that points to a length which the call changes; -1: there is none */
    int length_before;
    char *at;
    char *flushed; /* the text before this place is in the file already */
    char *end;
    char text[STRACE_LINE_MAX];
};

/* Prints the argument at place `at`. If another argument has the length, the printer finds that argument relative to `at`. */
typedef void (*strace_printer)(struct trace *trace, uint64_t value, int at);

enum strace_result {
    RETURNS_INT = 0,
    RETURNS_ADDRESS,
    RETURNS_OCTAL,
    RETURNS_PID,
    RETURNS_NOTHING, /* the call does not return */
    RETURNS_READY,   /* for poll and select: 0 is a timeout, other values are the number of ready descriptors */
    RETURNS_FLAGS,   /* for fcntl: flags */
    RETURNS_SIGNAL,
};

#define ARGUMENT(name, printer, phase) AS_##name,
#define FLAGS(name, table, kind) AS_##name,
enum strace_argument {
    AS_NOTHING = 0,
#include "tables/strace_types.def"
    AS_COUNT,
};
#undef ARGUMENT
#undef FLAGS

/* A named value. Tables of them serve for bitmasks and for plain values, and end with a NULL name. */
/* A named value. Tables of these, for bitmasks and for plain values, end with an empty name. The name is in the table
 * itself, here and elsewhere in the shim: otherwise the loader would write a pointer for each into every new process. */
struct strace_flag {
    uint64_t value;
    char name[32]; /* "" at the end of the table */
};
#define ARGUMENT(name, printer, phase)
#define FLAGS(name, table, kind) extern const struct strace_flag strace_##table[];
#include "tables/strace_types.def"
#undef ARGUMENT
#undef FLAGS

/* Tables that printers choose from. */
extern const struct strace_flag strace_epoll_events[], strace_fcntl_commands[], strace_lock_types[], strace_futex_ops[],
    strace_ioctl_requests[], strace_open_flags[], strace_poll_events[], strace_sigaction_flags[], strace_siginfo_codes[],
    strace_child_codes[], strace_fault_codes[], strace_socket_types[], strace_socket_options[], strace_tcp_options[],
    strace_ip_options[], strace_ipv6_options[], strace_prctl_options[], strace_protocols[];

#define ERESTARTNOHAND 514 /* shown in traces and never returned: a handler has run in the middle of a call */

/* lines.c */
void strace_line_start(struct trace *trace, struct thread *thread);
void strace_line_end(struct trace *trace);

/* results.c */
void strace_put_success(struct trace *trace, enum strace_result kind);
void strace_put_error(struct trace *trace, long error);

/* text.c */
void strace_put(struct trace *trace, const char *text);
void strace_put_char(struct trace *trace, char character);
void strace_put_number(struct trace *trace, int64_t number);
void strace_put_unsigned(struct trace *trace, uint64_t number);
void strace_put_hex(struct trace *trace, uint64_t number);
void strace_put_octal(struct trace *trace, uint64_t number);
void strace_put_address(struct trace *trace, uint64_t address);
void strace_put_quoted(struct trace *trace, const char *bytes, size_t length);
void strace_put_member(struct trace *trace, const char *name, int64_t value);
bool strace_fetch(const struct trace *trace, void *to, uint64_t address, size_t size);

/* flags.c */
const char *strace_flag_name(const struct strace_flag *table, uint64_t value);
void strace_put_value(struct trace *trace, const struct strace_flag *table, uint64_t value);
void strace_put_flags(struct trace *trace, const struct strace_flag *table, uint64_t value);
void strace_put_signal(struct trace *trace, int number);
void strace_put_signal_set(struct trace *trace, uint64_t set);

/* plain.c, files.c, time.c, poll.c, socket.c, process.c, signal.c: the printers themselves */
#define ARGUMENT(name, printer, phase) void printer(struct trace *trace, uint64_t value, int at);
#define FLAGS(name, table, kind)
#include "tables/strace_types.def"
#undef ARGUMENT
#undef FLAGS
void strace_data(struct trace *trace, uint64_t address, uint64_t length);
void strace_iovecs(struct trace *trace, uint64_t address, uint64_t count, uint64_t limit);
void strace_mode(struct trace *trace, uint64_t mode, int at);
void strace_timespec_at(struct trace *trace, uint64_t address, const char *fraction);
void strace_wait_status_of(struct trace *trace, int status);
void strace_siginfo_of(struct trace *trace, const siginfo_t *info);
void strace_ready_events(struct trace *trace);
void strace_fcntl_result(struct trace *trace);

#endif
