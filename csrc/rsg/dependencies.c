/* Activities that were created and have not begun, and dependencies between activities. */
#include "request.h"
#include "rsg.h"

#include <string.h>

int rsg_set_term(int64_t activity, int64_t term, double value)
{
    struct request request;

    request_begin(&request, RSG_SET_TERM);
    request_number(&request, activity);
    request_number(&request, term);
    request_real(&request, value);
    return request_send(&request, NULL, 0);
}

int rsg_start(int64_t activity)
{
    return simple(RSG_START, activity, 0, 2);
}

int rsg_detach(int64_t activity)
{
    return simple(RSG_START, activity, RSG_DETACHED, 2);
}

static int relate(int64_t activity, int64_t successor, int64_t is_new)
{
    struct request request;

    request_begin(&request, RSG_SUCCESSOR);
    request_number(&request, activity);
    request_number(&request, successor);
    request_number(&request, is_new);
    return request_send(&request, NULL, 0);
}

int rsg_add_successor(int64_t activity, int64_t successor)
{
    return relate(activity, successor, 1);
}

int rsg_remove_successor(int64_t activity, int64_t successor)
{
    return relate(activity, successor, 0);
}

int rsg_dependencies(int64_t activity, int64_t *activities, size_t room, size_t *count)
{
    *count = 0;
    for (;;) {
        struct request request;
        size_t came;
        int error;

        request_begin(&request, RSG_DEPENDENCIES);
        request_number(&request, activity);
        request_number(&request, (int64_t)*count);
        error = request_send(&request, NULL, 0);
        came = request.call.answer_bytes / sizeof *activities;
        if (error != 0 || came == 0)
            return error;
        if (came > room - *count)
            came = room - *count;
        memcpy(activities + *count, request.in.bytes, came * sizeof *activities);
        *count += came;
        if (*count == room)
            return 0;
    }
}
