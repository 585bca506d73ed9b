/* Warnings that the server prints. The channel may call diagnostic.c, whose messages the process prints itself; this
 * file calls the channel. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"

/* Send a warning to the server, which prints each (kind, text) once and counts the others. */
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
    request_start(thread, &writer, OP_WARN);
    msgpack_put_int(&writer, kind);
    msgpack_put_text(&writer, text, (size_t)(at - text));
    request_call(thread, &writer, &reply);
}
