/* The driver: runs a script line by line, and logs when each of its outermost steps begins and ends. */
#include "job.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct driver {
    struct script *script;
    struct ranks *ranks; /* NULL if the script has no task */
    int next;            /* line */
    int exit_code;
    bool is_over;
};

static void run_delay(struct driver *driver, struct line *line)
{
    (void)driver;
    pause_for((int64_t)line->amount);
}

static void run_suspendable(struct driver *driver, struct line *line)
{
    (void)driver;
    pause_suspendable((int64_t)line->amount);
}

/* A command that fails ends the script with the command's exit code, as under `set -e`. */
static void run_command(struct driver *driver, struct line *line)
{
    int status = system(line->text);

    if (status == 0)
        return;
    driver->is_over = true;
    driver->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void run_repeat(struct driver *driver, struct line *line)
{
    line->left = line->amount;
    if (line->left == 0)
        driver->next = line->end + 1;
}

static void run_end(struct driver *driver, struct line *line)
{
    if (--driver->script->lines[line->end].left > 0)
        driver->next = line->end + 1;
}

static void run_task(struct driver *driver, struct line *line)
{
    ranks_run_task(driver->ranks, line, &driver->script->lines[line->end]);
    driver->next = line->end + 1;
}

static void run_stage(struct driver *driver, struct line *line)
{
    ranks_stage(&driver->script->storages[line->from], &driver->script->storages[line->to], line->amount);
}

static void run_exit(struct driver *driver, struct line *line)
{
    driver->is_over = true;
    driver->exit_code = (int)line->amount;
}

static void (*const runners[])(struct driver *, struct line *) = {
    [DELAY] = run_delay,     [SUSPENDABLE] = run_suspendable,
    [COMMAND] = run_command, [REPEAT] = run_repeat,
    [END] = run_end,         [TASK] = run_task,
    [STAGE] = run_stage,     [EXIT] = run_exit,
};

/* Start the ranks and wait for them, if the script has a task. Ranks live as long as the script, as those of an MPI
 * program do, so that starting them is part of no task. */
static void gather_if_needed(struct driver *driver)
{
    bool has_task = false;
    struct timespec time;

    for (int i = 0; i < driver->script->count; i++)
        has_task |= driver->script->lines[i].verb == TASK;
    if (!has_task)
        return;
    driver->ranks = ranks_gather(driver->script);
    time = now();
    printf("%lld.%09ld ranks are there: %d\n", (long long)time.tv_sec, time.tv_nsec, driver->script->rank_count);
}

static void log_moment(const char *what, const struct line *line)
{
    struct timespec time = now();

    printf("%lld.%09ld %s line %d: %s\n", (long long)time.tv_sec, time.tv_nsec, what, line->number, line->text);
    fflush(stdout);
}

int driver_run(struct script *script)
{
    struct driver driver = {.script = script};
    int outermost =
        0; /* lines before this line belong to the outermost step that has begun: a whole `repeat` or `task` is one step */

    gather_if_needed(&driver);
    while (!driver.is_over && driver.next < script->count) {
        struct line *line = &script->lines[driver.next++];

        if (line >= script->lines + outermost) {
            log_moment("begins", line);
            outermost = line->end > 0 ? line->end + 1 : driver.next;
        }
        runners[line->verb](&driver, line);
        if (driver.is_over || driver.next == outermost)
            log_moment("ends", line);
    }
    if (driver.ranks != NULL) {
        int code = ranks_dismiss(driver.ranks);

        driver.exit_code = driver.exit_code ? driver.exit_code : code;
    }
    return driver.exit_code;
}
