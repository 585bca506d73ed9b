/* The values about files with content of the server that shim and server exchange. This file is a part of protocol.h
 * and, like it, contains only enums, structs and integer defines. */
#ifndef SIMUNIX_FILE_PROTOCOL_H
#define SIMUNIX_FILE_PROTOCOL_H

/* The request of a message about a power file: read the whole text; read a register of a processor, whose number is the
 * offset; write the bytes. */
enum simunix_power_file { POWER_FILE_TEXT = 0, POWER_FILE_REGISTER = 1, POWER_FILE_WRITE = 2 };

#define SIMUNIX_POWER_TEXT_MAX 2048

/* The action of a program before it reads a control file: the program has opened the file, or sought in the file without
 * having read; the program empties the file; it uses pread64; it has sought after a read. */
enum simunix_cgroup_read { CGROUP_READ_SOON = 0, CGROUP_READ_EMPTIED = 1, CGROUP_READ_NOW = 2, CGROUP_READ_AGAIN = 3 };

/* The bits below the device number in the value that HELLO's reply has for cgroups: groups are in use on the host; the
 * memory of the process is counted. */
enum simunix_cgroups { CGROUPS_USED = 1, CGROUPS_COUNT_MEMORY = 2 };
#define SIMUNIX_CGROUP_DEVICE_SHIFT 2

#define SIMUNIX_CGROUP_TEXT_MAX 3072

/* What is asked of a device: its type (bits of st_mode), major and minor number, -ENOENT if the file is none; that the file
 * stands for one of now on (type, and the numbers as stat(2) has them), -EPERM if a program forbids it; to open it with flags,
 * answered with an enum simunix_driver or -errno; the descriptor of a DRIVER_MEMORY; that the file is none any more. Of a
 * device of the kernel's, which has no such file (0, 0): whether one of this type and number (as stat(2) has it) may be opened
 * with flags. Of a mount with the flag `nodev`: 0 if the flag is there because this computer's file systems are for no devices,
 * -EACCES if a host's program asked for it. */
enum simunix_device {
    DEVICE_TELL = 0,
    DEVICE_MADE = 1,
    DEVICE_OPEN = 2,
    DEVICE_DESCRIPTOR = 3,
    DEVICE_FORGET = 4,
    DEVICE_OPEN_REAL = 5, /* a: flags, c: type, d: number */
    DEVICE_ON_MOUNT = 6   /* a: st_dev, c: the kernel's number of the mount */
};

/* The behaviour of an open device: nothing, like /dev/null; what the host's /dev/zero or /dev/full does; what /dev/urandom
 * does; what the process's terminal does. */
enum simunix_driver { DRIVER_NOTHING = 0, DRIVER_MEMORY = 1, DRIVER_RANDOM = 2, DRIVER_TERMINAL = 3 };

/* Requests about a program of type BPF_PROG_TYPE_CGROUP_DEVICE (bpf(2)), in the order of the values: its bytes from
 * offset a on, of b in all, where the answer to the last ones is the program's number; put program b, with flags c, on
 * the group that folder a is, in the place of program d; take program b from group a; which group a has, or which hold
 * for it if b is 1: flags, and the numbers as an array of uint32_t; is there a program of number a? */
enum simunix_device_program { PROGRAM_LOAD = 0, PROGRAM_ATTACH = 1, PROGRAM_DETACH = 2, PROGRAM_QUERY = 3, PROGRAM_FIND = 4 };

#endif
