/* ptrace(2), the tracer's side. The server knows which process traces which thread, and which threads have stopped; the
 * memory and the registers of a thread that has stopped are read and written through /proc/PID/mem. How a tracee stops:
 * turn/tracee.c. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"
#include "shim/turn/tracee.h"
#include "shim/sys/process/process.h"

#define NT_PRSTATUS 1
#define NT_PRFPREG 2
#define NT_X86_XSTATE 0x202
#define FP_REGISTERS_BYTES 512
#define STATE_WORDS_OFFSET 464 /* of struct _fpx_sw_bytes in the saved state */
#define STATE_WORDS_BYTES 48
#define STATE_BYTES_MAX 12288
#define ARCH_GET_FS_CODE 0x1003
#define ARCH_GET_GS_CODE 0x1004
#define DEBUG_REGISTERS_OFFSET 848 /* of u_debugreg in struct user */
#define DEBUG_REGISTERS_BYTES 64

/* A thread that has stopped, as the server has described it. */
struct stopped {
    int pid;
    uint64_t at; /* the address of the thread's struct trace_stop */
    int64_t message;
};

static long request(struct call *call, struct stopped *tracee)
{
    struct reply reply;
    int64_t tid = pid_told(call->thread->process, (int)call->a[1]);
    int64_t result = ASK(call->thread, &reply, OP_PTRACE, call->a[0], tid, call->a[3]);

    tracee->at = (uint64_t)reply_number(&reply, 1);
    tracee->pid = (int)reply_number(&reply, 2);
    tracee->message = reply_number(&reply, 3);
    return result;
}

static long open_memory(const struct stopped *tracee)
{
    char path[48];
    char *end = path + sizeof path;

    text_append(text_append_number(path, end, tracee->pid), end, "/mem");
    return proc_open_for(path, O_RDWR);
}

/* Read or write bytes of a traced thread's memory from `at` on; -EIO if there is no memory. */
static long transfer(const struct stopped *tracee, bool writes, uint64_t at, void *bytes, size_t size)
{
    long memory = open_memory(tracee);
    long done;

    if (memory < 0)
        return memory == -EACCES ? -EPERM : -EIO;
    done = writes ? NATIVE(pwrite64, memory, bytes, size, at) : NATIVE(pread64, memory, bytes, size, at);
    NATIVE(close, memory);
    return done == (long)size ? 0 : -EIO;
}

static long transfer_word(const struct stopped *tracee, bool writes, struct call *call)
{
    uint64_t word = (uint64_t)call->a[3];
    long result = transfer(tracee, writes, (uint64_t)call->a[2], &word, sizeof word);

    if (result == 0 && !writes)
        memcpy((void *)call->a[3], &word, sizeof word);
    return result;
}

static long transfer_registers(const struct stopped *tracee, bool writes, void *registers, size_t size)
{
    return transfer(tracee, writes, tracee->at + offsetof(struct trace_stop, registers), registers, size);
}

/* Return whether debug register 7 may have this value. Reads alone cannot be watched. */
static bool can_watch(uint64_t control)
{
    for (int place = 0; place < 4; place++)
        if ((control >> 2 * place & 3) != 0 && (control >> (16 + 4 * place) & 3) > WATCH_WRITE)
            return false;
    return true;
}

static long transfer_debug(const struct stopped *tracee, bool writes, uint64_t which, uint64_t *word)
{
    uint64_t at;
    long result = transfer(tracee, false, tracee->at + offsetof(struct trace_stop, debug), &at, sizeof at);

    if (writes && which == 7 && !can_watch(*word)) {
        warn_once(current_thread(), WARN_REFUSED, "ptrace(PTRACE_POKEUSER): a watchpoint for reads; only writes can be watched",
                  NULL);
        return -EINVAL;
    }
    return result != 0 ? result : transfer(tracee, writes, at + which * sizeof at, word, sizeof *word);
}

/* Carry out PTRACE_PEEKUSER and PTRACE_POKEUSER: general registers and debug registers. */
static long transfer_user(const struct stopped *tracee, bool writes, struct call *call)
{
    uint64_t offset = (uint64_t)call->a[2];
    uint64_t word = (uint64_t)call->a[3];
    long result;

    if (offset % 8 != 0)
        return -EIO;
    if (offset - DEBUG_REGISTERS_OFFSET < DEBUG_REGISTERS_BYTES) {
        result = transfer_debug(tracee, writes, (offset - DEBUG_REGISTERS_OFFSET) / 8, &word);
    } else if (offset >= USER_REGISTERS * sizeof(uint64_t)) {
        return -EIO;
    } else {
        result = transfer(tracee, writes, tracee->at + offsetof(struct trace_stop, registers) + offset, &word, sizeof word);
    }
    if (result == 0 && !writes)
        memcpy((void *)call->a[3], &word, sizeof word);
    return result;
}

/* The floating-point state as ptrace(2) shows it: at the place where a signal frame has the size of the saved state,
 * ptrace has the kernel's own set of registers. `size` is the available room, and afterwards the size of the state. */
