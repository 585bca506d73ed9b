/* Messages on the control socket. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* False when the server is gone. */
bool control_receive(struct message *message)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof message->fds)];
    struct iovec iov = {message->text, sizeof message->text - 1};
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t size = recvmsg(CONTROL, &header, MSG_CMSG_CLOEXEC);

    if (size <= 0)
        return false;
    message->size = (size_t)size;
    message->text[size] = '\0';
    message->fd_count = 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&header); part != NULL; part = CMSG_NXTHDR(&header, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
            message->fd_count = (int)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(message->fds, CMSG_DATA(part), (size_t)message->fd_count * sizeof(int));
        }
    return true;
}

void control_answer(const char *format, ...)
{
    char text[1024];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size >= (int)sizeof text)
        size = sizeof text - 1;
    send(CONTROL, text, (size_t)size, MSG_NOSIGNAL);
}

/* The word after `word` (the first one for NULL), or NULL. */
const char *message_next(const struct message *message, const char *word)
{
    const char *next = word == NULL ? message->text : word + strlen(word) + 1;

    return next < message->text + message->size ? next : NULL;
}

/* What follows "key=" in a word, or NULL if it has another key. */
const char *word_value(const char *word, const char *key)
{
    size_t length = strlen(key);

    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}
