/* Instructions that have trapped often are rewritten: a jump to the shim takes the place of the `syscall`, or of what runs
 * straight into it, and later calls of that instruction cost no signal. This speeds up programs without a libc whose
 * functions the shim could replace, and calls that libc makes internally.
 *
 * `syscall` has two bytes, as a short jump has. The short jump leads to padding between two functions (padding.c),
 * which has room for a jump to a stub for this instruction. The stub jumps to site_entry.S, and then goes on after the
 * instruction.
 *
 * If no padding is near, the long jump replaces an instruction of five bytes or more that runs straight into the
 * `syscall`, mostly the instruction that loads the call's number. The stub then begins with a copy of the instructions
 * from there on (approach.c), and the `syscall` itself stays for code that jumps to it. No byte after the `syscall`
 * changes, so a signal frame that was interrupted there, or a thread that waits in this call, returns as before. All
 * other threads of the process are in the shim's own text, so no thread sees half of a change.
 *
 * A page of a file that is rewritten becomes private memory of the process. This cost is worth while only for
 * instructions that have trapped TRAPS_BEFORE_REWRITE times, which those of an idle daemon do not; a process rewrites a
 * few dozen instructions at most. */
#include "shim/core/clock.h"
#include "shim/core/memory.h"
#include "shim/entry/entry.h"
#include "shim/sys/ipc/ipc.h"
#include "shim/sys/signal/signal.h"
#include "shim/turn/turn.h"

#define TRAPS_BEFORE_REWRITE 128
#define WATCHED 64
#define WATCHED_TOGETHER 4
#define STUBS 64
#define PAGE 4096UL
#define BELOW_IMAGE 0x10000UL /* the place of the stubs for a program that is too far from the shim */

/* A stub: code, followed by data that site_entry.S reads. A `syscall` in the stub traps, since it is outside of the
 * shim's text. */
struct stub {
    uint8_t code[40];
    uint64_t next;  /* behind the instruction */
    uint64_t raw;   /* a `syscall`, for calls that need the trapped registers */
    uint64_t again; /* the place where a call that a signal has interrupted is made again */
};

_Static_assert(sizeof(struct stub) == 64 && STUBS * sizeof(struct stub) == PAGE, "a page of stubs");
_Static_assert(offsetof(struct stub, next) == 40, "the first instruction of a stub");
_Static_assert(SITE_BLOCKED == SIGNALS_IN_SHIM, "site_entry.S");
_Static_assert(offsetof(struct thread, own_stack) == SITE_OWN_STACK_OFFSET && OWN_STACK_BYTES == SITE_OWN_STACK_BYTES,
               "site_entry.S");
_Static_assert(offsetof(struct thread, process) == SITE_PROCESS_OFFSET &&
                   offsetof(struct process, traps.all) == SITE_TRACEE_OFFSET,
               "site_entry.S");
_Static_assert(offsetof(struct site_block, stub) == 80 && sizeof(struct site_block) == 96, "site_entry.S");

static struct watch {
    uint64_t instruction;
    uint32_t traps;
} watched[WATCHED];

static struct stub near_shim[STUBS] __attribute__((aligned(PAGE)));
static struct stub *near_program; /* the stubs for the program itself, if it is far from the shim */
static unsigned stub_count;

/* Which calls a rewritten instruction makes without a trap: those that neither need the trapped registers (new threads and
 * processes, signal frames), nor wait with a mask of their own, nor may run without a stack (munmap, exit), nor mean
 * something else in the preload net (clock_nanosleep). */
