// Groups are folders: what may be made and removed there, who is where, what a child inherits, what is refused and how.
#include "cgroups.h"
#include "expect.h"

#include <linux/sched.h>
#include <sys/syscall.h>

static char here[PATH_MAX]; /* the group that this program began in */

static void names(void)
{
    EXPECT(mkdir(group, 0755), -EEXIST);
    EXPECT(open(in("file"), O_CREAT | O_WRONLY, 0644), -EACCES);
    EXPECT(unlink(in("cgroup.procs")), -EPERM);
    EXPECT(symlink("cgroup.procs", in("link")), -EPERM);
    EXPECT(mkdir(in("one"), 0755), 0);
    EXPECT(rename(in("one"), in("two")), -EPERM);
    EXPECT(rmdir(group), -EBUSY);
    EXPECT(access(in("one/cgroup.events"), F_OK), 0);
    EXPECT(put(in("cgroup.controllers"), "cpu"), -EINVAL);
    EXPECT(put(in("cgroup.events"), "1"), -EINVAL);
    EXPECT(says(in("cgroup.events"), "populated 0\nfrozen 0\n"), 1);
    EXPECT(says(in("cgroup.type"), "domain\n"), 1);
    EXPECT(says(in("cgroup.stat"), "") ? 0 : strncmp(text_of(in("cgroup.stat")), "nr_descendants 1\n", 17), 0);
    EXPECT(rmdir(in("one")), 0);
    EXPECT(rmdir(in("one")), -ENOENT);
}

static void limits_of_the_tree(void)
{
    EXPECT(says(in("cgroup.max.descendants"), "max\n"), 1);
    EXPECT(put(in("cgroup.max.descendants"), "1\n"), 0);
    EXPECT(mkdir(in("one"), 0755), 0);
    EXPECT(mkdir(in("two"), 0755), -EAGAIN);
    EXPECT(put(in("cgroup.max.descendants"), "max"), 0);
    EXPECT(put(in("cgroup.max.depth"), "1"), 0);
    EXPECT(mkdir(in("one/two"), 0755), -EAGAIN);
    EXPECT(put(in("cgroup.max.depth"), "some"), -EINVAL);
    EXPECT(put(in("cgroup.max.depth"), "max"), 0);
    EXPECT(rmdir(in("one")), 0);
}

static void refused_writes(void)
{
    EXPECT(put(in("cgroup.procs"), "some"), -EINVAL);
    EXPECT(put(in("cgroup.procs"), "4194300"), -ESRCH);
    EXPECT(put(in("cgroup.subtree_control"), "+nosuch"), -EINVAL);
    EXPECT(put(in("cgroup.freeze"), "2"), -ERANGE);
    EXPECT(put(in("cgroup.freeze"), "some"), -EINVAL);
    EXPECT(put(in("cgroup.kill"), "0"), -ERANGE);
    EXPECT(put(in("cgroup.kill"), "some"), -EINVAL);
    EXPECT(put_number(in("cgroup.threads"), gettid()), -EOPNOTSUPP);
}

/* The path of a process's group in the hierarchy of version 2, below the place of this computer's. */
static const char *path_of(pid_t pid)
{
    static char path[PATH_MAX];
    char name[64];

    snprintf(name, sizeof name, "/proc/%d/cgroup", pid);
    FILE *file = fopen(name, "r");
    while (file != NULL && fgets(path, sizeof path, file) != NULL)
        if (strncmp(path, "0::", 3) == 0)
            break;
    if (file != NULL)
        fclose(file);
    path[strcspn(path, "\n")] = '\0';
    return strrchr(path, '/');
}