static long transfer_state(const struct stopped *tracee, bool writes, uint8_t *given, size_t *size)
{
    uint8_t state[STATE_BYTES_MAX];
    const struct _fpx_sw_bytes *words = (const void *)(state + STATE_WORDS_OFFSET);
    uint64_t at = 0;
    size_t there = FP_REGISTERS_BYTES;
    long result = transfer(tracee, false, tracee->at + offsetof(struct trace_stop, state), &at, sizeof at);

    if (result == 0)
        result = transfer(tracee, false, at, state, FP_REGISTERS_BYTES);
    if (result != 0)
        return result;
    if (words->magic1 == FP_XSTATE_MAGIC1 && words->xstate_size <= sizeof state && *size > FP_REGISTERS_BYTES)
        there = words->xstate_size;
    if (*size > there)
        *size = there;
    if (writes) {
        memcpy(state, given, *size < STATE_WORDS_OFFSET ? *size : STATE_WORDS_OFFSET);
        result = transfer(tracee, true, at, state, STATE_WORDS_OFFSET);
        if (result == 0 && *size > FP_REGISTERS_BYTES)
            result = transfer(tracee, true, at + FP_REGISTERS_BYTES, given + FP_REGISTERS_BYTES, *size - FP_REGISTERS_BYTES);
        return result;
    }
    result = transfer(tracee, false, at, given, *size);
    if (result == 0 && *size >= FP_REGISTERS_BYTES) {
        memset(given + STATE_WORDS_OFFSET, 0, STATE_WORDS_BYTES);
        memcpy(given + STATE_WORDS_OFFSET, &words->xfeatures, sizeof words->xfeatures);
    }
    return result;
}

static long transfer_set(const struct stopped *tracee, bool writes, struct call *call)
{
    struct iovec *given = (void *)call->a[3];
    size_t size = given->iov_len;
    long result;

    if (call->a[2] == NT_PRSTATUS) {
        size = size < USER_REGISTERS * sizeof(uint64_t) ? size : USER_REGISTERS * sizeof(uint64_t);
        result = transfer_registers(tracee, writes, given->iov_base, size);
    } else if (call->a[2] == NT_PRFPREG || call->a[2] == NT_X86_XSTATE) {
        if (call->a[2] == NT_PRFPREG && size > FP_REGISTERS_BYTES)
            size = FP_REGISTERS_BYTES;
        result = transfer_state(tracee, writes, given->iov_base, &size);
    } else {
        return -EINVAL;
    }
    if (result == 0)
        given->iov_len = size;
    return result;
}

static long transfer_info(const struct stopped *tracee, bool writes, struct call *call)
{
    return transfer(tracee, writes, tracee->at + offsetof(struct trace_stop, info), (void *)call->a[3], sizeof(siginfo_t));
}

static long read_base(const struct stopped *tracee, struct call *call)
{
    uint64_t registers[USER_REGISTERS];
    long result = transfer_registers(tracee, false, registers, sizeof registers);

    if (call->a[3] != ARCH_GET_FS_CODE && call->a[3] != ARCH_GET_GS_CODE)
        return -EINVAL;
    if (result == 0)
        memcpy((void *)call->a[2], &registers[call->a[3] == ARCH_GET_FS_CODE ? USER_FS_BASE : USER_GS_BASE], sizeof(uint64_t));
    return result;
}

/* Carry out a request that the tracer's shim handles itself, after the server has said that the thread is the caller's
 * and has stopped. */
static long answer(const struct stopped *tracee, struct call *call)
{
    size_t size = FP_REGISTERS_BYTES;

    switch (call->a[0]) {
    case PTRACE_PEEKTEXT:
    case PTRACE_PEEKDATA:
    case PTRACE_POKETEXT:
    case PTRACE_POKEDATA:
        return transfer_word(tracee, call->a[0] == PTRACE_POKETEXT || call->a[0] == PTRACE_POKEDATA, call);
    case PTRACE_PEEKUSR:
    case PTRACE_POKEUSR:
        return transfer_user(tracee, call->a[0] == PTRACE_POKEUSR, call);
    case PTRACE_GETREGS:
    case PTRACE_SETREGS:
        return transfer_registers(tracee, call->a[0] == PTRACE_SETREGS, (void *)call->a[3], USER_REGISTERS * sizeof(uint64_t));
    case PTRACE_GETFPREGS:
    case PTRACE_SETFPREGS:
        return transfer_state(tracee, call->a[0] == PTRACE_SETFPREGS, (void *)call->a[3], &size);
    case PTRACE_GETREGSET:
    case PTRACE_SETREGSET:
        return transfer_set(tracee, call->a[0] == PTRACE_SETREGSET, call);
    case PTRACE_GETSIGINFO:
    case PTRACE_SETSIGINFO:
        return transfer_info(tracee, call->a[0] == PTRACE_SETSIGINFO, call);
    case PTRACE_GETEVENTMSG:
        memcpy((void *)call->a[3], &tracee->message, sizeof tracee->message);
        return 0;
    case PTRACE_ARCH_PRCTL:
        return read_base(tracee, call);
    default:
        return 0; /* the server has carried out the request */
    }
}

long sys_ptrace(struct call *call)
{
    struct stopped tracee = {0};
    long result;

    result = request(call, &tracee);
    if (result != 0)
        return result;
    if (call->a[0] == PTRACE_TRACEME)
        tracee_begin(call->thread);
    return answer(&tracee, call);
}

/* Return a traced thread with news for its tracer, and its status; this is asked before the kernel is asked about
 * children. 0: there is none yet; -ECHILD: the caller traces no such thread. */
long tracees_wait(struct call *call, long pid, long options, int *status)
{
    struct reply reply;
    int64_t result;

    if (call->thread->process->page->tracees == 0)
        return -ECHILD;
    result = ASK(call->thread, &reply, OP_TRACEE_WAIT, target_told(call->thread->process, pid), options);
    *status = (int)reply_number(&reply, 1);
    return pid_shown(call->thread->process, result);
}
