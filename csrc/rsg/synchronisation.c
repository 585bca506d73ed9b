/* Mutexes, semaphores, barriers and condition variables. */
#include "request.h"
#include "rsg.h"

/* Carry out an operation that has some integers, and a time if there is one, and whose answer is an integer. */
static int ask(enum simunix_rsg_operation operation, const int64_t *numbers, size_t count, const double *time, int64_t *answer)
{
    struct request request;
    int error;

    request_begin(&request, operation);
    for (size_t i = 0; i < count; i++)
        request_number(&request, numbers[i]);
    if (time != NULL)
        request_real(&request, *time);
    error = request_send(&request, NULL, 0);
    *answer = answer_number(&request, 0);
    return error;
}

int rsg_mutex(int64_t *mutex)
{
    return ask(RSG_MUTEX, NULL, 0, NULL, mutex);
}

int rsg_lock(int64_t mutex)
{
    return simple(RSG_LOCK, mutex, 0, 1);
}

int rsg_try_lock(int64_t mutex, int64_t *has_locked)
{
    return ask(RSG_TRY_LOCK, &mutex, 1, NULL, has_locked);
}

int rsg_unlock(int64_t mutex)
{
    return simple(RSG_UNLOCK, mutex, 0, 1);
}

int rsg_semaphore(int64_t capacity, int64_t *semaphore)
{
    return ask(RSG_SEMAPHORE, &capacity, 1, NULL, semaphore);
}

int rsg_acquire(int64_t semaphore, double timeout, int64_t *timed_out)
{
    return ask(RSG_ACQUIRE, &semaphore, 1, &timeout, timed_out);
}

int rsg_release(int64_t semaphore)
{
    return simple(RSG_RELEASE, semaphore, 0, 1);
}

int rsg_semaphore_capacity(int64_t semaphore, int64_t *capacity)
{
    return ask(RSG_SEMAPHORE_STATE, &semaphore, 1, NULL, capacity);
}

int rsg_barrier(int64_t expected, int64_t *barrier)
{
    return ask(RSG_BARRIER, &expected, 1, NULL, barrier);
}

int rsg_arrive(int64_t barrier, int64_t *was_last)
{
    return ask(RSG_ARRIVE, &barrier, 1, NULL, was_last);
}

int rsg_condition(int64_t *condition)
{
    return ask(RSG_CONDITION, NULL, 0, NULL, condition);
}

int rsg_condition_wait(int64_t condition, int64_t mutex, double timeout, int64_t *timed_out)
{
    return ask(RSG_CONDITION_WAIT, (int64_t[]){condition, mutex}, 2, &timeout, timed_out);
}

int rsg_notify(int64_t condition, int64_t is_for_all)
{
    return simple(RSG_NOTIFY, condition, is_for_all, 2);
}
