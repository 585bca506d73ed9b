/* mountinfo, mounts and mountstats of a process: the file systems of an emulated host, not those of this computer.
 *
 * The host's init has written down which mounts existed at the end of the host's set-up: these belong to this computer,
 * or show the host its files. Of these mounts, only the few file systems that every host has are shown, always in one
 * form; the others count as parts of them. Later mounts of the host's own programs are shown as the kernel shows them,
 * with other numbers. A mount on a storage is shown as well, as a file system on a disk. See proc(5). */
#include "shim/core/memory.h"
#include "shim/sys/procfs/procfs.h"

#define MOUNTS_MAX 1024
#define TEXT_ROOM (256 * 1024) /* the most bytes of a list; a longer list is cut */
#define FIRST_ID 21            /* the first numbers of mounts, and of devices without a disk, as after a boot */
#define FIRST_OWN_ID 40
#define ROWS (sizeof rows / sizeof rows[0])

/* The file systems that every host has. */
static const struct row {
    const char *point, *device, *options, *type, *source, *super;
} rows[] = {
    {"/", "8:1", "rw,relatime", "ext4", "/dev/root", "rw"},
    {"/proc", "0:22", "rw,nosuid,nodev,noexec,relatime", "proc", "proc", "rw"},
    {"/sys", "0:23", "ro,nosuid,nodev,noexec,relatime", "sysfs", "sysfs", "rw"},
    {"/sys/fs/cgroup", "0:24", "rw,nosuid,nodev,noexec,relatime", "cgroup2", "cgroup2", "rw"},
    {"/dev", "0:25", "rw,nosuid,noexec,relatime", "tmpfs", "tmpfs", "rw,mode=755"},
    {"/dev/pts", "0:26", "rw,nosuid,noexec,relatime", "devpts", "devpts", "rw,gid=5,mode=620,ptmxmode=666"},
    {"/dev/mqueue", "0:27", "rw,nosuid,nodev,noexec,relatime", "mqueue", "mqueue", "rw"},
    {"/dev/shm", "0:28", "rw,nosuid,nodev,relatime", "tmpfs", "tmpfs", "rw"},
    {"/run", "0:29", "rw,nosuid,nodev,relatime", "tmpfs", "tmpfs", "rw,mode=755"},
};

/* The fields of a line of mountinfo. */
enum field { ID, PARENT, DEVICE, ROOT, POINT, OPTIONS, FIELDS };

struct mount {
    char *field[FIELDS];
    char *optional; /* each is followed by a space; "" for none */
    char *type, *source, *super;
    const struct row *row;             /* the file system of the host to which the mount belongs; NULL for a mount of the host's
                            * programs, or of a storage */
    const struct stored_mount *stored; /* NULL: the mount is on no storage */
};

/* Working memory of one listing. */
struct listing {
    struct mount mounts[MOUNTS_MAX];
    size_t count;
    const char *groups[MOUNTS_MAX]; /* the groups of peers, in the order in which they appear */
    size_t group_count;
    char native[TEXT_ROOM];
    char given[TEXT_ROOM];
};

