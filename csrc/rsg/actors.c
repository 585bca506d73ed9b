/* Actors and time. */
#define _GNU_SOURCE
#include "request.h"
#include "rsg.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const TEXTS[] = {
    [RSG_NO_ERROR] = "no error",
    [RSG_BAD_REQUEST] = "the request does not have the fields of its operation",
    [RSG_NO_EMULATION] = "this program is not emulated: start it with `simunix rsg run PLATFORM -- COMMAND`",
    [RSG_NO_ACTOR] = "the calling thread is no actor, or no actor has this number",
    [RSG_UNKNOWN_HOST] = "the platform has no such host",
    [RSG_UNKNOWN_LINK] = "the platform has no such link",
    [RSG_UNKNOWN_MAILBOX] = "no mailbox has this number",
    [RSG_UNKNOWN_ACTIVITY] = "no activity has this number",
    [RSG_WAITED_TWICE] = "the activity has been waited for already, or was forgotten",
    [RSG_UNKNOWN_OBJECT] = "no such mutex, semaphore, barrier or condition variable",
    [RSG_NEGATIVE] = "a size, a number of flops or a priority below 0, or no number",
    [RSG_TIMEOUT] = "the time is over",
    [RSG_CANCELED] = "the activity was cancelled",
    [RSG_NETWORK_FAILURE] = "a link is down, or the other actor has died",
    [RSG_HOST_FAILURE] = "the host is off",
    [RSG_STORAGE_FAILURE] = "the disk is failing or read-only, or its host is off",
    [RSG_NO_TASKS] = "parallel tasks need the flow model ptask_L07 (`simunix rsg run --model ptask_L07`, `network.model`)",
    [RSG_UNKNOWN_DISK] = "the host has no such disk",
    [RSG_KILLED] = "the actor has been killed",
    [RSG_NOT_OWNER] = "the caller has not locked this mutex",
    [RSG_MEMORY] = "messages that wait hold too many bytes, or there are too many objects",
    [RSG_NO_ROUTE] = "there is no route between the hosts",
    [RSG_BAD_VALUE] = "a number that does not exist or cannot be, or an actor that waits for itself",
    [RSG_HAS_BEGUN] = "the activity has begun, or is over",
    [RSG_CYCLE] = "the activity would wait for its own end",
    [RSG_DEPENDENCY] = "the dependency exists already, or there is none to remove",
    [RSG_NO_SPEED] = "the host has speed 0, at which no computing ends: give it a speed above 0, or another power state",
};

const char *rsg_error_text(int error)
{
    return error >= 0 && error < (int)(sizeof TEXTS / sizeof *TEXTS) ? TEXTS[error] : "an unknown error";
}

int rsg_connect(int64_t pid, const char *name, int64_t *own)
{
    struct request request;
    int error;

    request_begin(&request, RSG_CONNECT);
    request_number(&request, pid);
    error = request_send(&request, name, name == NULL ? 0 : strlen(name));
    *own = answer_number(&request, 0);
    return error;
}

int rsg_connect_from_environment(const char *name, int64_t *own)
{
    const char *pid = getenv("RSG_INITIAL_ACTOR_ID");

    return rsg_connect(pid == NULL ? 0 : strtoll(pid, NULL, 10), name, own);
}

int rsg_actor_create(int64_t host, const char *name, int64_t *pid)
{
    struct request request;
    int error;

    request_begin(&request, RSG_CREATE);
    request_number(&request, host);
    error = request_send(&request, name, strlen(name));
    *pid = answer_number(&request, 0);
    return error;
}

int rsg_actor_created(int64_t pid)
{
    return simple(RSG_CREATED, pid, 0, 1);
}

struct beginning {
    int64_t pid;
    int (*code)(void *);
    void *argument;
};

static void *begin(void *told)
{
    struct beginning beginning = *(struct beginning *)told;
    int64_t own;

    free(told);
    if (rsg_connect(beginning.pid, "", &own) == 0)
        beginning.code(beginning.argument);
    rsg_end();
    return NULL;
}

/* Start the thread of an actor. The thread is detached, since programs wait for an actor by rsg_join, not by pthread_join. */
static int start_thread(struct beginning *beginning)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, begin, beginning);

    if (error == 0)
        pthread_detach(thread);
    return error == 0 ? 0 : RSG_MEMORY;
}

int rsg_actor_start(int64_t host, const char *name, int (*code)(void *), void *argument, int64_t *pid)
{
    struct beginning *beginning = malloc(sizeof *beginning);
    int error = beginning == NULL ? RSG_MEMORY : rsg_actor_create(host, name, pid);

    if (error == 0) {
        *beginning = (struct beginning){*pid, code, argument};
        error = start_thread(beginning);
    }
    if (error != 0) {
        free(beginning);
        return error;
    }
    error = rsg_actor_created(*pid);
    return error == RSG_NO_ACTOR ? 0 : error; /* the program that creates the first actors is no actor itself */
}

