/* /proc/PID/stat: the kernel's own line, except for fields about the real computer's time and work. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"
#include "shim/sys/process/process.h"
#include "shim/sys/procfs/procfs.h"

#define FIELD_STATE 3 /* counted as proc(5) does */
#define FIELD_USER_TIME 14
#define FIELD_CHILDREN_USER_TIME 16
#define FIELD_PRIORITY 18 /* 20 + nice, for all that are not of real time */
#define FIELD_NICE 19
#define FIELD_START 22
#define FIELD_RESIDENT 24

/* Read the whole line of the kernel. */
static long read_native(const char *path, char *text, size_t room)
{
    long fd = NATIVE(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    long size;

    if (fd < 0)
        return fd;
    size = NATIVE(read, fd, text, room - 1);
    NATIVE(close, fd);
    text[size < 0 ? 0 : size] = '\0';
    return size;
}

static int64_t signed_number(const char *text)
{
    return *text == '-' ? -proc_number_at(text + 1) : proc_number_at(text);
}

/* Ask the server about a process or thread. The host's init, which no emulated process has started, began with the
 * boot. */
struct known {
    int64_t born_ns, cpu_ns, children_cpu_ns;
    bool may_run;
    int64_t filter_mode, filters; /* as seccomp(2) has them */
};

static struct known ask_about(const struct proc_page *page, int64_t id)
{
    struct reply reply;

    if (ASK(page->thread, &reply, OP_BORN, proc_number_told(page->thread->process, id)) != 0)
        return (struct known){.born_ns = -(int64_t)page->thread->process->page->monotonic_ns};
    return (struct known){.born_ns = reply_number(&reply, 1),
                          .cpu_ns = reply_number(&reply, 2),
                          .children_cpu_ns = reply_number(&reply, 3),
                          .may_run = reply_number(&reply, 4) != 0,
                          .filter_mode = reply_number(&reply, 5),
                          .filters = reply_number(&reply, 6)};
}

/* Return whether a field shows the real computer's work: page faults and processor time (10 to 17), the real processor
 * (39), delays and guests (42 to 44). */
static bool counts_real_work(int field)
{
    return (field >= 10 && field <= 17) || field == 39 || (field >= 42 && field <= 44);
}

/* Return the state to show. The thread that has the turn runs, and so do threads that only lack the turn or a
 * processor. All other threads are shown as sleeping, whether the kernel has put them to sleep already or not. */
static const char *state_shown(const struct proc_page *page, const char *state, int64_t id, const struct known *known)
{
    if (*state != 'R' && *state != 'D' && *state != 'S')
        return state;
    return id == page->thread->ids.tid || known->may_run ? "R" : "S";
}

/* Write a line of status with a value of the server: the state, or the filters of system calls, which the shim runs. */
void proc_put_known(struct proc_page *page, const char *name, const char *rest)
{
    int id = proc_id_of(page->path);
    struct known known = ask_about(page, id);

    if (text_equal(name, "State:")) {
        const char *shown = state_shown(page, rest, id, &known);

        proc_put(page, shown == rest ? rest : *shown == 'R' ? "R (running)" : "S (sleeping)");
        proc_put(page, "\n");
    } else {
        proc_put_number(page, "", text_equal(name, "Seccomp:") ? known.filter_mode : known.filters, "\n");
    }
}

static void put_field(struct proc_page *page, int number, const char *field, int64_t id, const struct known *known)
{
    if (number == FIELD_USER_TIME) {
        proc_put_number(page, " ", known->cpu_ns / USER_TICK_NS, "");
    } else if (number == FIELD_CHILDREN_USER_TIME) {
        proc_put_number(page, " ", known->children_cpu_ns / USER_TICK_NS, "");
    } else if (number == FIELD_RESIDENT) {
        proc_put_number(page, " ", proc_resident_pages(page->path), "");
    } else if (number == FIELD_START) {
        int64_t since_boot_ns = known->born_ns + (int64_t)page->thread->process->page->monotonic_ns;

        proc_put_number(page, " ", since_boot_ns / USER_TICK_NS, "");
    } else if (number == FIELD_NICE || (number == FIELD_PRIORITY && *field != '-')) {
        long zero = number == FIELD_NICE ? 0 : 20;

        proc_put_number(page, " ", zero + nice_shown(page->thread->process, signed_number(field) - zero), "");
    } else {
        proc_put(page, " ");
        proc_put(page, counts_real_work(number) ? "0" : number == FIELD_STATE ? state_shown(page, field, id, known) : field);
    }
}

/* "PID (NAME) S ...": the name may contain any character, also parentheses. */
void proc_write_process_stat(struct proc_page *page)
{
    char text[1024];
    long size = read_native(page->path, text, sizeof text);
    int64_t id = proc_number_at(text);
    struct known known;
    char *field = NULL;

    for (long i = 0; i < size; i++)
        if (text[i] == ')')
            field = text + i + 1;
    if (field == NULL || *field != ' ')
        return;
    *field++ = '\0';
    known = ask_about(page, id);
    proc_put(page, text);
    for (int number = FIELD_STATE; *field != '\0'; number++) {
        char *end = field;

        while (*end != ' ' && *end != '\n' && *end != '\0')
            end++;
        if (*end != '\0')
            *end++ = '\0';
        put_field(page, number, field, id, &known);
        field = end;
    }
    proc_put(page, "\n");
}