static bool read_whole(const char *path, char *text)
{
    long fd = NATIVE(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    long size = 0;
    long got = fd;

    if (fd >= 0) {
        while (size < TEXT_ROOM - 1 && (got = NATIVE(read, fd, text + size, TEXT_ROOM - 1 - size)) > 0)
            size += got;
        NATIVE(close, fd);
    }
    text[size] = '\0';
    return fd >= 0;
}

/* End a word at the next `separator`, and return the text that follows. */
static char *cut(char *text, char separator)
{
    while (*text != separator && *text != '\0')
        text++;
    if (*text != '\0')
        *text++ = '\0';
    return text;
}

static bool take_line(struct mount *mount, char *line)
{
    for (size_t i = 0; i < FIELDS; i++) {
        mount->field[i] = line;
        line = cut(line, ' ');
    }
    mount->optional = line;
    while (!text_starts(line, "- ")) {
        while (*line != ' ' && *line != '\0')
            line++;
        if (*line++ == '\0')
            return false;
    }
    *line = '\0';
    mount->type = line + 2;
    mount->source = cut(mount->type, ' ');
    mount->super = cut(mount->source, ' ');
    return true;
}

static uint64_t number_of(const char *text)
{
    uint64_t number = 0;

    while (*text >= '0' && *text <= '9')
        number = 10 * number + (uint64_t)(*text++ - '0');
    return number;
}

/* Return the rest of a path after a folder that contains it; NULL if the folder does not contain it. */
static const char *behind(const char *path, const char *folder)
{
    size_t length = text_equal(folder, "/") ? 0 : text_length(folder);

    return text_starts(path, length == 0 ? "/" : folder) && (path[length] == '/' || path[length] == '\0') ? path + length
                                                                                                          : NULL;
}

static const struct row *row_of(const char *point)
{
    const struct row *found = &rows[0];

    for (size_t i = 1; i < ROWS; i++)
        if (behind(point, rows[i].point) != NULL && text_length(rows[i].point) > text_length(found->point))
            found = &rows[i];
    return found;
}

/* Return how many mounts the host's set-up has made at a point, since a program may add another mount there. */
static size_t times_given(const char *given, const char *point)
{
    size_t length = text_length(point);
    size_t times = 0;

    while (*given != '\0') {
        times += text_starts(given, point) && given[length] == '\n';
        while (*given != '\0' && *given++ != '\n')
            ;
    }
    return times;
}

static bool is_given(const struct listing *listing, const struct mount *mount)
{
    size_t before = 0;

    for (const struct mount *other = listing->mounts; other < mount; other++)
        before += text_equal(other->field[POINT], mount->field[POINT]);
    return before < times_given(listing->given, mount->field[POINT]);
}

/* Read the mounts. On hosts without namespaces (which share this computer's files), no program mounts anything. */
static void read_mounts(struct listing *listing, const struct proc_page *page)
{
    bool all_given = !read_whole("/run/simunix/mounts", listing->given) && page->thread->process->host.files[0] != '\0';
    char mountinfo[PROC_PATH_ROOM];
    char *line = listing->native;

    proc_beside(page->path, "mountinfo", mountinfo, sizeof mountinfo);
    read_whole(mountinfo, line);
    while (*line != '\0' && listing->count < MOUNTS_MAX) {
        struct mount *mount = &listing->mounts[listing->count];
        char *next = cut(line, '\n');

        if (take_line(mount, line)) {
            if (page->thread->process->flags & HELLO_FLAG_CONTAINED)
                mount_without_containment(mount->field[OPTIONS], mount->super);
            mount->stored = stored_mount_numbered(page->thread->process, number_of(mount->field[ID]));
            if (mount->stored == NULL && (all_given || text_equal(mount->field[POINT], "/") || is_given(listing, mount)))
                mount->row = row_of(mount->field[POINT]);
            listing->count++;
        }
        line = next;
    }
}

static bool is_mounted(const struct listing *listing, const struct row *row)
{
    for (size_t i = 0; i < listing->count; i++)
        if (listing->mounts[i].row == row && text_equal(listing->mounts[i].field[POINT], row->point))
            return true;
    return false;
}

static int64_t id_shown(const struct listing *listing, const char *id)
{
    int64_t own = FIRST_OWN_ID;

    for (size_t i = 0; i < listing->count; i++) {
        const struct mount *mount = &listing->mounts[i];

        if (text_equal(mount->field[ID], id))
            return mount->row != NULL ? FIRST_ID + (mount->row - rows) : own;
        own += mount->row == NULL;
    }
    return FIRST_ID;
}

/* Return the mount of the host's set-up whose files a mount of a program shows again: the innermost of that device. */
static const struct mount *shown_again(const struct listing *listing, const struct mount *mount)
{
    const struct mount *found = NULL;

    for (size_t i = 0; i < listing->count; i++) {
        const struct mount *other = &listing->mounts[i];

        if (other->row != NULL && text_equal(other->field[DEVICE], mount->field[DEVICE]) &&
            behind(mount->field[ROOT], other->field[ROOT]) != NULL &&
            (found == NULL || text_length(other->field[ROOT]) >= text_length(found->field[ROOT])))
            found = other;
    }
    return found;
}

/* Return the device number that is shown for a file system that a program of the host has mounted, in the order of such
 * file systems. */
static int64_t device_shown(const struct listing *listing, const struct mount *mount)
{
    for (size_t i = 0; i < listing->count; i++)
        if (listing->mounts[i].row == NULL && text_equal(listing->mounts[i].field[DEVICE], mount->field[DEVICE]))
            return id_shown(listing, listing->mounts[i].field[ID]);
    return FIRST_OWN_ID;
}

/* "shared:7 master:3 ": groups of peers get numbers in the order in which they appear. */
static void put_optional(struct proc_page *page, struct listing *listing, char *text)
{
    while (*text != '\0') {
        char *next = cut(text, ' ');
        char *number = cut(text, ':');
        size_t which = 0;

        proc_put(page, text);
        if (*number != '\0') {
            while (which < listing->group_count && !text_equal(listing->groups[which], number))
                which++;
            if (which == listing->group_count && which < MOUNTS_MAX)
                listing->groups[listing->group_count++] = number;
            proc_put_number(page, ":", (int64_t)which + 1, "");
        }
        proc_put(page, " ");
        text = next;
    }
}

static void put_words(struct proc_page *page, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        proc_put(page, words[i]);
        proc_put(page, " ");
    }
}

