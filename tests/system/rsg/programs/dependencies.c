/* Activities of librsg that are made, and begin after others; on the platform hosts_with_disks.xml, where a core does 1 Gflop/s. */
#include "rsg/rsg.h"
#include "shared/wire/rsg_protocol.h"

#include <stdio.h>
#include <stdlib.h>

static void check(int error)
{
    if (error != 0) {
        printf("%s\n", rsg_error_text(error));
        exit(1);
    }
}

static void say(const char *what)
{
    double date;

    check(rsg_clock(&date));
    printf("%s %.3f\n", what, date);
}

static void end(const char *what, int64_t activity)
{
    check(rsg_wait(activity, -1, NULL));
    say(what);
}

int main(void)
{
    int64_t own, box, disk, first, second, read, put, get, found[4], detached;
    struct rsg_activity_state state;
    struct rsg_message message;
    size_t count;

    check(rsg_connect(0, "dependencies", &own));
    check(rsg_mailbox("box", &box));
    check(rsg_disk_at(-1, 0, &disk));
    check(rsg_execute_init(-1, 1e9, 1, -1, &first));
    check(rsg_execute_init(-1, 1e9, 1, -1, &second));
    check(rsg_io_init(disk, 0, 50e6, 1, &read));
    check(rsg_add_successor(first, read));
    check(rsg_add_successor(second, read));
    check(rsg_set_term(second, RSG_AMOUNT, 0.5e9));
    check(rsg_start(read));
    check(rsg_dependencies(read, found, 4, &count));
    check(rsg_activity(read, &state));
    printf("%d dependencies, the first is %d, state %d\n", (int)count, (int)(found[0] - first), (int)state.state);
    check(rsg_start(first));
    check(rsg_start(second));
    end("second", second); /* both share a core */
    end("first", first);
    end("read", read); /* 100 MB/s */

    check(rsg_execute_init(-1, 0.25e9, 1, -1, &first));
    check(rsg_put_init(box, "hello", 6, 0, -1, &put));
    check(rsg_get_init(box, -1, &get));
    check(rsg_add_successor(first, put));
    check(rsg_add_successor(first, get));
    check(rsg_start(put));
    check(rsg_start(get));
    end("first", first);
    end("put", put);
    check(rsg_wait(get, -1, &message));
    printf("got %s\n", (char *)message.bytes);
    free(message.bytes);

    check(rsg_execute_init(-1, 0.25e9, 1, -1, &first));
    check(rsg_put_init(box, "again", 6, 0, -1, &detached));
    check(rsg_sendto_init(0, 0, 1e6, -1, &second));
    check(rsg_add_successor(first, detached));
    check(rsg_add_successor(detached, second));
    check(rsg_add_successor(first, second));
    check(rsg_remove_successor(first, second));
    check(rsg_start(second));
    check(rsg_detach(detached));
    end("first", first);
    check(rsg_get(box, -1, -1, &message));
    printf("got %s, the detached put %s\n", (char *)message.bytes, rsg_error_text(rsg_wait(detached, -1, NULL)));
    free(message.bytes);
    check(rsg_wait(second, -1, NULL));
    printf("parallel: %s\n", rsg_error_text(rsg_parallel_init(&(int64_t){0}, &(double){1}, NULL, 1, &first)));
    printf("cycle: %s\n", rsg_error_text(rsg_add_successor(second, second)));
    return 0;
}
