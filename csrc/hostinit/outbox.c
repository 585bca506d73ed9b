/* Messages that the server has not taken yet. The broker must not wait until the server takes a message: the server may
 * be sending a message to the broker at the same time, and both would wait for ever. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct letter {
    struct letter *next;
    size_t size;
    char text[];
};

static struct letter *first;
static struct letter **end = &first;

bool outbox_is_empty(void)
{
    return first == NULL;
}

/* Send as many messages as the server's socket takes now. Returns false if the server is gone. */
bool outbox_send(void)
{
    while (first != NULL) {
        struct letter *sent = first;

        if (send(CONTROL, sent->text, sent->size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            return errno == EAGAIN || errno == EINTR;
        first = sent->next;
        if (first == NULL)
            end = &first;
        free(sent);
    }
    return true;
}

/* Append a message "NUMBER TEXT". */
void outbox_put(long number, const char *format, ...)
{
    char text[ANSWER_MAX];
    struct letter *letter;
    va_list arguments;
    int head = snprintf(text, sizeof text, "%ld ", number);
    int size;

    va_start(arguments, format);
    size = head + vsnprintf(text + head, sizeof text - (size_t)head, format, arguments);
    va_end(arguments);
    if (size >= (int)sizeof text)
        size = sizeof text - 1;
    letter = malloc(sizeof *letter + (size_t)size);
    if (letter == NULL)
        _exit(1); /* the end of this process closes the hosts' sockets, so the hosts end; a lost answer would make the
                   * server wait for ever */
    letter->next = NULL;
    letter->size = (size_t)size;
    memcpy(letter->text, text, (size_t)size);
    *end = letter;
    end = &letter->next;
}
