/* What shim and server say to each other of files by which programs read and change the power of hosts. A part of protocol.h, and
 * read as that is: nothing but enums, structs and integer defines. */
#ifndef SIMUNIX_POWER_PROTOCOL_H
#define SIMUNIX_POWER_PROTOCOL_H

enum simunix_power_op {
    /* [path, enum simunix_power_file, offset, bytes] -> [0, bytes]; the path is the kernel's name of a file. -ENOENT: it is none of
     * the server's (rsg_server/power_files/) */
    OP_POWER_FILE = 69
};

/* The whole text of a file; a register of a processor, of which the offset is the number; the bytes are written. */
enum simunix_power_file { POWER_FILE_TEXT = 0, POWER_FILE_REGISTER = 1, POWER_FILE_WRITE = 2 };

#define SIMUNIX_POWER_TEXT_MAX 2048

#endif
