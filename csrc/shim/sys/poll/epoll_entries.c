/* When a descriptor gets another socket, the kernel removes it from the epoll instances that watch it, and the shim
 * adds it again. /proc/self/fdinfo says for what an instance waits: "tfd: 7 events: 4 data: 7 …", a line for each
 * entry. */
#include "shim/core/memory.h"
#include "shim/sys/poll/poll.h"

struct directory_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

/* Read the number after this word and the blanks that follow it. */
static uint64_t number_behind(const char *line, const char *word, unsigned base)
{
    uint64_t number = 0;
    size_t length = text_length(word);

    while (*line != '\0' && !text_starts(line, word))
        line++;
    for (line += *line != '\0' ? length : 0; *line == ' '; line++) {
    }
    for (;; line++) {
        unsigned digit = *line >= 'a' && *line <= 'f' ? (unsigned)(*line - 'a' + 10) : (unsigned)(*line - '0');

        if (digit >= base)
            return number;
        number = number * base + digit;
    }
}

static void look_at_line(const char *line, int fd, struct epoll_entry *found)
{
    if (!text_starts(line, "tfd:") || number_behind(line, "tfd:", 10) != (uint64_t)fd)
        return;
    found->event.events = (uint32_t)number_behind(line, "events:", 16);
    found->event.data = number_behind(line, "data:", 16);
    found->is_there = true;
}

/* Return whether an epoll instance watches the descriptor, and for what. */
static bool look_in(int epoll, int fd, struct epoll_entry *found)
{
    char path[64];
    char text[1024];
    char line[160];
    size_t length = 0;
    long file, size;

    text_append_number(text_append(path, path + sizeof path, "/proc/self/fdinfo/"), path + sizeof path, epoll);
    file = NATIVE(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return false;
    *found = (struct epoll_entry){.epoll = epoll};
    while ((size = NATIVE(read, file, text, sizeof text)) > 0)
        for (long i = 0; i < size; i++) {
            if (text[i] != '\n') {
                if (length < sizeof line - 1)
                    line[length++] = text[i];
                continue;
            }
            line[length] = '\0';
            look_at_line(line, fd, found);
            length = 0;
        }
    NATIVE(close, file);
    return found->is_there;
}

static bool is_epoll(int fd)
{
    char path[64];
    char target[32] = "";

    text_append_number(text_append(path, path + sizeof path, "/proc/self/fd/"), path + sizeof path, fd);
    return NATIVE(readlink, path, target, sizeof target - 1) > 0 && text_equal(target, "anon_inode:[eventpoll]");
}

/* Find the epoll instances of the application that watch a descriptor, at most `most`. Returns their number. */
int epoll_entries_of(struct call *call, int fd, struct epoll_entry *entries, int most)
{
    char buffer[2048];
    long folder = NATIVE(openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long size;
    int count = 0;

    if (folder < 0)
        return 0;
    while ((size = NATIVE(getdents64, folder, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < size; at += ((struct directory_entry *)(buffer + at))->length) {
            const struct directory_entry *entry = (const void *)(buffer + at);
            int other = entry->name[0] == '.' ? -1 : (int)number_behind(entry->name, "", 10);

            if (count < most && other >= 0 && !descriptor_is_ours(call, other) && is_epoll(other))
                count += look_in(other, fd, &entries[count]);
        }
    NATIVE(close, folder);
    return count;
}

void epoll_entries_renew(int fd, struct epoll_entry *entries, int count)
{
    for (int i = 0; i < count; i++)
        NATIVE(epoll_ctl, entries[i].epoll, 1 /* EPOLL_CTL_ADD */, fd, &entries[i].event);
}
