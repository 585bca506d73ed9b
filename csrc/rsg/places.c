/* Hosts and links. */
#include "request.h"
#include "rsg.h"

#include <string.h>

/* Carry out an operation that has one or two integers and whose answer is one field. */
static int ask_field(enum simunix_rsg_operation operation, const int64_t *numbers, size_t count, union field *answer)
{
    struct request request;
    int error;

    request_begin(&request, operation);
    for (size_t i = 0; i < count; i++)
        request_number(&request, numbers[i]);
    error = request_send(&request, NULL, 0);
    answer->number = answer_number(&request, 0);
    return error;
}

int rsg_host(const char *name, int64_t *host)
{
    return number_of(RSG_HOST, name, host);
}

int rsg_host_at(int64_t place, int64_t *host)
{
    union field field;
    int error = ask_field(RSG_HOST_AT, &place, 1, &field);

    *host = field.number;
    return error;
}

int rsg_host_state(int64_t host, struct rsg_host_state *state)
{
    struct request request;
    int error;

    request_begin(&request, RSG_HOST_STATE);
    request_number(&request, host);
    error = request_send(&request, NULL, 0);
    state->cores = answer_number(&request, 0);
    state->speed = answer_real(&request, 1);
    state->pstate = answer_number(&request, 2);
    state->pstates = answer_number(&request, 3);
    state->is_on = answer_number(&request, 4);
    state->load = answer_real(&request, 5);
    state->available = answer_real(&request, 6);
    answer_text(&request, 7, state->name, sizeof state->name);
    return error;
}

int rsg_host_speed(int64_t host, int64_t pstate, double *speed)
{
    union field field;
    int error = ask_field(RSG_HOST_SPEED, (int64_t[]){host, pstate}, 2, &field);

    *speed = field.real;
    return error;
}

int rsg_host_turn(int64_t host, int64_t is_on)
{
    return simple(RSG_HOST_TURN, host, is_on, 2);
}

int rsg_host_set_pstate(int64_t host, int64_t pstate)
{
    return simple(RSG_HOST_PSTATE, host, pstate, 2);
}

int rsg_host_property(int64_t host, const char *key, char *value, size_t room)
{
    struct request request;
    int error;

    request_begin(&request, RSG_HOST_PROPERTY);
    request_number(&request, host);
    error = request_send(&request, key, strlen(key));
    answer_text(&request, 0, value, room);
    return error;
}

int rsg_link(const char *name, int64_t *link)
{
    return number_of(RSG_LINK, name, link);
}

int rsg_link_at(int64_t place, int64_t *link)
{
    union field field;
    int error = ask_field(RSG_LINK_AT, &place, 1, &field);

    *link = field.number;
    return error;
}

int rsg_link_state(int64_t link, struct rsg_link_state *state)
{
    struct request request;
    int error;

    request_begin(&request, RSG_LINK_STATE);
    request_number(&request, link);
    error = request_send(&request, NULL, 0);
    state->bandwidth = answer_real(&request, 0);
    state->latency = answer_real(&request, 1);
    state->is_on = answer_number(&request, 2);
    answer_text(&request, 3, state->name, sizeof state->name);
    return error;
}

int rsg_link_turn(int64_t link, int64_t is_on)
{
    return simple(RSG_LINK_TURN, link, is_on, 2);
}

int rsg_link_set(int64_t link, double bandwidth, double latency)
{
    struct request request;

    request_begin(&request, RSG_LINK_SET);
    request_number(&request, link);
    request_real(&request, bandwidth);
    request_real(&request, latency);
    return request_send(&request, NULL, 0);
}

int rsg_route(int64_t source, int64_t destination, double *latency, int64_t *links, size_t room, size_t *count)
{
    struct request request;
    int error;

    request_begin(&request, RSG_ROUTE);
    request_number(&request, source);
    request_number(&request, destination);
    error = request_send(&request, NULL, 0);
    *latency = answer_real(&request, 0);
    *count = request.call.answer_bytes > 8 ? request.call.answer_bytes / 8 - 1 : 0;
    for (size_t i = 0; i < *count && i < room; i++)
        links[i] = answer_number(&request, i + 1);
    return error;
}