/* Write a line of mounts or mountstats, or the end of a line of mountinfo. */
static void put_rest(struct proc_page *page, const struct row *mount)
{
    const char *name = proc_last_part(page->path);

    if (text_equal(name, "mountinfo")) {
        put_words(page, (const char *const[]){"-", mount->type, mount->source}, 3);
        proc_put(page, mount->super);
    } else if (text_equal(name, "mounts")) {
        const char *super = mount->super;

        put_words(page, (const char *const[]){mount->source, mount->point, mount->type}, 3);
        proc_put(page, mount->options);
        while (*super != ',' && *super != '\0') /* "rw", which the options contain */
            super++;
        proc_put(page, super);
        proc_put(page, " 0 0");
    } else {
        put_words(page, (const char *const[]){"device", mount->source, "mounted on", mount->point, "with fstype"}, 5);
        proc_put(page, mount->type);
    }
    proc_put(page, "\n");
}

static void put_row(struct proc_page *page, const struct row *row)
{
    if (text_equal(proc_last_part(page->path), "mountinfo")) {
        const struct row *parent = &rows[0];

        for (size_t i = 1; i < ROWS; i++)
            if (&rows[i] != row && behind(row->point, rows[i].point) != NULL)
                parent = &rows[i];
        proc_put_number(page, "", FIRST_ID + (row - rows), " ");
        proc_put_number(page, "", row == rows ? 1 : FIRST_ID + (parent - rows), " ");
        put_words(page, (const char *const[]){row->device, "/", row->point, row->options}, 4);
    }
    put_rest(page, row);
}

/* Write a path of two parts, each of which is empty, or "/", or begins with it. */
static void put_path(struct proc_page *page, const char *folder, const char *rest)
{
    bool has_folder = folder[0] != '\0' && folder[1] != '\0';
    bool has_rest = rest[0] != '\0' && rest[1] != '\0';

    proc_put(page, has_folder ? folder : "");
    proc_put(page, has_rest ? rest : has_folder ? "" : "/");
}

/* Return the file server's name of a mount, SERVER:PATH, which the host's set-up has written after three numbers: the
 * number of the mount, and two more. */
static const char *remote_source(struct listing *listing, const struct mount *mount)
{
    char *line = listing->given;

    while (*line != '\0' && number_of(line) != mount->stored->mount)
        line = cut(line, '\n');
    cut(line, '\n');
    for (int field = 0; field < 3; field++)
        line = cut(line, ' ');
    return line;
}