uint8_t site_calls[SITE_CALLS] = {
#define SITE(name) [__NR_##name] = 1
    SITE(read),
    SITE(write),
    SITE(open),
    SITE(close),
    SITE(stat),
    SITE(fstat),
    SITE(lstat),
    SITE(poll),
    SITE(lseek),
    SITE(mmap),
    SITE(mprotect),
    SITE(brk),
    SITE(rt_sigaction),
    SITE(rt_sigprocmask),
    SITE(ioctl),
    SITE(pread64),
    SITE(pwrite64),
    SITE(readv),
    SITE(writev),
    SITE(access),
    SITE(pipe),
    SITE(select),
    SITE(sched_yield),
    SITE(mremap),
    SITE(madvise),
    SITE(dup),
    SITE(dup2),
    SITE(nanosleep),
    SITE(getpid),
    SITE(sendfile),
    SITE(socket),
    SITE(connect),
    SITE(accept),
    SITE(sendto),
    SITE(recvfrom),
    SITE(sendmsg),
    SITE(recvmsg),
    SITE(shutdown),
    SITE(bind),
    SITE(listen),
    SITE(getsockname),
    SITE(getpeername),
    SITE(socketpair),
    SITE(setsockopt),
    SITE(getsockopt),
    SITE(wait4),
    SITE(uname),
    SITE(fcntl),
    SITE(flock),
    SITE(fsync),
    SITE(fdatasync),
    SITE(truncate),
    SITE(ftruncate),
    SITE(getcwd),
    SITE(chdir),
    SITE(prctl),
    SITE(rename),
    SITE(mkdir),
    SITE(rmdir),
    SITE(creat),
    SITE(link),
    SITE(unlink),
    SITE(symlink),
    SITE(readlink),
    SITE(chmod),
    SITE(fchmod),
    SITE(chown),
    SITE(fchown),
    SITE(umask),
    SITE(gettimeofday),
    SITE(getrusage),
    SITE(sysinfo),
    SITE(times),
    SITE(getuid),
    SITE(getgid),
    SITE(geteuid),
    SITE(getegid),
    SITE(getppid),
    SITE(getpgrp),
    SITE(getgroups),
    SITE(getpgid),
    SITE(getsid),
    SITE(statfs),
    SITE(fstatfs),
    SITE(gettid),
    SITE(time),
    SITE(futex),
    SITE(sched_setaffinity),
    SITE(sched_getaffinity),
    SITE(getdents64),
    SITE(fadvise64),
    SITE(clock_gettime),
    SITE(clock_getres),
    SITE(epoll_wait),
    SITE(epoll_ctl),
    SITE(openat),
    SITE(mkdirat),
    SITE(newfstatat),
    SITE(unlinkat),
    SITE(renameat),
    SITE(linkat),
    SITE(symlinkat),
    SITE(readlinkat),
    SITE(fchmodat),
    SITE(faccessat),
    SITE(set_robust_list),
    SITE(utimensat),
    SITE(fallocate),
    SITE(timerfd_settime),
    SITE(accept4),
    SITE(eventfd2),
    SITE(epoll_create1),
    SITE(dup3),
    SITE(pipe2),
    SITE(preadv),
    SITE(pwritev),
    SITE(prlimit64),
    SITE(renameat2),
    SITE(getrandom),
    SITE(statx),
    SITE(faccessat2),
#undef SITE
};

/* Return where the traps of an instruction are counted; NULL if others that share its few places trap as often. In that
 * case the counts of the others are reduced by one trap, so that the table keeps instructions that trap often, and
 * those that cannot be rewritten. */
static struct watch *watch_of(uint64_t instruction)
{
    struct watch *places = &watched[(instruction >> 1 ^ instruction >> 9) % (WATCHED / WATCHED_TOGETHER) * WATCHED_TOGETHER];
    struct watch *least = places;

    for (struct watch *at = places; at < places + WATCHED_TOGETHER; at++) {
        if (at->instruction == instruction)
            return at;
        if (at->traps < least->traps)
            least = at;
    }
    if (least->traps == 0)
        *least = (struct watch){.instruction = instruction};
    else if (least->traps < TRAPS_BEFORE_REWRITE)
        least->traps--;
    return least->instruction == instruction ? least : NULL;
}

/* Return whether an instruction is one at which the cancellation of threads looks (glibc from 2.41 on, and musl):
 * whether a signal came at this very instruction. Such an instruction is not rewritten. */
static bool asks_for_cancellation(uint64_t instruction)
{
    static const uint8_t before[] = {0x4c, 0x89, 0x5c, 0x24, 0x08}; /* mov %r11,8(%rsp) */

    return memcmp((void *)(instruction - sizeof before), before, sizeof before) == 0;
}

static bool is_near(uint64_t a, uint64_t b)
{
    int64_t distance = (int64_t)(a - b);

    return distance > INT32_MIN / 2 && distance < INT32_MAX / 2;
}

/* Return room for a stub that a jump from `gap` reaches; NULL if there is none. */
static struct stub *take_stub(uint64_t gap, uint64_t image)
{
    long result;

