/* /proc/net: the host's internet sockets, which this computer's kernel does not know; and statistics of the host's
 * disks. The server makes the text. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/procfs/procfs.h"

/* Write lines as long as there are any; the lines are copied from the server's answer into the file. */
static void put_lines(struct proc_page *page, const char *name)
{
    struct msgpack_writer writer;
    struct reply reply;
    int64_t first = 0;

    for (;;) {
        request_start(page->thread, &writer, OP_SOCKETS);
        msgpack_put_bytes(&writer, name, text_length(name));
        msgpack_put_int(&writer, first);
        if (request_call(page->thread, &writer, &reply) != 0 || reply.values.length[1] == 0)
            return;
        for (size_t i = 0; i < reply.values.length[1]; i++)
            first += reply.values.bytes[1][i] == '\n';
        page->at += NATIVE(pwrite64, page->fd, reply.values.bytes[1], reply.values.length[1], page->at);
    }
}

void proc_write_sockets(struct proc_page *page)
{
    put_lines(page, proc_last_part(page->path));
}

/* Write /sys/block/NAME/stat, which the server knows as block/NAME. */
void proc_write_block_stat(struct proc_page *page)
{
    char name[32];
    const char *from = page->path + sizeof "/sys/" - 1;
    char *to = name;

    while (from < proc_last_part(page->path) - 1 && to < name + sizeof name - 1)
        *to++ = *from++;
    *to = '\0';
    put_lines(page, name);
}
