/* Yielding, processors and nice values. Nice values count from the one that the whole emulation has, which its user has
 * chosen. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"
#include "shim/sys/numa/numa.h"
#include "shim/sys/process/process.h"
#include "shim/turn/turn.h"

static bool is_alone(const struct process *process)
{
    const struct simunix_clock_page *page = process->page;

    return page->lookahead_ns > page->now_ns && page->due_ns > page->now_ns && process->handoffs.ready == NULL;
}

long sys_sched_yield(struct call *call)
{
    const struct process *process = call->thread->process;
    struct wait wait = {.kind = PARK_YIELD, .deadline = NEVER};

    clock_charge_yield(call, is_alone(process));
    if (!is_alone(process))
        park(call, &wait);
    return 0;
}

#define RSEQ_SIGNATURE 0x53053053
#define RSEQ_UNREGISTER 1
#define RSEQ_LEAST_BYTES 32

/* The offset of glibc's area for restartable sequences (2.35 and later). */
extern const long __rseq_offset __attribute__((weak, visibility("default")));
extern const unsigned __rseq_size __attribute__((weak, visibility("default")));

#define CPU_WORDS 16 /* bytes of a set of processors, as many as the server stores */

struct cpu_set {
    uint64_t words[CPU_WORDS];
};

/* Set or read the processors of a thread. All threads share one real processor; the application sees, and may restrict
 * itself to some of, the emulated host's processors. The server stores them by thread: they last through exec, and
 * other processes may change them. An empty set changes nothing, and only reads. */
static long affinity(struct call *call, const struct cpu_set *wanted, struct cpu_set *result)
{
    struct msgpack_writer writer;
    struct reply reply;

    request_start(call->thread, &writer, OP_AFFINITY);
    msgpack_put_int(&writer, pid_told(call->thread->process, (int)call->a[0]));
    msgpack_put_bytes(&writer, wanted, wanted != NULL ? sizeof *wanted : 0);
    if (request_call(call->thread, &writer, &reply) < 0)
        return reply.status;
    memset(result, 0, sizeof *result);
    reply_bytes(&reply, 1, result, sizeof *result);
    return 0;
}

static size_t size_of_set(const struct process *process)
{
    return process->host.cpus > 64 ? ((size_t)process->host.cpus + 63) / 64 * 8 : 8;
}

long sys_sched_getaffinity(struct call *call)
{
    size_t size = size_of_set(call->thread->process);
    struct cpu_set set;
    long result;

    if ((unsigned)call->a[1] < size || (call->a[1] & 7) != 0 || size > sizeof set)
        return -EINVAL;
    result = affinity(call, NULL, &set);
    if (result < 0)
        return result;
    memcpy((void *)call->a[2], &set, size);
    return (long)size;
}

/* Return whether the caller may change this thread: the rule is that for sending a signal, but for the capability. */
static bool may_change(const struct call *call, int tid)
{
    if (tid <= 0 || NATIVE(tgkill, call->thread->process->ids.pid, tid, 0) == 0)
        return true;
    return NATIVE(kill, tid, 0) != -EPERM;
}

static unsigned first_cpu(const struct cpu_set *set)
{
    for (unsigned word = 0; word < CPU_WORDS; word++)
        if (set->words[word] != 0)
            return 64 * word + (unsigned)__builtin_ctzl(set->words[word]);
    return 0;
}

long sys_sched_setaffinity(struct call *call)
{
    struct cpu_set wanted = {{0}};
    struct cpu_set now;
    size_t size = (unsigned)call->a[1] < sizeof wanted ? (unsigned)call->a[1] : sizeof wanted;
    int tid = (int)call->a[0];
    long result;

    memcpy(&wanted, (void *)call->a[2], size);
    if (!may_change(call, tid))
        return -EPERM;
    result = affinity(call, &wanted, &now);
    if (result == 0 && (tid == 0 || tid == call->thread->ids.tid))
        call->thread->cpu = first_cpu(&now);
    return result;
}

/* Refuse restartable sequences, as a kernel without them does: they would show threads the real processor on which they
 * run, and sched_getcpu(3) would return this number. */
long sys_rseq(struct call *call)
{
    (void)call;
    return -ENOSYS;
}

/* Undo the registration of the main thread, which glibc has made before the shim was loaded. */
void rseq_forget(void)
{
    uint8_t *thread_pointer;
    uint8_t *area;

    if (&__rseq_offset == NULL || &__rseq_size == NULL)
        return;
    __asm__("movq %%fs:0, %0" : "=r"(thread_pointer));
    area = thread_pointer + __rseq_offset;
    if (NATIVE(rseq, area, RSEQ_LEAST_BYTES, RSEQ_UNREGISTER, RSEQ_SIGNATURE) == -EINVAL)
        NATIVE(rseq, area, __rseq_size, RSEQ_UNREGISTER, RSEQ_SIGNATURE);
}

long sys_getcpu(struct call *call)
{
    if (call->a[0] != 0)
        *(unsigned *)call->a[0] = call->thread->cpu;
    if (call->a[1] != 0)
        *(unsigned *)call->a[1] = numa_node_of_cpu(call->thread, call->thread->cpu);
    return 0;
}

#define NICE_LEAST (-20)
#define NICE_MOST 19
#define RAW_OFFSET 20 /* the kernel answers 20 - nice, since an error is negative */

static long within_nice(long nice)
{
    return nice < NICE_LEAST ? NICE_LEAST : nice > NICE_MOST ? NICE_MOST : nice;
}

/* Return the nice value to show in place of the kernel's: the nice value of the emulation itself counts as 0. */
long nice_shown(const struct process *process, long nice)
{
    return within_nice(nice - (long)process->page->nice);
}

long sys_getpriority(struct call *call)
{
    long result = NATIVE(getpriority, call->a[0], call->a[1]);

    return result <= 0 ? result : RAW_OFFSET - nice_shown(call->thread->process, RAW_OFFSET - result);
}

long sys_setpriority(struct call *call)
{
    long nice = within_nice((int)call->a[2]);

    return NATIVE(setpriority, call->a[0], call->a[1], within_nice(nice + (long)call->thread->process->page->nice));
}
