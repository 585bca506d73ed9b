/* Ends a process that cannot go on, with a message of one line. Two other files end a process on purpose:
 * core/message/channel.c, when the server is gone, and sys/process/exit.c, when the program ends. This file calls only
 * the kernel, so that all other files may call it. */
#include "shim/core/core.h"
#include "shim/core/memory.h"

_Noreturn void fatal(const char *what, const char *detail, int64_t number)
{
    char line[400];
    char *end = line + sizeof line;
    char *at = text_append(line, end, "simunix: ");

    at = text_append(at, end, what);
    if (detail != NULL) {
        at = text_append(at, end, ": ");
        at = text_append(at, end, detail);
    }
    at = text_append(at, end, " [");
    at = text_append_number(at, end, number);
    at = text_append(at, end, "]\n");
    NATIVE(write, 2, line, at - line);
    for (;;)
        NATIVE(exit_group, 125);
}
