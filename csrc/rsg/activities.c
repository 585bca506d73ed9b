/* Mailboxes, communications and executions. */
#include "request.h"
#include "rsg.h"

#include <stdlib.h>
#include <string.h>

#define PUT_FIELDS 5
#define PIECE (SIMUNIX_RSG_REQUEST_MAX - PUT_FIELDS * 8)

int rsg_mailbox(const char *name, int64_t *mailbox)
{
    return number_of(RSG_MAILBOX, name, mailbox);
}

int rsg_mailbox_state(int64_t mailbox, struct rsg_mailbox_state *state)
{
    struct request request;
    int error;

    request_begin(&request, RSG_MAILBOX_STATE);
    request_number(&request, mailbox);
    error = request_send(&request, NULL, 0);
    state->puts = answer_number(&request, 0);
    state->gets = answer_number(&request, 1);
    state->is_ready = answer_number(&request, 2);
    state->receiver = answer_number(&request, 3);
    answer_text(&request, 4, state->name, sizeof state->name);
    return error;
}

int rsg_mailbox_receiver(int64_t mailbox, int64_t pid)
{
    return simple(RSG_RECEIVER, mailbox, pid, 2);
}

/* Send, piece by piece and before the request, those bytes of a message that do not fit into one request. */
static int stage(const char **bytes, size_t *length, int64_t *flags)
{
    struct request request;

    while (*length > PIECE) {
        int error;

        request_begin(&request, RSG_STAGE);
        error = request_send(&request, *bytes, PIECE);
        if (error != 0)
            return error;
        *bytes += PIECE;
        *length -= PIECE;
        *flags |= RSG_STAGED;
    }
    return 0;
}

static int put(int64_t mailbox, const char *bytes, size_t length, const double terms[3], int64_t flags, int64_t *activity)
{
    struct request request;
    int error = stage(&bytes, &length, &flags);

    if (error != 0)
        return error;
    request_begin(&request, RSG_PUT);
    request_number(&request, mailbox);
    request_number(&request, flags);
    for (int i = 0; i < 3; i++)
        request_real(&request, terms[i]);
    error = request_send(&request, bytes, length);
    if (activity != NULL)
        *activity = answer_number(&request, 0);
    return error;
}

int rsg_put(int64_t mailbox, const void *bytes, size_t length, double size, double rate, double timeout)
{
    return put(mailbox, bytes, length, (double[]){size, rate, timeout}, 0, NULL);
}

int rsg_put_async(int64_t mailbox, const void *bytes, size_t length, double size, double rate, int64_t *activity)
{
    return put(mailbox, bytes, length, (double[]){size, rate, -1}, RSG_ASYNC, activity);
}

int rsg_put_init(int64_t mailbox, const void *bytes, size_t length, double size, double rate, int64_t *activity)
{
    return put(mailbox, bytes, length, (double[]){size, rate, -1}, RSG_LATER, activity);
}

int rsg_put_detached(int64_t mailbox, const void *bytes, size_t length, double size, double rate)
{
    return put(mailbox, bytes, length, (double[]){size, rate, -1}, RSG_ASYNC | RSG_DETACHED, NULL);
}

/* Receive the rest of a message whose first `had` bytes came with an answer. */
static int take_rest(char *bytes, size_t had, size_t length)
{
    struct request request;

    while (had < length) {
        int error;

        request_begin(&request, RSG_TAKE);
        request_number(&request, 0);
        request_number(&request, (int64_t)had);
        error = request_send(&request, NULL, 0);
        if (error != 0)
            return error;
        if (request.call.answer_bytes > length - had)
            return RSG_BAD_REQUEST;
        memcpy(bytes + had, request.in.bytes, request.call.answer_bytes);
        had += request.call.answer_bytes;
    }
    return 0;
}

/* Take the message out of the answer to a wait, if the answer has one. */
static int take_message(const struct request *request, struct rsg_message *message)
{
    int64_t length = answer_number(request, 0);
    size_t had = request->call.answer_bytes > 16 ? request->call.answer_bytes - 16 : 0;

    if (message == NULL)
        return 0;
    *message = (struct rsg_message){NULL, length > 0 ? (size_t)length : 0, answer_real(request, 1)};
    if (message->length == 0)
        return 0;
    message->bytes = malloc(message->length);
    if (message->bytes == NULL || had > message->length)
        return RSG_MEMORY;
    memcpy(message->bytes, request->in.bytes + 16, had);
    return take_rest(message->bytes, had, message->length);
}

static int get(int64_t mailbox, double rate, double timeout, int64_t flags, struct request *request)
{
    request_begin(request, RSG_GET);
    request_number(request, mailbox);
    request_number(request, flags);
    request_real(request, rate);
    request_real(request, timeout);
    return request_send(request, NULL, 0);
}

int rsg_get(int64_t mailbox, double rate, double timeout, struct rsg_message *message)
{
    struct request request;
    int error = get(mailbox, rate, timeout, 0, &request);

    return error != 0 ? error : take_message(&request, message);
}

static int begin_get(int64_t mailbox, double rate, int64_t flags, int64_t *activity)
{
    struct request request;
    int error = get(mailbox, rate, -1, flags, &request);

    *activity = answer_number(&request, 0);
    return error;
}

int rsg_get_async(int64_t mailbox, double rate, int64_t *activity)
{
    return begin_get(mailbox, rate, RSG_ASYNC, activity);
}

int rsg_get_init(int64_t mailbox, double rate, int64_t *activity)
{
    return begin_get(mailbox, rate, RSG_LATER, activity);
}

