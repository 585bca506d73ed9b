/* Requests of librsg: written, sent by prctl(2), and their answers read. */
#define _GNU_SOURCE
#include "request.h"

#include "shared/prctl_options.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

void request_begin(struct request *request, enum simunix_rsg_operation operation)
{
    memset(&request->call, 0, sizeof request->call);
    request->call.operation = operation;
    request->call.request = request->out.bytes;
    request->call.answer = request->in.bytes;
    request->call.answer_room = sizeof request->in;
    request->fields = 0;
}

void request_number(struct request *request, int64_t number)
{
    request->out.field[request->fields++].number = number;
}

void request_real(struct request *request, double real)
{
    request->out.field[request->fields++].real = real;
}

int request_send(struct request *request, const void *text, size_t length)
{
    size_t before = request->fields * sizeof(union field);

    if (length > sizeof request->out - before)
        return RSG_BAD_REQUEST;
    if (length > 0)
        memcpy(request->out.bytes + before, text, length);
    request->call.request_bytes = before + length;
    while (prctl(PR_SIMUNIX_RSG, &request->call) != 0)
        if (errno != EINTR)
            return RSG_NO_EMULATION;
    return (int)request->call.status;
}

int64_t answer_number(const struct request *request, size_t at)
{
    return (at + 1) * sizeof(union field) <= request->call.answer_bytes ? request->in.field[at].number : 0;
}

double answer_real(const struct request *request, size_t at)
{
    return (at + 1) * sizeof(union field) <= request->call.answer_bytes ? request->in.field[at].real : 0;
}

void answer_text(const struct request *request, size_t fields, char *to, size_t room)
{
    size_t before = fields * sizeof(union field);
    size_t length = request->call.answer_bytes > before ? request->call.answer_bytes - before : 0;

    if (length > room - 1)
        length = room - 1;
    memcpy(to, request->in.bytes + before, length);
    to[length] = 0;
}

int simple(enum simunix_rsg_operation operation, int64_t one, int64_t two, size_t count)
{
    struct request request;

    request_begin(&request, operation);
    if (count > 0)
        request_number(&request, one);
    if (count > 1)
        request_number(&request, two);
    return request_send(&request, NULL, 0);
}

int number_of(enum simunix_rsg_operation operation, const char *name, int64_t *number)
{
    struct request request;
    int error;

    request_begin(&request, operation);
    error = request_send(&request, name, name == NULL ? 0 : strlen(name));
    *number = answer_number(&request, 0);
    return error;
}
