/* Composes the text of a file of /proc, and parses the name of such a file. All code that writes such a
 * file calls these functions; they call nothing of this room. */
#include "shim/core/memory.h"
#include "shim/sys/procfs/procfs.h"

void proc_flush(struct proc_page *page)
{
    page->at += NATIVE(pwrite64, page->fd, page->text, page->to - page->text, page->at);
    page->to = page->text;
}

void proc_put(struct proc_page *page, const char *text)
{
    for (; *text != '\0'; text++) {
        if (page->to == page->text + sizeof page->text)
            proc_flush(page);
        *page->to++ = *text;
    }
}

/* Write a number, with a text before and a text after it. */
void proc_put_number(struct proc_page *page, const char *before, int64_t number, const char *after)
{
    char digits[24];

    text_append_number(digits, digits + sizeof digits, number);
    proc_put(page, before);
    proc_put(page, digits);
    proc_put(page, after);
}

/* Write a number in hexadecimal, with as many digits as are asked for. */
void proc_put_hex(struct proc_page *page, uint64_t number, int digits)
{
    char text[17] = "";

    for (int i = 0; i < digits; i++)
        text[i] = "0123456789abcdef"[number >> 4 * (digits - 1 - i) & 15];
    proc_put(page, text);
}

/* Return the name of a file within its folder. */
const char *proc_last_part(const char *path)
{
    const char *last = path;

    for (; *path != '\0'; path++)
        if (*path == '/')
            last = path + 1;
    return last;
}

/* Return the number of the process or thread to which a file belongs. */
int proc_id_of(const char *path)
{
    int id = 0;

    for (const char *at = path; *at != '\0'; at++)
        if (at[0] == '/' && at[1] >= '1' && at[1] <= '9') {
            id = 0;
            while (at[1] >= '0' && at[1] <= '9')
                id = 10 * id + *++at - '0';
        }
    return id;
}

/* Write the path of another file, `name`, in the folder of the process or thread whose file a path names. */
void proc_beside(const char *path, const char *name, char *other, size_t size)
{
    char *to = other;
    const char *last = proc_last_part(path);

    while (path < last && to < other + size - 1)
        *to++ = *path++;
    *to = '\0';
    text_append(to, other + size, name);
}
