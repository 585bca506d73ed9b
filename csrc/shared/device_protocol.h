/* What shim and server say to each other of devices and of the programs that say who may open them (rsg_server/devices/). A part of
 * protocol.h, and read as that is: nothing but enums, structs and integer defines. */
#ifndef SIMUNIX_DEVICE_PROTOCOL_H
#define SIMUNIX_DEVICE_PROTOCOL_H

enum simunix_device_op {
    /* [enum simunix_device, a, b, c, d] -> as that says; a and b are st_dev and st_ino of a file that stands for a device */
    OP_DEVICE = 90,
    /* [enum simunix_device_program, a, b, c, d, bytes] -> [0 | -errno, number, bytes] */
    OP_DEVICE_PROGRAM = 91
};

/* What is asked of a device: its type (bits of st_mode), major and minor number, -ENOENT if the file is none; that the file stands
 * for one of now on (type, and the numbers as stat(2) has them), -EPERM if a program forbids it; to open it with flags, answered with
 * an enum simunix_driver or -errno; the descriptor of a DRIVER_MEMORY; that the file is none any more. Of a device of the kernel's,
 * which has no such file (0, 0): whether one of this type and number (as stat(2) has it) may be opened with flags. */
enum simunix_device {
    DEVICE_TELL = 0,
    DEVICE_MADE = 1,
    DEVICE_OPEN = 2,
    DEVICE_DESCRIPTOR = 3,
    DEVICE_FORGET = 4,
    DEVICE_OPEN_REAL = 5 /* a: flags, c: type, d: number */
};

/* What an open device does: nothing, as /dev/null; as the host's /dev/zero or full; as /dev/urandom; as the process's terminal. */
enum simunix_driver { DRIVER_NOTHING = 0, DRIVER_MEMORY = 1, DRIVER_RANDOM = 2, DRIVER_TERMINAL = 3 };

/* A program of type BPF_PROG_TYPE_CGROUP_DEVICE, see bpf(2): the bytes from offset a on, of b in all, of which the last ones are
 * answered with the program's number; put program b, with flags c, on the group that folder a is, in the place of program d; take
 * program b from group a; which group a has, or which hold for it if b is 1: flags, and the numbers as an array of uint32_t; is
 * there a program of number a? */
enum simunix_device_program { PROGRAM_LOAD = 0, PROGRAM_ATTACH = 1, PROGRAM_DETACH = 2, PROGRAM_QUERY = 3, PROGRAM_FIND = 4 };

#endif