int rsg_actor_fork(int64_t host, const char *name, int64_t *pid)
{
    int64_t announced, own;
    int error = rsg_actor_create(host, name, &announced);
    pid_t child = error == 0 ? fork() : -1;

    if (error == 0 && child < 0)
        error = RSG_MEMORY;
    if (error != 0)
        return error;
    *pid = child == 0 ? 0 : announced;
    if (child == 0)
        return rsg_connect(announced, "", &own);
    error = rsg_actor_created(announced);
    return error == RSG_NO_ACTOR ? 0 : error;
}

int rsg_end(void)
{
    return simple(RSG_END, 0, 0, 0);
}

int rsg_join(int64_t pid, double timeout, int64_t *timed_out)
{
    struct request request;
    int error;

    request_begin(&request, RSG_JOIN);
    request_number(&request, pid);
    request_real(&request, timeout);
    error = request_send(&request, NULL, 0);
    *timed_out = answer_number(&request, 0);
    return error;
}

int rsg_kill(int64_t pid)
{
    return simple(RSG_KILL, pid, 0, 1);
}

int rsg_kill_time(int64_t pid, double date)
{
    struct request request;

    request_begin(&request, RSG_KILL_TIME);
    request_number(&request, pid);
    request_real(&request, date);
    return request_send(&request, NULL, 0);
}

int rsg_await_host(int64_t host)
{
    return simple(RSG_AWAIT_HOST, host, 0, 1);
}

int rsg_suspend(int64_t pid)
{
    return simple(RSG_SUSPEND, pid, 0, 1);
}

int rsg_continue(int64_t pid)
{
    return simple(RSG_CONTINUE, pid, 0, 1);
}

int rsg_daemonize(void)
{
    return simple(RSG_DAEMONIZE, 0, 0, 0);
}

int rsg_migrate(int64_t pid, int64_t host)
{
    return simple(RSG_MIGRATE, pid, host, 2);
}

int rsg_actor(int64_t pid, struct rsg_actor_state *state)
{
    struct request request;
    int error;

    request_begin(&request, RSG_ACTOR);
    request_number(&request, pid);
    error = request_send(&request, NULL, 0);
    state->pid = answer_number(&request, 0);
    state->parent = answer_number(&request, 1);
    state->host = answer_number(&request, 2);
    state->is_daemon = (answer_number(&request, 3) & RSG_IS_DAEMON) != 0;
    state->is_suspended = (answer_number(&request, 3) & RSG_IS_SUSPENDED) != 0;
    answer_text(&request, 4, state->name, sizeof state->name);
    return error;
}

int rsg_actors(int64_t first, int64_t *pids, size_t room, size_t *count)
{
    struct request request;
    int error;

    request_begin(&request, RSG_ACTORS);
    request_number(&request, first);
    error = request_send(&request, NULL, 0);
    *count = request.call.answer_bytes / sizeof(union field);
    for (size_t i = 0; i < *count && i < room; i++)
        pids[i] = answer_number(&request, i);
    return error;
}

int rsg_help(int64_t pid, int64_t *helper)
{
    struct request request;
    int error;

    request_begin(&request, RSG_HELP);
    request_number(&request, pid);
    error = request_send(&request, NULL, 0);
    *helper = answer_number(&request, 0);
    return error;
}

int rsg_dismiss(int64_t helper)
{
    return simple(RSG_DISMISS, helper, 0, 1);
}

static int with_time(enum simunix_rsg_operation operation, double time)
{
    struct request request;

    request_begin(&request, operation);
    request_real(&request, time);
    return request_send(&request, NULL, 0);
}

int rsg_run(double timeout)
{
    return with_time(RSG_RUN, timeout);
}

int rsg_clock(double *date)
{
    struct request request;
    int error;

    request_begin(&request, RSG_CLOCK);
    error = request_send(&request, NULL, 0);
    *date = answer_real(&request, 0);
    return error;
}

int rsg_sleep(double seconds)
{
    return with_time(RSG_SLEEP, seconds);
}

int rsg_sleep_until(double date)
{
    double now;
    int error = rsg_clock(&now);

    return error != 0 || date <= now ? error : rsg_sleep(date - now);
}

int rsg_yield(void)
{
    return simple(RSG_YIELD, 0, 0, 0);
}

/* If the environment asks for it, make the program an actor before its main function, as Remote SimGrid's own library
 * does. */
__attribute__((constructor)) static void connect_at_start(void)
{
    int64_t own;

    if (getenv("RSG_AUTOCONNECT") != NULL)
        rsg_connect_from_environment(program_invocation_short_name, &own);
}

__attribute__((destructor)) static void disconnect_at_end(void)
{
    if (getenv("RSG_AUTOCONNECT") != NULL)
        rsg_end();
}
