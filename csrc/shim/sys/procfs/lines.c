/* Reads a file of the kernel line by line. */
#include "shim/sys/procfs/procfs.h"

bool lines_open(struct lines *lines, const char *path)
{
    lines->fd = NATIVE(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    lines->size = lines->at = 0;
    return lines->fd >= 0;
}

/* Read the next line without its end, cut if it is too long. Returns false at the end, where the file is closed. */
bool lines_next(struct lines *lines)
{
    char *to = lines->line;

    for (;;) {
        if (lines->at == lines->size) {
            lines->size = NATIVE(read, lines->fd, lines->text, sizeof lines->text);
            lines->at = 0;
            if (lines->size <= 0) {
                NATIVE(close, lines->fd);
                return false;
            }
        }
        if (lines->text[lines->at] == '\n') {
            lines->at++;
            *to = '\0';
            return true;
        }
        if (to < lines->line + sizeof lines->line - 1)
            *to++ = lines->text[lines->at];
        lines->at++;
    }
}

/* Return where a field begins. Fields are numbers with a space between them. */
const char *proc_field(const char *text, int number)
{
    while (--number > 0) {
        while (*text != ' ' && *text != '\0')
            text++;
        if (*text == ' ')
            text++;
    }
    return text;
}

/* Return the number with which a text begins; 0 if it begins with no digit. */
int64_t proc_number_at(const char *text)
{
    int64_t number = 0;

    while (*text >= '0' && *text <= '9')
        number = 10 * number + *text++ - '0';
    return number;
}
