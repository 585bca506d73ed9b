/* Prints the arguments of calls on files: open flags, stat, directories, fcntl, ioctl; and of uname. */
#include "shim/strace/strace.h"

static const struct strace_flag file_types[] = {
    {S_IFSOCK, "S_IFSOCK"}, {S_IFLNK, "S_IFLNK"}, {S_IFREG, "S_IFREG"}, {S_IFBLK, "S_IFBLK"},
    {S_IFDIR, "S_IFDIR"},   {S_IFCHR, "S_IFCHR"}, {S_IFIFO, "S_IFIFO"}, {0, ""},
};
static const char *const access_modes[4] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};

static void put_open_flags(struct trace *trace, uint64_t flags)
{
    strace_put(trace, access_modes[flags & O_ACCMODE]);
    flags &= ~(uint64_t)O_ACCMODE;
    if (flags != 0) {
        strace_put_char(trace, '|');
        strace_put_flags(trace, strace_open_flags, flags);
    }
}

/* Print flags of open(2). The mode follows only if a file may be made. */
void strace_open_flags_of(struct trace *trace, uint64_t value, int at)
{
    put_open_flags(trace, (uint32_t)value);
    if ((value & O_CREAT) != 0 || (value & 020200000) == 020200000) { /* O_TMPFILE */
        strace_put(trace, ", ");
        strace_put_octal(trace, trace->a[at + 1] & 07777);
    }
}

/* `S_IFREG|0644` */
void strace_mode(struct trace *trace, uint64_t value, int at)
{
    const char *type = strace_flag_name(file_types, value & S_IFMT);

    (void)at;
    if (type != NULL) {
        strace_put(trace, type);
        strace_put_char(trace, '|');
    }
    if (value & S_ISUID)
        strace_put(trace, "S_ISUID|");
    if (value & S_ISGID)
        strace_put(trace, "S_ISGID|");
    if (value & S_ISVTX)
        strace_put(trace, "S_ISVTX|");
    strace_put_octal(trace, value & 0777);
}

static void put_size_or_device(struct trace *trace, uint64_t mode, uint64_t size, uint32_t major, uint32_t minor)
{
    if ((mode & S_IFMT) != S_IFCHR && (mode & S_IFMT) != S_IFBLK) {
        strace_put(trace, ", st_size=");
        strace_put_unsigned(trace, size);
        return;
    }
    strace_put(trace, ", st_rdev=makedev(");
    strace_put_hex(trace, major);
    strace_put(trace, ", ");
    strace_put_hex(trace, minor);
    strace_put_char(trace, ')');
}

