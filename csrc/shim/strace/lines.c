/* Writes one line per system call of a traced thread into the thread's own file (as strace -ff): dispatch() calls strace_call.
 *
 * A line is written when its call has ended, and begins with the virtual time at which the call began. Invariant: tracing takes
 * no virtual time and makes no actor ready, so a traced run has the event log of an untraced one.
 */
#include "shared/syscall_names.h"
#include "shim/strace/strace.h"
#include "tables/newer_syscalls.h"

#define ROWS_MAX 512
#define RESULT_COLUMN 40 /* the column in which strace prints the equals sign of short calls */

struct row {
    uint8_t result;
    uint8_t arguments[6]; /* AS_NOTHING behind the last */
};

#define TRACE(name, result, ...) [__NR_##name] = {result, {__VA_ARGS__}},
static const struct row rows[ROWS_MAX] = {
#include "tables/strace.def"
};
#undef TRACE

enum written { NOTHING = 0, RESTARTED, UNFINISHED };
enum phase { IN, OUT };
enum kind { VALUE, SET };
struct type {
    strace_printer print; /* NULL: flags */
    const struct strace_flag *flags;
    uint8_t phase;
    uint8_t kind;
};

#define ARGUMENT(name, printer, phase) [AS_##name] = {printer, NULL, phase, VALUE},
#define FLAGS(name, table, kind) [AS_##name] = {NULL, strace_##table, IN, kind},
static const struct type types[AS_COUNT] = {
#include "tables/strace_types.def"
};
#undef ARGUMENT
#undef FLAGS

static const struct row *row_of(long number)
{
    static const struct row unknown = {RETURNS_INT, {AS_HEX, AS_HEX, AS_HEX, AS_HEX, AS_HEX, AS_HEX}};

    return text_equal(syscall_name(number), "unknown") ? &unknown : &rows[number];
}

/* Print the beginning of a line, the virtual time in seconds: `12.000000200 `. */
static void put_time(struct trace *trace, uint64_t moment_ns)
{
    uint64_t fraction = moment_ns % SECOND_NS;

    strace_put_unsigned(trace, moment_ns / SECOND_NS);
    strace_put_char(trace, '.');
    for (uint64_t unit = SECOND_NS / 10; unit > 0; unit /= 10)
        strace_put_char(trace, (char)('0' + fraction / unit % 10));
    strace_put_char(trace, ' ');
}

void strace_line_start(struct trace *trace, struct thread *thread)
{
    trace->thread = thread;
    trace->stable = (thread->process->flags & HELLO_FLAG_TRACE_STABLE) != 0;
    trace->cut = false;
    trace->at = trace->flushed = trace->text;
    trace->end = trace->text + sizeof trace->text - STRACE_RESULT_MAX;
    trace->start_ns = thread->process->page->now_ns;
    put_time(trace, trace->start_ns);
}

static void send_text(struct trace *trace)
{
    struct msgpack_writer writer;
    struct reply reply;
    uint64_t all = SIGNALS_IN_SHIM;
    uint64_t before;

    NATIVE(rt_sigprocmask, SIG_SETMASK, &all, &before, 8); /* so that no handler of the application runs */
    request_start(trace->thread, &writer, OP_TRACE_TEXT);
    msgpack_put_bytes(&writer, trace->flushed, (size_t)(trace->at - trace->flushed));
    request_call(trace->thread, &writer, &reply);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
}

static void flush(struct trace *trace)
{
    if (trace->thread->process->strace.writes_by_server)
        send_text(trace);
    else
        NATIVE(write, descriptor_number(trace->thread->process, trace->thread->strace.file), trace->flushed,
               trace->at - trace->flushed);
    trace->flushed = trace->at;
}

void strace_line_end(struct trace *trace)
{
    trace->end = trace->text + sizeof trace->text;
    strace_put_char(trace, '\n');
    flush(trace);
}

/* For a failed call, print the length that the application has given. */
static void put_length(struct trace *trace)
{
    strace_put_char(trace, '[');
    strace_put_number(trace, trace->length_before);
    strace_put_char(trace, ']');
}

/* An argument that a failed call did not fill in is shown as an address. */
static void put_argument(struct trace *trace, enum strace_argument argument, int at)
{
    const struct type *type = &types[argument];
    uint64_t value = trace->a[at];

    if (at > 0)
        strace_put(trace, ", ");
    if (type->print == NULL && type->kind == SET)
        strace_put_flags(trace, type->flags, (uint32_t)value);
    else if (type->print == NULL)
        strace_put_value(trace, type->flags, (uint32_t)value);
    else if (argument == AS_LENGTH_OUT && trace->result < 0 && trace->length_at == at)
        put_length(trace);
    else if (type->phase == OUT && (trace->result < 0 || value == 0) && argument != AS_CLONE && argument != AS_CLONE3)
        strace_put_address(trace, value);
    else
        type->print(trace, value, at);
}

/* Print arguments from `from` on; on entry only up to the first one that the call fills in. Returns the next argument. */
static int put_arguments(struct trace *trace, int from)
{
    const struct row *row = row_of(trace->number);
    int at = from;

    while (at < 6 && row->arguments[at] != AS_NOTHING && (trace->leaving || types[row->arguments[at]].phase == IN)) {
        put_argument(trace, row->arguments[at], at);
        at++;
    }
    return at;
}

/* A length that a pointer leads to is the available room before the call, and the needed room after it: store the first. */
static void remember_length(struct trace *trace)
{
    const struct row *row = row_of(trace->number);

    trace->length_at = -1;
    for (int at = 0; at < 6; at++)
        if (row->arguments[at] == AS_LENGTH_OUT && strace_fetch(trace, &trace->length_before, trace->a[at], sizeof(int)))
            trace->length_at = at;
}

