/* One-line messages from inside an application's process. Only this file ends the process on purpose. */
#include "shim/core/channel.h"
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

/* Tell the server, which prints each (kind, text) once and counts the rest. */
void warn_once(struct thread *thread, enum simunix_warning kind, const char *what, const char *detail)
{
    char text[300];
    char *end = text + sizeof text;
    char *at = text_append(text, end, what);
    struct msgpack_writer writer;
    struct reply reply;

    if (detail != NULL) {
        at = text_append(at, end, " ");
        at = text_append(at, end, detail);
    }
    request_start(thread, &writer, OP_WARN, 2);
    msgpack_put_int(&writer, kind);
    msgpack_put_text(&writer, text, (size_t)(at - text));
    request_call(thread, &writer, &reply);
}
