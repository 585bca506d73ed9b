/* cgroup.subtree_control: daemons often switch on controllers that are on already. At each write that the server gets,
 * it writes the present controllers into the real file. So a write that changes nothing needs no message. */
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"

/* Return whether the word at `word` is one of those in `list`. */
static bool is_listed(const char *list, size_t list_size, const char *word, size_t size)
{
    for (size_t at = 0, end; at < list_size; at = end + 1) {
        for (end = at; end < list_size && list[end] != ' ' && list[end] != '\n';)
            end++;
        if (end - at == size && memcmp(list + at, word, size) == 0)
            return true;
    }
    return false;
}

/* Return how many bytes the real file of a descriptor has, and read them; the descriptor itself may be for writing only. */
static size_t text_of(long fd, char *text, size_t room)
{
    char path[40];
    long opened, size;

    text_append_number(text_append(path, path + sizeof path, "/proc/self/fd/"), path + sizeof path, fd);
    opened = NATIVE(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (opened < 0)
        return 0;
    size = NATIVE(pread64, opened, text, room, 0);
    NATIVE(close, opened);
    return size < 0 ? 0 : (size_t)size;
}

/* Return whether `text`, such as "+cpu +memory", is written to a cgroup.subtree_control in which all of its words are
 * in effect already. */
__attribute__((cold)) bool cgroup_is_passed_on(long fd, const char *text, size_t size)
{
    char list[64];
    size_t list_size, end;

    if (size == 0 || text[0] != '+' || !cgroup_file_is(fd, "cgroup.subtree_control"))
        return false;
    list_size = text_of(fd, list, sizeof list);
    for (size_t at = 0; at < size; at = end + 1) {
        for (end = at; end < size && text[end] != ' ' && text[end] != '\n' && text[end] != '\0';)
            end++;
        if (end > at && (text[at] != '+' || !is_listed(list, list_size, text + at + 1, end - at - 1)))
            return false;
        if (end < size && text[end] == '\0')
            break;
    }
    return true;
}
