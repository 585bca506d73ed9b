/* Loads the shim into programs that have no loader, or whose loader would not load it: static programs, programs that
 * gain privileges, programs that their user may not read. The kernel's exec is traced (ptrace(2)).
 *
 * The process that is about to exec has opened the shim's file, and passes the number of the descriptor. When the new image is
 * complete and has not run yet, a few bytes over __vdso_gettimeofday (which the shim replaces anyway) map that file and jump to
 * its entry (csrc/shim/entry/injected_entry.S). The rest of the image is not changed, so /proc/self/exe, privileges and
 * addresses are the program's own.
 *
 * Invariant: an image that was to get the shim and cannot is killed before its first instruction. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACED_MAX 64
#define KILLED_MAX 16
#define CODE_64BIT 0x33 /* the code segment of an x86-64 program */

struct traced {
    pid_t thread; /* 0: a free place */
    struct shim_file shim;
};

struct image {
    uint64_t loader, secure, vdso, segments, segment_count;
};

static int proc = -1;
static struct traced traced[TRACED_MAX];
static struct {
    pid_t process;
    const char *reason;
} killed[KILLED_MAX]; /* the last reasons, in a ring */
static unsigned killed_count;

/* mov $9, %eax; syscall; add %rbx, %rax; jmp *%rax (and 4 bytes that are never reached) */
static const uint8_t stub[16] = {0xb8, 9, 0, 0, 0, 0x0f, 0x05, 0x48, 0x01, 0xd8, 0xff, 0xe0, 0xcc, 0xcc, 0xcc, 0xcc};

static struct traced *place_of(pid_t thread)
{
    for (size_t i = 0; i < TRACED_MAX; i++)
        if (traced[i].thread == thread)
            return &traced[i];
    return NULL;
}

/* Return the place of the stub (the few bytes), counted from the start of the vDSO, which is equal in all programs; 0
 * if there is no vDSO. */
static uint64_t stub_offset(void)
{
    const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    const Elf64_Ehdr *header = (const void *)base;

    for (int i = 0; base != NULL && i < header->e_shnum; i++) {
        const Elf64_Shdr *sections = (const void *)(base + header->e_shoff);
        const Elf64_Sym *symbols = (const void *)(base + sections[i].sh_offset);

        for (size_t at = 0; sections[i].sh_type == SHT_DYNSYM && at < sections[i].sh_size / sizeof *symbols; at++)
            if (strcmp((const char *)base + sections[sections[i].sh_link].sh_offset + symbols[at].st_name,
                       "__vdso_gettimeofday") == 0)
                return symbols[at].st_value;
    }
    return 0;
}

