/* Messages on control sockets: receives them, passes them on, answers them, and finds their words. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Receive the next message, and return its size; 0 if the other side has closed its end, -1 if there is no message yet. */
int message_receive(int fd, struct message *message)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof message->fds)];
    struct iovec iov = {message->text, sizeof message->text - 1};
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t size = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);

    message->fd_count = 0;
    if (size <=
        0) /* ECONNRESET: the other side left messages unread when it ended; its own last messages can still be received */
        return size < 0 && (errno == EINTR || errno == EAGAIN || errno == ECONNRESET) ? -1 : 0;
    message->size = (size_t)size;
    message->text[size] = '\0';
    message->is_cut = (header.msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&header); part != NULL; part = CMSG_NXTHDR(&header, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
            message->fd_count = (int)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(message->fds, CMSG_DATA(part), (size_t)message->fd_count * sizeof(int));
        }
    return (int)size;
}

/* Pass a message and its descriptors on, without its first word. Never waits. */
bool message_forward(int fd, const struct message *message)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof message->fds)] = {0};
    size_t first = strlen(message->text) + 1;
    struct iovec iov = {(char *)message->text + first, first < message->size ? message->size - first : 0};
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1};
    size_t size = (size_t)message->fd_count * sizeof(int);

    if (size > 0) {
        header.msg_control = control;
        header.msg_controllen = CMSG_SPACE(size);
        *(struct cmsghdr *)control =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(size), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA((struct cmsghdr *)control), message->fds, size);
    }
    return sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

void message_close_descriptors(struct message *message)
{
    while (message->fd_count > 0)
        close(message->fds[--message->fd_count]);
}

/* Wait for the next message. Returns false if the server is gone. */
bool control_receive(struct message *message)
{
    int size;

    while ((size = message_receive(CONTROL, message)) < 0)
        ;
    return size > 0;
}

void control_answer(const char *format, ...)
{
    char text[ANSWER_MAX - ADDRESS_MAX];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size >= (int)sizeof text)
        size = sizeof text - 1;
    send(CONTROL, text, (size_t)size, MSG_NOSIGNAL);
}

/* Answer with the error of the last system call. Returns false, so that a function can return this result. */
bool control_failed(const char *what, const char *which)
{
    control_answer("error %s %s: %s", what, which, strerror(errno));
    return false;
}

/* Return the word after `word` (for NULL the first one); NULL if there is none. */
const char *message_next(const struct message *message, const char *word)
{
    const char *next = word == NULL ? message->text : word + strlen(word) + 1;

    return next < message->text + message->size ? next : NULL;
}

/* Return what follows "key=" in a word; NULL if the word has another key. */
const char *word_value(const char *word, const char *key)
{
    size_t length = strlen(key);

    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}