void strace_stat_out(struct trace *trace, uint64_t value, int at)
{
    struct stat status;

    if (!strace_fetch(trace, &status, value, sizeof status)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put(trace, "{st_mode=");
    strace_mode(trace, status.st_mode, at);
    put_size_or_device(trace, status.st_mode, (uint64_t)status.st_size, (uint32_t)(status.st_rdev >> 8 & 0xfff),
                       (uint32_t)((status.st_rdev & 0xff) | (status.st_rdev >> 12 & 0xfff00)));
    strace_put(trace, ", ...}");
}

void strace_statx_out(struct trace *trace, uint64_t value, int at)
{
    struct statx status;

    if (!strace_fetch(trace, &status, value, sizeof status)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put(trace, "{stx_mask=");
    strace_put_hex(trace, status.stx_mask);
    strace_put(trace, ", stx_mode=");
    strace_mode(trace, status.stx_mode, at);
    strace_put(trace, ", stx_size=");
    strace_put_unsigned(trace, status.stx_size);
    strace_put(trace, ", ...}");
}

/* Print the number of entries that getdents64(2) has returned. An entry begins with inode, offset and its own length. */
void strace_dirents_out(struct trace *trace, uint64_t value, int at)
{
    uint64_t entries = 0;
    uint16_t length = 0;

    (void)at;
    for (uint64_t done = 0; done < (uint64_t)trace->result; done += length) {
        if (!strace_fetch(trace, &length, value + done + 16, sizeof length) || length == 0)
            break;
        entries++;
    }
    strace_put_address(trace, value);
    strace_put(trace, " /* ");
    strace_put_unsigned(trace, entries);
    strace_put(trace, entries == 1 ? " entry */" : " entries */");
}

struct file_lock {
    int16_t type;
    int16_t whence;
    int64_t start;
    int64_t length;
    int32_t pid;
};

static void fcntl_number(struct trace *trace, uint64_t value)
{
    strace_put_number(trace, (int)value);
}

static void fcntl_descriptor_flags(struct trace *trace, uint64_t value)
{
    strace_put(trace, value == 1 ? "FD_CLOEXEC" : value == 0 ? "0" : "FD_???");
}

static void fcntl_lock(struct trace *trace, uint64_t value)
{
    struct file_lock lock;

    if (!strace_fetch(trace, &lock, value, sizeof lock)) {
        strace_put_address(trace, value);
        return;
    }
    strace_put(trace, "{l_type=");
    strace_put_value(trace, strace_lock_types, (uint64_t)lock.type);
    strace_put(trace, ", l_whence=");
    strace_put_value(trace, strace_seeks, (uint64_t)lock.whence);
    strace_put_char(trace, ',');
    strace_put_member(trace, " l_start", lock.start);
    strace_put_member(trace, ", l_len", lock.length);
    strace_put_char(trace, '}');
}

static const struct {
    int command;
    void (*print)(struct trace *trace, uint64_t value);
} fcntl_arguments[] = {
    {F_DUPFD, fcntl_number},
    {F_DUPFD_CLOEXEC, fcntl_number},
    {F_SETFD, fcntl_descriptor_flags},
    {F_SETFL, put_open_flags},
    {F_GETLK, fcntl_lock},
    {F_SETLK, fcntl_lock},
    {F_SETLKW, fcntl_lock},
    {36, fcntl_lock},
    {37, fcntl_lock},
    {38, fcntl_lock},
    {F_SETOWN, fcntl_number},
    {F_SETSIG, fcntl_number},
    {F_SETPIPE_SZ, fcntl_number},
    {F_ADD_SEALS, fcntl_number},
};

/* Print the command of fcntl(2), and the argument of those commands that have one. */
void strace_fcntl_of(struct trace *trace, uint64_t value, int at)
{
    strace_put_value(trace, strace_fcntl_commands, (uint32_t)value);
    for (size_t i = 0; i < sizeof fcntl_arguments / sizeof fcntl_arguments[0]; i++)
        if (fcntl_arguments[i].command == (int)value) {
            strace_put(trace, ", ");
            fcntl_arguments[i].print(trace, trace->a[at + 1]);
        }
}

/* `0x8002 (flags O_RDWR|O_LARGEFILE)`: the result of F_GETFL and F_GETFD. */
void strace_fcntl_result(struct trace *trace)
{
    bool asks = trace->a[1] == F_GETFL || (trace->a[1] == F_GETFD && trace->result != 0);

    if (!asks) {
        strace_put_number(trace, trace->result);
        return;
    }
    strace_put_hex(trace, (uint64_t)trace->result);
    strace_put(trace, " (flags ");
    if (trace->a[1] == F_GETFL)
        put_open_flags(trace, (uint64_t)trace->result);
    else
        fcntl_descriptor_flags(trace, (uint64_t)trace->result);
    strace_put_char(trace, ')');
}

void strace_ioctl_of(struct trace *trace, uint64_t value, int at)
{
    const char *name = strace_flag_name(strace_ioctl_requests, (uint32_t)value);

    if (name != NULL)
        strace_put(trace, name);
    else
        strace_put_hex(trace, (uint32_t)value);
    if (value == 0x5451 || value == 0x5450 || value == 0x540E || value == 0x5422) /* FIOCLEX … take nothing */
        return;
    strace_put(trace, ", ");
    strace_put_address(trace, trace->a[at + 1]);
}

void strace_utsname_out(struct trace *trace, uint64_t value, int at)
{
    strace_put(trace, "{sysname=");
    strace_path(trace, value, at);
    strace_put(trace, ", nodename=");
    strace_path(trace, value + 65, at);
    strace_put(trace, ", ...}");
}