static bool read_memory(pid_t process, uint64_t address, void *to, size_t size)
{
    struct iovec here = {to, size};
    struct iovec there = {(void *)address, size};

    return process_vm_readv(process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Open /proc before any program of the host can hide it. */
void injection_start(void)
{
    proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Read the auxiliary vector of a program from /proc, and not from the program's stack, which the program's user could
 * change. */
static bool read_image(pid_t process, struct image *image)
{
    uint64_t entry[2];
    char path[64];
    int fd;

    memset(image, 0, sizeof *image);
    snprintf(path, sizeof path, "%d/auxv", (int)process);
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (read(fd, entry, sizeof entry) == sizeof entry && entry[0] != AT_NULL) {
        image->loader = entry[0] == AT_BASE ? entry[1] : image->loader;
        image->secure = entry[0] == AT_SECURE ? entry[1] : image->secure;
        image->vdso = entry[0] == AT_SYSINFO_EHDR ? entry[1] : image->vdso;
        image->segments = entry[0] == AT_PHDR ? entry[1] : image->segments;
        image->segment_count = entry[0] == AT_PHNUM ? entry[1] : image->segment_count;
    }
    close(fd);
    return true;
}

/* Return whether the program's loader loads the shim from LD_PRELOAD, and runs its initialisation, as glibc's does. */
static bool loads_shim(pid_t process, const struct image *image)
{
    Elf64_Phdr segments[32];
    uint64_t bias = 0;
    char loader[64] = "";

    if (image->loader == 0 || image->secure != 0 || image->segment_count > sizeof segments / sizeof *segments ||
        !read_memory(process, image->segments, segments, image->segment_count * sizeof *segments))
        return false;
    for (size_t i = 0; i < image->segment_count; i++) {
        if (segments[i].p_type == PT_PHDR)
            bias = image->segments - segments[i].p_vaddr;
        if (segments[i].p_type == PT_INTERP && segments[i].p_filesz <= sizeof loader &&
            !read_memory(process, bias + segments[i].p_vaddr, loader, segments[i].p_filesz))
            return false;
    }
    return memmem(loader, sizeof loader, "/ld-linux", 9) != NULL;
}

/* Return whether the exec has cleared ADDR_NO_RANDOMIZE, as it does for a setuid program even if that gains nothing by it. */
static bool has_chance(pid_t process)
{
    char text[16] = "";
    char path[64];
    int fd;

    snprintf(path, sizeof path, "%d/personality", (int)process);
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (read(fd, text, sizeof text - 1) <= 0)
        text[0] = '\0';
    close(fd);
    return text[0] != '\0' && (strtoul(text, NULL, 16) & ADDR_NO_RANDOMIZE) == 0;
}

/* Make the new program start with the shim. Returns NULL, or why that is impossible. */
static const char *inject(pid_t process, const struct shim_file *shim)
{
    struct user_regs_struct registers;
    uint64_t offset = stub_offset();
    struct image image;
    uint64_t words[2];

    if (ptrace(PTRACE_GETREGS, process, NULL, &registers) != 0)
        return "its registers cannot be read";
    if (registers.cs != CODE_64BIT)
        return "not an x86-64 program";
    if (!read_image(process, &image))
        return "its auxiliary vector cannot be read";
    if (shim->only_if_needed && loads_shim(process, &image) && !has_chance(process))
        return NULL;
    if (image.vdso == 0 || offset == 0)
        return "this kernel maps no vDSO, which has the place where the shim is brought in";
    memcpy(words, stub, sizeof words);
    for (size_t i = 0; i < 2; i++)
        if (ptrace(PTRACE_POKEDATA, process, image.vdso + offset + 8 * i, words[i]) != 0)
            return "its memory cannot be written: its file is not readable, and belongs to no user of this host";
    registers.rbp = registers.rip;
    registers.rip = image.vdso + offset;
    registers.rbx = (uint64_t)shim->entry;
    registers.rdi = 0;
    registers.rsi = (uint64_t)shim->size;
    registers.rdx = PROT_READ | PROT_EXEC;
    registers.r10 = MAP_PRIVATE;
    registers.r8 = (uint64_t)shim->descriptor;
    registers.r9 = 0;
    registers.orig_rax = ~0UL; /* no system call that the kernel could restart */
    return ptrace(PTRACE_SETREGS, process, NULL, &registers) == 0 ? NULL : "its registers cannot be written";
}

static void kill_image(pid_t process, const char *reason)
{
    killed[killed_count % KILLED_MAX].process = process;
    killed[killed_count++ % KILLED_MAX].reason = reason;
    kill(process, SIGKILL);
}

/* Finish after the exec of a traced thread has succeeded. From now on its process has the number `process`. */
static const char *finish(pid_t process)
{
    unsigned long before = 0; /* the thread's number when it called exec */
    struct traced *place;
    const char *reason;

    ptrace(PTRACE_GETEVENTMSG, process, NULL, &before);
    place = before == 0 ? NULL : place_of((pid_t)before);
    reason = place == NULL ? "an exec that was not announced" : inject(process, &place->shim);
    if (place != NULL)
        place->thread = 0;
    if (reason != NULL)
        kill_image(process, reason);
    ptrace(PTRACE_DETACH, process, NULL, NULL);
    return reason;
}

/* Return whether a status that waitpid(2) has returned is a stop of a traced thread. If so, let the thread go on, after
 * its exec with the shim. */
bool injection_took(pid_t thread, int status)
{
    struct traced *place = thread > 0 ? place_of(thread) : NULL;
    int event = status >> 16;
    int number = WSTOPSIG(status);

    if (!WIFSTOPPED(status)) {
        if (place != NULL)
            place->thread = 0;
        return false;
    }
    if (event == PTRACE_EVENT_EXEC)
        finish(thread);
    else if (event == PTRACE_EVENT_STOP && number != SIGTRAP)
        ptrace(PTRACE_LISTEN, thread, NULL, NULL); /* the process stays stopped until a SIGCONT */
    else
        ptrace(PTRACE_CONT, thread, NULL, event == PTRACE_EVENT_STOP ? 0 : number);
    return true;
}

/* Trace a thread until its exec. Returns false, with errno set, on failure. */
bool injection_begin(pid_t thread, const struct shim_file *shim)
{
    struct traced *place = place_of(0);

    if (place == NULL) {
        errno = EAGAIN;
        return false;
    }
    if (ptrace(PTRACE_SEIZE, thread, NULL, PTRACE_O_TRACEEXEC) != 0)
        return false;
    *place = (struct traced){.thread = thread, .shim = *shim};
    return true;
}

/* Wait for the exec of a traced child. Returns NULL, or why the shim could not be loaded, and whether the reason is
 * that the child was killed: the killer is then outside of the emulation, since no emulated process runs now. */
const char *injection_await(pid_t child, bool *was_killed)
{
    int status;

    while (waitpid(child, &status, __WALL) == child) {
        if (!WIFSTOPPED(status)) {
            injection_took(child, status);
            *was_killed = WIFSIGNALED(status);
            return "it was killed as it began";
        }
        if (status >> 16 == PTRACE_EVENT_EXEC)
            return finish(child);
        injection_took(child, status);
        if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
            kill(child, SIGCONT); /* the whole run waits for this child, so it is continued here; a user may stop it
                                   * when it has begun */
    }
    return "it cannot be awaited";
}

/* Check a child that has called exec and could not be traced (simunix may itself run under a debugger): will its loader
 * load the shim? If not, kill the child, and return why. */
const char *injection_check(pid_t child, bool *was_killed)
{
    struct image image;
    siginfo_t end = {.si_code = 0};

    if (waitid(P_PID, (id_t)child, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == child &&
        end.si_code != CLD_EXITED) {
        *was_killed = true;
        return "it was killed as it began";
    }
    if (read_image(child, &image) && image.loader != 0 && image.secure == 0)
        return NULL;
    kill(child, SIGKILL);
    return "it is static or has privileges, and to trace it is refused here";
}

/* Requests of the server, which asks for an emulated process that is about to exec. */

/* Begin to trace; the value is THREAD DESCRIPTOR ENTRY SIZE. */
static void begin_answer(const char *value)
{
    struct shim_file shim = {0};
    int thread;

    if (sscanf(value, "%d %d %ld %ld", &thread, &shim.descriptor, &shim.entry, &shim.size) != 4)
        control_answer("error malformed request to bring the shim in");
    else if (!injection_begin(thread, &shim))
        control_answer("error %s", strerror(errno));
    else
        control_answer("ok 0");
}

/* Stop tracing THREAD, whose exec has failed. The thread waits for the server, so it stops soon. */
static void end_answer(const char *value)
{
    pid_t thread = (pid_t)strtol(value, NULL, 10);
    struct traced *place = thread > 0 ? place_of(thread) : NULL;
    int status;

    if (place != NULL && ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) == 0) {
        while (waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status) && status >> 16 != PTRACE_EVENT_STOP)
            injection_took(thread, status);
        ptrace(PTRACE_DETACH, thread, NULL, NULL);
        place->thread = 0;
    }
    control_answer("ok 0");
}

/* Answer whether the init has killed PROCESS, which has ended without a message; if so, the answer is an error with the
 * reason. */
static void reason_answer(const char *value)
{
    pid_t process = (pid_t)strtol(value, NULL, 10);

    for (size_t i = 0; i < KILLED_MAX; i++)
        if (killed[i].process == process) {
            killed[i].process = 0;
            control_answer("error %s", killed[i].reason);
            return;
        }
    control_answer("ok 0");
}

static const struct {
    const char *key;
    void (*run)(const char *value);
} requests[] = {{"inject", begin_answer}, {"release", end_answer}, {"reason", reason_answer}};

/* Answer a message if it is a request about a traced process. Returns whether it is. */
bool injection_answer(const struct message *message)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const char *value = word_value(message->text, requests[i].key);

        if (value != NULL) {
            requests[i].run(value);
            return true;
        }
    }
    return false;
}
