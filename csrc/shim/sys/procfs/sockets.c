/* /proc/net: the host's internet sockets, of which the kernel here knows nothing. The server makes the rows. */
#include "shim/core/channel.h"
#include "shim/sys/procfs/procfs.h"

/* The heads as the kernel prints them: a row of TCP has 149 characters, one of UDP 127. */
static const char gap_tcp[] = "                                                     \n";
static const char gap_udp[] = " ref pointer drops            \n";
static const char head_4[] = "local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
static const char head_6[] = "local_address                         remote_address                        "
                             "st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";

/* Rows as long as there are any; they go straight from the answer into the file. */
static void put_rows(struct proc_page *page, int type, int family)
{
    struct reply reply;
    int64_t first = 0;

    proc_flush(page);
    while (ASK(page->thread, &reply, OP_SOCKETS, type, family, first) == 0 && reply.values.length[1] > 0) {
        for (size_t i = 0; i < reply.values.length[1]; i++)
            first += reply.values.bytes[1][i] == '\n';
        page->at += NATIVE(pwrite64, page->fd, reply.values.bytes[1], reply.values.length[1], page->at);
    }
}

void proc_write_tcp(struct proc_page *page)
{
    proc_put(page, "  sl  ");
    proc_put(page, head_4);
    proc_put(page, gap_tcp);
    put_rows(page, SOCK_STREAM, 4);
}

void proc_write_tcp6(struct proc_page *page)
{
    proc_put(page, "  sl  ");
    proc_put(page, head_6);
    proc_put(page, "\n");
    put_rows(page, SOCK_STREAM, 6);
}

void proc_write_udp(struct proc_page *page)
{
    proc_put(page, "   sl  ");
    proc_put(page, head_4);
    proc_put(page, gap_udp);
    put_rows(page, SOCK_DGRAM, 4);
}

void proc_write_udp6(struct proc_page *page)
{
    proc_put(page, "  sl  ");
    proc_put(page, head_6);
    proc_put(page, " ref pointer drops\n");
    put_rows(page, SOCK_DGRAM, 6);
}
