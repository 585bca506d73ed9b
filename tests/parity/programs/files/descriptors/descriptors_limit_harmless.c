// A call that asks for a descriptor beyond the limit changes nothing: no file is emptied or made, no client or message is taken.
#include "inet.h"

#include <sys/resource.h>
#include <sys/uio.h>

static int used[64];
static int count;

static void use_all(void)
{
    int fd;

    while ((fd = dup(0)) >= 0)
        used[count++] = fd;
    CHECK(errno == EMFILE);
}

static void give_back(void)
{
    while (count > 0)
        CHECK(close(used[--count]) == 0);
}

/* Two descriptors in one message, or what of them fits. */
static void send_two(int fd)
{
    char control[CMSG_SPACE(2 * sizeof(int))] = {0};
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(2 * sizeof(int))};
    memcpy(CMSG_DATA(header), (int[]){0, 1}, 2 * sizeof(int));
    CHECK(sendmsg(fd, &message, 0) == 1);
}

static void receive_with_room_for_one(int fd)
{
    char control[CMSG_SPACE(2 * sizeof(int))] = {0};
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header;

    use_all();
    CHECK(close(used[--count]) == 0);
    CHECK(recvmsg(fd, &message, 0) == 1);
    header = CMSG_FIRSTHDR(&message);
    CHECK(header != NULL && header->cmsg_len == CMSG_LEN(sizeof(int)) && (message.msg_flags & MSG_CTRUNC) != 0);
    used[count++] = *(int *)CMSG_DATA(header);
    give_back();
}

int main(void)
{
    struct rlimit low;
    int listener = listening_socket(4);
    int client = connected_to(port_of(listener));
    int file = open("kept", O_CREAT | O_WRONLY, 0600);
    int pair[2];
    int server;
    char byte;

    CHECK(file >= 0 && write(file, "kept", 4) == 4 && close(file) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK(getrlimit(RLIMIT_NOFILE, &low) == 0);
    low.rlim_cur = 24;
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    send_two(pair[0]);
    receive_with_room_for_one(pair[1]);
    use_all();
    CHECK_ERRNO(open("kept", O_WRONLY | O_TRUNC), EMFILE);
    CHECK_ERRNO(open("made", O_WRONLY | O_CREAT, 0600), EMFILE);
    CHECK_ERRNO(accept(listener, NULL, NULL), EMFILE);
    CHECK_ERRNO(socket(AF_INET, SOCK_STREAM, 0), EMFILE);
    CHECK_ERRNO(pipe(pair), EMFILE);
    give_back();
    file = open("kept", O_RDONLY);
    CHECK(lseek(file, 0, SEEK_END) == 4);
    CHECK_ERRNO(access("made", F_OK), ENOENT);
    server = accept(listener, NULL, NULL);
    CHECK(server >= 0 && write(client, "x", 1) == 1 && read(server, &byte, 1) == 1);
    return succeed();
}