static int send_between(const int64_t numbers[3], double size, double rate, int64_t *activity)
{
    struct request request;
    int error;

    request_begin(&request, RSG_SENDTO);
    for (int i = 0; i < 3; i++)
        request_number(&request, numbers[i]);
    request_real(&request, size);
    request_real(&request, rate);
    error = request_send(&request, NULL, 0);
    *activity = answer_number(&request, 0);
    return error;
}

int rsg_sendto(int64_t source, int64_t destination, double size, double rate)
{
    int64_t none;

    return send_between((int64_t[]){source, destination, 0}, size, rate, &none);
}

int rsg_sendto_async(int64_t source, int64_t destination, double size, double rate, int64_t *activity)
{
    return send_between((int64_t[]){source, destination, RSG_ASYNC}, size, rate, activity);
}

int rsg_sendto_init(int64_t source, int64_t destination, double size, double rate, int64_t *activity)
{
    return send_between((int64_t[]){source, destination, RSG_LATER}, size, rate, activity);
}

static int execute(int64_t host, int64_t flags, const double terms[3], int64_t *activity)
{
    struct request request;
    int error;

    request_begin(&request, RSG_EXECUTE);
    request_number(&request, host);
    request_number(&request, flags);
    for (int i = 0; i < 3; i++)
        request_real(&request, terms[i]);
    error = request_send(&request, NULL, 0);
    *activity = answer_number(&request, 0);
    return error;
}

int rsg_execute(double flops, double priority, double bound)
{
    return rsg_execute_on(-1, flops, priority, bound);
}

int rsg_execute_on(int64_t host, double flops, double priority, double bound)
{
    int64_t none;

    return execute(host, 0, (double[]){flops, priority, bound}, &none);
}

int rsg_execute_async(int64_t host, double flops, double priority, double bound, int64_t *activity)
{
    return execute(host, RSG_ASYNC, (double[]){flops, priority, bound}, activity);
}

int rsg_execute_init(int64_t host, double flops, double priority, double bound, int64_t *activity)
{
    return execute(host, RSG_LATER, (double[]){flops, priority, bound}, activity);
}

static int parallel(const int64_t *hosts, const double *flops, const double *bytes, size_t count, int64_t flags,
                    int64_t *activity)
{
    size_t one = count * sizeof *hosts, length = 2 * one + (bytes != NULL ? count * one : 0);
    char *text = malloc(length > 0 ? length : 1);
    const char *rest = text;
    struct request request;
    int error;

    if (text == NULL)
        return RSG_MEMORY;
    memcpy(text, hosts, one);
    memcpy(text + one, flops, one);
    if (bytes != NULL)
        memcpy(text + 2 * one, bytes, count * one);
    error = stage(&rest, &length, &flags);
    if (error == 0) {
        request_begin(&request, RSG_PARALLEL);
        request_number(&request, flags);
        request_number(&request, (int64_t)count);
        error = request_send(&request, rest, length);
        *activity = answer_number(&request, 0);
    }
    free(text);
    return error;
}

int rsg_parallel(const int64_t *hosts, const double *flops, const double *bytes, size_t count)
{
    int64_t none;

    return parallel(hosts, flops, bytes, count, 0, &none);
}

int rsg_parallel_async(const int64_t *hosts, const double *flops, const double *bytes, size_t count, int64_t *activity)
{
    return parallel(hosts, flops, bytes, count, RSG_ASYNC, activity);
}

int rsg_parallel_init(const int64_t *hosts, const double *flops, const double *bytes, size_t count, int64_t *activity)
{
    return parallel(hosts, flops, bytes, count, RSG_LATER, activity);
}

int rsg_wait(int64_t activity, double timeout, struct rsg_message *message)
{
    struct request request;
    int error;

    request_begin(&request, RSG_WAIT);
    request_number(&request, activity);
    request_real(&request, timeout);
    error = request_send(&request, NULL, 0);
    return error != 0 ? error : take_message(&request, message);
}

int rsg_wait_any(const int64_t *activities, size_t count, double timeout, int64_t *place)
{
    struct request request;
    int error;

    request_begin(&request, RSG_WAIT_ANY);
    request_real(&request, timeout);
    error = request_send(&request, activities, count * sizeof *activities);
    *place = answer_number(&request, 0);
    return error;
}

int rsg_test(int64_t activity, int64_t *is_over)
{
    struct request request;
    int error;

    request_begin(&request, RSG_TEST);
    request_number(&request, activity);
    error = request_send(&request, NULL, 0);
    *is_over = answer_number(&request, 0);
    return error;
}

int rsg_cancel(int64_t activity)
{
    return simple(RSG_CANCEL, activity, 0, 1);
}

int rsg_forget(int64_t activity)
{
    return simple(RSG_FORGET, activity, 0, 1);
}

int rsg_activity(int64_t activity, struct rsg_activity_state *state)
{
    struct request request;
    int error;

    request_begin(&request, RSG_ACTIVITY);
    request_number(&request, activity);
    error = request_send(&request, NULL, 0);
    state->state = answer_number(&request, 0);
    state->remaining = answer_real(&request, 1);
    state->start = answer_real(&request, 2);
    state->finish = answer_real(&request, 3);
    return error;
}

int rsg_hold(int64_t activity, int64_t is_held)
{
    return simple(RSG_HOLD, activity, is_held, 2);
}

int rsg_set_priority(int64_t activity, double priority)
{
    struct request request;

    request_begin(&request, RSG_PRIORITY);
    request_number(&request, activity);
    request_real(&request, priority);
    return request_send(&request, NULL, 0);
}
