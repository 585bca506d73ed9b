/* Disks, and reads and writes at them. */
#include "request.h"
#include "rsg.h"

int rsg_disk_at(int64_t host, int64_t place, int64_t *disk)
{
    struct request request;
    int error;

    request_begin(&request, RSG_DISK_AT);
    request_number(&request, host);
    request_number(&request, place);
    error = request_send(&request, NULL, 0);
    *disk = answer_number(&request, 0);
    return error;
}

int rsg_disk_state(int64_t disk, struct rsg_disk_state *state)
{
    struct request request;
    int error;

    request_begin(&request, RSG_DISK_STATE);
    request_number(&request, disk);
    error = request_send(&request, NULL, 0);
    state->host = answer_number(&request, 0);
    state->read_bandwidth = answer_real(&request, 1);
    state->write_bandwidth = answer_real(&request, 2);
    answer_text(&request, 3, state->name, sizeof state->name);
    return error;
}

static int io(const int64_t numbers[3], double size, double priority, int64_t *activity)
{
    struct request request;
    int error;

    request_begin(&request, RSG_IO);
    for (int i = 0; i < 3; i++)
        request_number(&request, numbers[i]);
    request_real(&request, size);
    request_real(&request, priority);
    error = request_send(&request, NULL, 0);
    *activity = answer_number(&request, 0);
    return error;
}

int rsg_io(int64_t disk, int64_t is_write, double size, double priority)
{
    int64_t none;

    return io((int64_t[]){disk, 0, is_write}, size, priority, &none);
}

int rsg_io_init(int64_t disk, int64_t is_write, double size, double priority, int64_t *activity)
{
    return io((int64_t[]){disk, RSG_LATER, is_write}, size, priority, activity);
}

int rsg_io_async(int64_t disk, int64_t is_write, double size, double priority, int64_t *activity)
{
    return io((int64_t[]){disk, RSG_ASYNC, is_write}, size, priority, activity);
}