/* What cannot be a group of threads: one with processes in it; no group can be anything else again. */
static void types(void)
{
    EXPECT(put(in("cgroup.type"), "domain"), -EINVAL);
    EXPECT(put(in("cgroup.type"), "some"), -EINVAL);
    EXPECT(put(in("cgroup.threads"), "4194300"), -ESRCH);
    EXPECT(put(in("cgroup.threads"), "some"), -EINVAL);
    EXPECT(put(in("cgroup.procs"), "0"), 0);
    EXPECT(put(in("cgroup.type"), "threaded"), -EOPNOTSUPP);
    EXPECT(put_number(in("cgroup.threads"), gettid()), 0); /* where it is already */
    EXPECT(mkdir(in("below"), 0755), 0);
    EXPECT(put_number(in("below/cgroup.threads"), gettid()), -EOPNOTSUPP);
    EXPECT(put_number(in("../cgroup.procs"), getpid()), 0);
    EXPECT(rmdir(in("below")), 0);
    EXPECT(says(in("cgroup.type"), "domain\n"), 1);
}

static void membership(void)
{
    int gate[2];
    char byte;
    char listed[64];

    CHECK(pipe(gate) == 0);
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = -1;

        close(gate[1]);
        CHECK(read(gate[0], &byte, 1) == 1);
        grandchild = fork();
        if (grandchild == 0) {
            CHECK(read(gate[0], &byte, 1) == 0);
            _exit(0);
        }
        snprintf(listed, sizeof listed, "%d\n%d\n", getpid(), grandchild);
        CHECK(says(in("cgroup.procs"), listed) && says(in("cgroup.threads"), listed));
        CHECK(read(gate[0], &byte, 1) == 0);
        CHECK_CHILD(grandchild);
        _exit(0);
    }
    close(gate[0]);
    EXPECT(put_number(in("cgroup.procs"), child), 0);
    EXPECT(strcmp(path_of(child), strrchr(group, '/')), 0);
    EXPECT(strcmp(path_of(getpid()), here), 0);
    EXPECT(says(in("cgroup.events"), "populated 1\nfrozen 0\n"), 1);
    CHECK(write(gate[1], "", 1) == 1);
    sleep_ms(50);
    EXPECT(rmdir(group), -EBUSY);
    close(gate[1]);
    CHECK_CHILD(child);
    EXPECT(comes_to_say(in("cgroup.events"), "populated 0\nfrozen 0\n"), 1);
}

/* A descriptor keeps telling what is so at the moment, from the beginning on. */
static void one_descriptor(void)
{
    char text[64] = "";
    int fd = open(in("cgroup.procs"), O_RDWR);

    CHECK(fd >= 0);
    EXPECT(read(fd, text, sizeof text), 0);
    EXPECT(write(fd, "0", 1), 1);
    EXPECT(lseek(fd, 0, SEEK_SET), 0);
    EXPECT(read(fd, text, sizeof text) > 1 && atoi(text) == getpid(), 1);
    EXPECT(put_number(in("../cgroup.procs"), getpid()), 0);
    EXPECT(pread(fd, text, sizeof text, 0), 0);
    close(fd);
}

static void born_elsewhere(void)
{
    int folder = open(group, O_RDONLY | O_DIRECTORY);
    struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)folder};
    pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof args);

    CHECK(folder >= 0 && child >= 0);
    if (child == 0) {
        CHECK(strcmp(path_of(getpid()), strrchr(group, '/')) == 0);
        _exit(0);
    }
    CHECK_CHILD(child);
    args.cgroup = 0;
    EXPECT(syscall(SYS_clone3, &args, sizeof args), -EBADF);
    close(folder);
}

int main(void)
{
    int fd;
    char byte;

    snprintf(here, sizeof here, "%s", path_of(getpid()));
    begin_group("tree");
    names();
    limits_of_the_tree();
    refused_writes();
    types();
    membership();
    one_descriptor();
    born_elsewhere();
    fd = open(in("cgroup.procs"), O_RDONLY);
    EXPECT(comes_to_say(in("cgroup.events"), "populated 0\nfrozen 0\n"), 1);
    EXPECT(rmdir(group), 0);
    EXPECT(pread(fd, &byte, 1, 0), -ENODEV);
    CHECK(problems == 0);
    return succeed();
}
