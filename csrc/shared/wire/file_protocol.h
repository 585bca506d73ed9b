/* What shim and server say to each other of files of which the server has the content. A part of protocol.h, and read as that is:
 * nothing but enums, structs and integer defines. */
#ifndef SIMUNIX_FILE_PROTOCOL_H
#define SIMUNIX_FILE_PROTOCOL_H

/* Files by which programs read and change the power of hosts. */
enum simunix_power_op {
    /* [path, enum simunix_power_file, offset, bytes] -> [0, bytes]; the path is the kernel's name of a file. -ENOENT: it is none of
     * the server's (rsg_server/power_files/) */
    OP_POWER_FILE = 69
};

/* The whole text of a file; a register of a processor, of which the offset is the number; the bytes are written. */
enum simunix_power_file { POWER_FILE_TEXT = 0, POWER_FILE_REGISTER = 1, POWER_FILE_WRITE = 2 };

#define SIMUNIX_POWER_TEXT_MAX 2048

/* The host's cgroups: groups are folders, and known by the numbers of these, as control files are by theirs (rsg_server/cgroups/). */
enum simunix_cgroup_op {
    /* [inode, how] -> [0]; what the control file has to say now is in it; -ENODEV: it is gone */
    OP_CGROUP_READ = 80,
    OP_CGROUP_WRITE =
        81, /* [inode, bytes, effective user] -> [0 | -errno, 1 if the caller's memory is counted]; not before what was written has had its effect */
    /* [inode of the folder above, its own, name] -> [0 | -errno]; a folder has been made; on an error it is gone again */
    OP_CGROUP_MADE = 82,
    OP_CGROUP_REMOVE = 83, /* [inode] -> [0 | -errno]; the folder with its control files is gone */
    OP_CGROUP_OF = 84,     /* [pid or tid, 0: the caller] -> [0, path]; as /proc/PID/cgroup says */
    OP_CGROUP_INTO = 85,   /* [inode] -> [0 | -errno]; where the caller's next child is born (clone3(2), CLONE_INTO_CGROUP) */
    OP_CGROUP_GREW = 86,   /* [] -> [0, bytes]; the process has grown by as many bytes as it was told, and may so again */
    OP_CGROUP_NEWS =
        87, /* [inode, 1 if nothing has been read since the beginning] -> [1 if it says else than the process has read, 0] */
    /* [inode of the folder, name, empty: all that there may be] -> [0 | -errno]; the control file is there now */
    OP_CGROUP_APPEAR = 88
};

/* Before a control file is read: it was opened, or sought without having been read; emptied; read by pread64; sought after a read. */
enum simunix_cgroup_read { CGROUP_READ_SOON = 0, CGROUP_READ_EMPTIED = 1, CGROUP_READ_NOW = 2, CGROUP_READ_AGAIN = 3 };

/* What OP_HELLO tells: below the device, groups are in use on the host; the process's memory is counted. */
enum simunix_cgroups { CGROUPS_USED = 1, CGROUPS_COUNT_MEMORY = 2 };
#define SIMUNIX_CGROUP_DEVICE_SHIFT 2

#define SIMUNIX_CGROUP_TEXT_MAX 3072

/* Devices, which files of hosts stand for, and programs that say who may open them (rsg_server/devices/). */
enum simunix_device_op {
    /* [enum simunix_device, a, b, c, d] -> as that says; a and b are st_dev and st_ino of a file that stands for a device */
    OP_DEVICE = 90,
    /* [enum simunix_device_program, a, b, c, d, bytes] -> [0 | -errno, number, bytes] */
    OP_DEVICE_PROGRAM = 91
};

/* What is asked of a device: its type (bits of st_mode), major and minor number, -ENOENT if the file is none; that the file stands
 * for one of now on (type, and the numbers as stat(2) has them), -EPERM if a program forbids it; to open it with flags, answered with
 * an enum simunix_driver or -errno; the descriptor of a DRIVER_MEMORY; that the file is none any more. Of a device of the kernel's,
 * which has no such file (0, 0): whether one of this type and number (as stat(2) has it) may be opened with flags. Of a mount with the
 * flag `nodev`: 0 if the flag is there because this computer's file systems are for no devices, -EACCES if a host's program asked for it. */
enum simunix_device {
    DEVICE_TELL = 0,
    DEVICE_MADE = 1,
    DEVICE_OPEN = 2,
    DEVICE_DESCRIPTOR = 3,
    DEVICE_FORGET = 4,
    DEVICE_OPEN_REAL = 5, /* a: flags, c: type, d: number */
    DEVICE_ON_MOUNT = 6   /* a: st_dev, c: the kernel's number of the mount */
};

/* What an open device does: nothing, as /dev/null; as the host's /dev/zero or full; as /dev/urandom; as the process's terminal. */
enum simunix_driver { DRIVER_NOTHING = 0, DRIVER_MEMORY = 1, DRIVER_RANDOM = 2, DRIVER_TERMINAL = 3 };

/* A program of type BPF_PROG_TYPE_CGROUP_DEVICE, see bpf(2): the bytes from offset a on, of b in all, of which the last ones are
 * answered with the program's number; put program b, with flags c, on the group that folder a is, in the place of program d; take
 * program b from group a; which group a has, or which hold for it if b is 1: flags, and the numbers as an array of uint32_t; is
 * there a program of number a? */
enum simunix_device_program { PROGRAM_LOAD = 0, PROGRAM_ATTACH = 1, PROGRAM_DETACH = 2, PROGRAM_QUERY = 3, PROGRAM_FIND = 4 };

#endif