/* Print the result, e.g. `) = 3`, with the equals sign in its column. */
static void put_result(struct trace *trace)
{
    const char *call = trace->text;

    trace->end += STRACE_RESULT_MAX - 2;
    strace_put(trace, trace->cut ? "...)" : ")");
    while (*call != ' ')
        call++;
    while (trace->at - call < RESULT_COLUMN)
        strace_put_char(trace, ' ');
    strace_put(trace, " = ");
    if (row_of(trace->number)->result == RETURNS_NOTHING)
        strace_put_char(trace, '?');
    else if (trace->result < 0 && trace->result > -4096)
        strace_put_error(trace, -trace->result);
    else
        strace_put_success(trace, row_of(trace->number)->result);
    strace_line_end(trace);
}

static void put_name(struct trace *trace)
{
    const char *name = syscall_name(trace->number);

    if (!text_equal(name, "unknown")) {
        strace_put(trace, name);
    } else {
        strace_put(trace, "syscall_");
        strace_put_hex(trace, (uint64_t)trace->number);
    }
    strace_put_char(trace, '(');
}

/* Print the rest of a line that a handler or a failed exec has interrupted. */
static void put_rest(struct trace *trace, const struct call *call)
{
    strace_line_start(trace, call->thread);
    if (trace->written == UNFINISHED) {
        strace_put(trace, "<... ");
        strace_put(trace, syscall_name(trace->number));
        strace_put(trace, " resumed>");
    } else if (trace->result == -EINTR && call->context != NULL) {
        strace_put(trace, "rt_sigreturn({mask=");
        strace_put_signal_set(trace, call->context->uc_sigmask);
        strace_put_char(trace, '}');
    } else {
        put_name(trace);
        put_arguments(trace, 0);
    }
}

/* Answer a call, and write its line. Handlers may change `call->a`, so the arguments are copied first. */
long strace_call(struct call *call, call_handler answer)
{
    struct trace trace;
    int pid = call->thread->process->ids.pid;
    int shown;

    strace_line_start(&trace, call->thread);
    trace.number = call->number;
    memcpy(trace.a, call->a, sizeof trace.a);
    trace.leaving = false;
    trace.written = NOTHING;
    remember_length(&trace);
    put_name(&trace);
    shown = put_arguments(&trace, 0);
    if (row_of(call->number)->result == RETURNS_NOTHING)
        put_result(&trace);
    call->trace = &trace;
    trace.result = answer(call);
    if (call->thread->process->ids.pid != pid) /* this is a forked child, which has a trace file of its own */
        return trace.result;
    trace.leaving = true;
    if (trace.written == NOTHING)
        put_arguments(&trace, shown);
    else
        put_rest(&trace, call);
    put_result(&trace);
    return trace.result;
}

/* Write the known part of the line of a call that gives the turn back, so that the file shows where the thread waits. */
void strace_waits(struct call *call)
{
    if (call->trace->written == NOTHING)
        flush(call->trace);
}

/* A handler is about to run in the middle of this call: end the line, as the handler's lines follow. */
void strace_interrupted(struct call *call)
{
    struct trace *trace = call->trace;

    if (trace->written != NOTHING)
        return;
    trace->result = -ERESTARTNOHAND;
    trace->leaving = true;
    for (int at = 0; at < 6 && row_of(trace->number)->arguments[at] != AS_NOTHING; at++)
        if (types[row_of(trace->number)->arguments[at]].phase == OUT) {
            put_arguments(trace, at);
            break;
        }
    put_result(trace);
    trace->written = RESTARTED;
}

/* End the line of an execve(2) whose program can be run, since this program ends here, unless the kernel refuses after
 * all. */
void strace_replacing(struct call *call, int directory, const char *path)
{
    struct trace *trace = call->trace;

    if (NATIVE(faccessat, directory, path, 1) != 0)
        return;
    strace_put(trace, " <unfinished ...>");
    strace_line_end(trace);
    trace->written = UNFINISHED;
}

/* A limit of file sizes (sshd's child may write no files) applies to traces as well, and would kill the process. Under
 * such a limit, the server writes the trace. */
void strace_limited(struct process *process)
{
    struct {
        uint64_t soft;
        uint64_t hard;
    } limits;

    if ((process->flags & HELLO_FLAG_TRACE) != 0 && NATIVE(getrlimit, RLIMIT_FSIZE, &limits) == 0)
        process->strace.writes_by_server = limits.soft != RLIM_INFINITY;
}

/* Ask the server for the file of this thread. A thread without a file is not traced. */
void strace_open(struct thread *thread)
{
    struct reply reply;

    thread->strace.file = -1;
    if ((thread->process->flags & HELLO_FLAG_TRACE) == 0)
        return;
    strace_limited(thread->process);
    descriptors_raise();
    if (ASK(thread, &reply, OP_TRACE) == 0 && reply.fd >= 0)
        thread->strace.file = descriptor_hide(thread->process, reply.fd);
    descriptors_limit(thread->process);
}

/* Write the line of the execve(2) that has started this program, since the program before did not see the call end. */
void strace_began(struct thread *thread, const char *path, char **argv, char **environment)
{
    struct trace trace;

    if (thread->strace.file < 0)
        return;
    strace_line_start(&trace, thread);
    trace.number = __NR_execve;
    trace.result = 0;
    trace.leaving = true;
    trace.a[0] = (uint64_t)path;
    trace.a[1] = (uint64_t)argv;
    trace.a[2] = (uint64_t)environment;
    put_name(&trace);
    put_arguments(&trace, 0);
    put_result(&trace);
}
