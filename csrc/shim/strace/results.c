/* Prints the text behind the equals sign: the result of a successful call, by its kind, or the error's name and text. */
#include "shim/strace/strace.h"

/* All names and texts of errors in one text, and the beginning of each pair: in this form the library stays small
 * (SPAN_BYTES of csrc/build/build_shim.py). */
static const struct errors {
    char none[1];
#define ERROR(number, name, text) char name_##number[sizeof name], text_##number[sizeof text];
#include "tables/strace_errno.def"
#undef ERROR
} errors = {
    "",
#define ERROR(number, name, text) name, text,
#include "tables/strace_errno.def"
#undef ERROR
};
static const unsigned short begins[] = {
#define ERROR(number, name, text) [number] = offsetof(struct errors, name_##number),
#include "tables/strace_errno.def"
};
#undef ERROR
#define ERRORS (long)(sizeof begins / sizeof begins[0])

void strace_put_error(struct trace *trace, long error)
{
    const char *name;

    if (error == ERESTART_CALL) {
        strace_put(trace, "? ERESTARTSYS (To be restarted if SA_RESTART is set)");
        return;
    }
    if (error == ERESTARTNOHAND) {
        strace_put(trace, "? ERESTARTNOHAND (To be restarted if no handler)");
        return;
    }
    strace_put(trace, "-1 ");
    if (error >= ERRORS || begins[error] == 0) {
        strace_put(trace, "E");
        strace_put_number(trace, error);
        return;
    }
    name = (const char *)&errors + begins[error];
    strace_put(trace, name);
    strace_put(trace, " (");
    strace_put(trace, name + text_length(name) + 1);
    strace_put_char(trace, ')');
}

static void put_number(struct trace *trace, uint64_t result)
{
    strace_put_number(trace, (int64_t)result);
}

static void put_pid(struct trace *trace, uint64_t result)
{
    strace_pid(trace, result, 0);
}

static void put_ready(struct trace *trace, uint64_t result)
{
    put_number(trace, result);
    strace_ready_events(trace);
}

/* `15 (SIGTERM)` */
static void put_signal(struct trace *trace, uint64_t result)
{
    put_number(trace, result);
    strace_put(trace, " (");
    strace_put_signal(trace, (int)result);
    strace_put_char(trace, ')');
}

static void put_flags(struct trace *trace, uint64_t result)
{
    (void)result;
    strace_fcntl_result(trace);
}

static void (*const printers[])(struct trace *trace, uint64_t result) = {
    [RETURNS_INT] = put_number,  [RETURNS_ADDRESS] = strace_put_address, [RETURNS_OCTAL] = strace_put_octal,
    [RETURNS_PID] = put_pid,     [RETURNS_NOTHING] = put_number,         [RETURNS_READY] = put_ready,
    [RETURNS_FLAGS] = put_flags, [RETURNS_SIGNAL] = put_signal,
};

void strace_put_success(struct trace *trace, enum strace_result kind)
{
    printers[kind](trace, (uint64_t)trace->result);
}