/* Write Linux's name for a disk besides the host's own, which is sda: sdb for storage 0, sdaa for 25; see
 * rsg_server/storage/disks.py: device_name. */
static void name_disk(char *letters, uint64_t storage)
{
    uint64_t place = storage + 1;

    if (place >= 26)
        *letters++ = (char)('a' + place / 26 - 1);
    *letters++ = (char)('a' + place % 26);
    *letters = '\0';
}

/* The storage with number 0 is the second disk: /dev/sdb, 8:16. Mounts of file servers have the type NFS. */
static void put_stored(struct proc_page *page, struct listing *listing, struct mount *mount)
{
    bool is_remote = (mount->stored->flags & STORED_REMOTE) != 0;
    struct shown_device device = stored_mount_device(mount->stored);
    char source[] = "/dev/sdXX";
    struct row shown = {mount->field[POINT], NULL, mount->field[OPTIONS], "ext4", source, "rw"};

    name_disk(source + sizeof source - 3, mount->stored->storage);
    if (is_remote) {
        shown.source = remote_source(listing, mount);
        shown.type = "nfs4";
    }
    if (text_equal(proc_last_part(page->path), "mountinfo")) {
        proc_put_number(page, "", id_shown(listing, mount->field[ID]), " ");
        proc_put_number(page, "", FIRST_ID + (row_of(shown.point) - rows), " ");
        proc_put_number(page, "", device.major, ":");
        proc_put_number(page, "", device.minor, " / ");
        put_words(page, (const char *const[]){shown.point, shown.options}, 2);
    }
    put_rest(page, &shown);
    if (is_remote)
        read_whole("/run/simunix/storages", listing->given);
}

static void put_own(struct proc_page *page, struct listing *listing, struct mount *mount)
{
    const struct mount *again = shown_again(listing, mount);
    struct row shown = again != NULL ? *again->row : (struct row){NULL, NULL, NULL, mount->type, mount->source, mount->super};

    if (again == NULL && proc_is_of_cgroups(page, mount->field[DEVICE]))
        shown = (struct row){NULL, NULL, NULL, "cgroup2", "cgroup2", "rw"};
    shown.point = mount->field[POINT];
    shown.options = mount->field[OPTIONS];
    if (text_equal(proc_last_part(page->path), "mountinfo")) {
        proc_put_number(page, "", id_shown(listing, mount->field[ID]), " ");
        proc_put_number(page, "", id_shown(listing, mount->field[PARENT]), " ");
        if (again == NULL) {
            proc_put_number(page, "0:", device_shown(listing, mount), " ");
            proc_put(page, mount->field[ROOT]);
        } else {
            proc_put(page, shown.device);
            proc_put(page, " ");
            put_path(page, behind(again->field[POINT], again->row->point), behind(mount->field[ROOT], again->field[ROOT]));
        }
        proc_put(page, " ");
        put_words(page, (const char *const[]){shown.point, shown.options}, 2);
        put_optional(page, listing, mount->optional);
    }
    put_rest(page, &shown);
}

/* mountinfo, mounts, mountstats. The function is marked cold: it is compiled to be small, as it seldom runs. */
__attribute__((cold)) void proc_write_mounts(struct proc_page *page)
{
    long memory = NATIVE(mmap, NULL, sizeof(struct listing), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct listing *listing = (void *)memory;

    if (memory < 0 && memory > -4096)
        return;
    read_mounts(listing, page);
    read_whole("/run/simunix/storages", listing->given);
    for (size_t i = 0; i < ROWS; i++)
        if (is_mounted(listing, &rows[i]))
            put_row(page, &rows[i]);
    for (size_t i = 0; i < listing->count; i++)
        if (listing->mounts[i].stored != NULL)
            put_stored(page, listing, &listing->mounts[i]);
        else if (listing->mounts[i].row == NULL)
            put_own(page, listing, &listing->mounts[i]);
    NATIVE(munmap, memory, sizeof *listing);
}
