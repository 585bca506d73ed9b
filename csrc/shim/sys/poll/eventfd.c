/* Writes to eventfds. An eventfd that poll(2) calls writable has room for 1; for a larger value the writer may have to
 * wait. */
#include "shim/core/memory.h"
#include "shim/sys/poll/poll.h"
#include "shim/turn/turn.h"

static uint64_t hexadecimal(const char *text)
{
    uint64_t value = 0;

    while (*text == ' ' || *text == '\t')
        text++;
    for (;; text++) {
        if (*text >= '0' && *text <= '9')
            value = 16 * value + (uint64_t)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            value = 16 * value + (uint64_t)(*text - 'a' + 10);
        else
            return value;
    }
}

/* Read a number of an eventfd, from the line in /proc that begins with `key`. Returns false for any other descriptor. */
static bool eventfd_line(int fd, const char *key, uint64_t *number)
{
    char text[400];
    long file, size;

    file = proc_open_numbered("thread-self/fdinfo/", fd);
    if (file < 0)
        return false;
    size = NATIVE(read, file, text, sizeof text - 1);
    NATIVE(close, file);
    text[size > 0 ? size : 0] = '\0';
    for (const char *at = text; *at != '\0'; at++) {
        if (!text_starts(at, key))
            continue;
        *number = hexadecimal(at + text_length(key));
        return true;
    }
    return false;
}

static bool eventfd_count(int fd, uint64_t *count)
{
    return eventfd_line(fd, "eventfd-count:", count);
}

/* Read what distinguishes an eventfd from all others. Returns false for any other descriptor, and if the kernel does
 * not show it. */
bool eventfd_identity(int fd, uint64_t *identity)
{
    return eventfd_line(fd, "eventfd-id:", identity);
}

/* Called before a write to a descriptor that may be an eventfd, and that poll(2) reports as writable: wait while the
 * value of a blocking eventfd leaves no room for this one. */
long eventfd_await_room(struct call *call, int fd)
{
    const uint64_t *value = (void *)call->a[1];
    uint64_t count;

    if (call->a[2] != sizeof *value || is_bad_pointer(value) || *value < 2 || *value == ~0UL || is_nonblocking(fd))
        return 0;
    while (eventfd_count(fd, &count) && *value > ~0UL - 1 - count) {
        long result = wait_changed(call, fd, POLLOUT, NEVER, true);

        if (result < 0)
            return result;
    }
    return 0;
}