    if (stub_count >= STUBS)
        return NULL;
    if (is_near(gap, (uint64_t)near_shim)) {
        result = NATIVE(mprotect, near_shim, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
        return result == 0 ? &near_shim[stub_count++] : NULL;
    }
    if (near_program == NULL) {
        result = NATIVE(mmap, image - BELOW_IMAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (result < 0 || (uint64_t)result != image - BELOW_IMAGE)
            return NULL;
        near_program = (struct stub *)result;
    }
    return is_near(gap, (uint64_t)near_program) ? &near_program[stub_count++] : NULL;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static void put_long_jump(uint8_t *at, uint64_t target)
{
    int32_t distance = (int32_t)(target - (uint64_t)at - LONG_JUMP_BYTES);

    *at = 0xe9;
    memcpy(at + 1, &distance, sizeof distance);
}

/* Write the code that enters the shim with the address of the stub's record in rcx. */
static uint8_t *put_entry(uint8_t *at, const struct stub *stub)
{
    static const uint8_t load_record[] = {0x48, 0x8d, 0x0d}; /* lea next(%rip),%rcx */
    static const uint8_t load_entry[] = {0x49, 0xbb};        /* movabs $site_entry,%r11 */
    static const uint8_t jump[] = {0x41, 0xff, 0xe3};        /* jmp *%r11 */
    void (*entry)(void) = site_entry;
    int32_t distance;

    at = put(at, load_record, sizeof load_record);
    distance = (int32_t)((const uint8_t *)&stub->next - at) - (int32_t)sizeof distance;
    at = put(at, &distance, sizeof distance);
    at = put(at, load_entry, sizeof load_entry);
    at = put(at, &entry, sizeof entry);
    return put(at, jump, sizeof jump);
}

static long let_write(uint64_t begin, uint64_t end, bool is_writable)
{
    begin &= ~(PAGE - 1);
    return NATIVE(mprotect, begin, end - begin, PROT_READ | PROT_EXEC | (is_writable ? PROT_WRITE : 0));
}

/* Replace the first instruction of the approach by a jump. The `syscall` stays, and traps. */
static long replace_approach(uint64_t instruction, const struct approach *approach)
{
    struct stub *stub = take_stub(instruction, approach->image);
    long result;

    if (stub == NULL)
        return -ENOMEM;
    put_entry(approach_copy(stub->code, approach), stub);
    stub->raw = stub->again = instruction;
    stub->next = instruction + SYSCALL_BYTES;
    result = let_write(approach->begin, approach->end, true);
    if (result != 0)
        return result;
    put_long_jump((uint8_t *)approach->begin, (uint64_t)stub);
    return let_write(approach->begin, approach->end, false);
}

static long write_jumps(uint64_t instruction, uint64_t gap, const struct stub *stub)
{
    uint64_t begin = instruction < gap ? instruction : gap;
    uint64_t end = (instruction < gap ? gap : instruction) + LONG_JUMP_BYTES;
    const uint8_t short_jump[SYSCALL_BYTES] = {0xeb, (uint8_t)(gap - instruction - SYSCALL_BYTES)};
    long result = let_write(begin, end, true);

    if (result != 0)
        return result;
    put_long_jump((uint8_t *)gap, (uint64_t)stub);
    memcpy((void *)instruction, short_jump, sizeof short_jump);
    return let_write(begin, end, false);
}

/* Replace the `syscall` itself by a short jump to padding. */
static long replace_instruction(uint64_t instruction, const struct map_query *text)
{
    static const uint8_t trap[] = {0x0f, 0x05}; /* syscall */
    uint64_t image;
    uint64_t gap = padding_near(instruction, text, LONG_JUMP_BYTES, &image);
    struct stub *stub = gap != 0 ? take_stub(gap, image) : NULL;
    uint8_t *at;

    if (stub == NULL)
        return -ENOMEM;
    at = put_entry(stub->code, stub);
    stub->raw = (uint64_t)at;
    stub->again = instruction;
    stub->next = instruction + SYSCALL_BYTES;
    put_long_jump(put(at, trap, sizeof trap), stub->next);
    return write_jumps(instruction, gap, stub);
}

/* Rewrite an instruction. The function is called guarded, since the memory that it reads may be no table, or may not be
 * mapped. */
static long rewrite(void *argument)
{
    uint64_t instruction = *(uint64_t *)argument;
    struct approach approach;
    struct map_query text;

    if (!mapping_find(instruction, &text, NULL, 0) || text.inode == 0 ||
        (text.vma_flags & (MAPPING_WRITABLE | MAPPING_SHARED)) != 0 || asks_for_cancellation(instruction))
        return -ENOENT;
    if (replace_instruction(instruction, &text) == 0)
        return 0;
    return approach_find(instruction, &text, &approach) ? replace_approach(instruction, &approach) : -ENOENT;
}

/* Count a trap of an instruction, and rewrite the instruction when it has trapped often enough. The calls of a traced
 * process go on trapping, so that its tracer sees the registers. */
void hot_site_trapped(const struct process *process, long number, uint64_t instruction)
{
    struct watch *watch;

    if (process->traps.all || (uint64_t)number >= SITE_CALLS || site_calls[number] == 0)
        return;
    watch = watch_of(instruction);
    if (watch != NULL && ++watch->traps == TRAPS_BEFORE_REWRITE && guarded_call(rewrite, &instruction) == 0)
        *watch = (struct watch){0};
}

/* Handle a call by a rewritten instruction, on the shim's own stack, with all signals blocked. */
void site_call(struct site_block *block)
{
    struct thread *thread = current_thread();
    struct call call = {
        .number = block->number,
        .a = {block->rdi, block->rsi, block->rdx, block->r10, block->r8, block->r9},
        .thread = thread,
        .mask = block->mask,
        .mask_before = block->mask,
    };
    long result;

    thread->process->page->preloaded++;
    thread->in_call.has_waited = false;
    clock_charge_call(&call);
    result = dispatch(&call);
    block->mask = call.mask_before;
    if (result == -ERESTART_CALL)
        block->next = block->stub[2]; /* the instruction again, once the signal handler that waits has run */
    else
        block->number = result;
}

/* From now on let rewritten instructions trap, because a tracer, or a handler of SIGSYS (seccomp(2)), must see the
 * registers of calls. */
void sites_take_traps(void)
{
    memset(site_calls, 0, sizeof site_calls);
}
