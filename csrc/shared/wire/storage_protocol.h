/* What shims tell the server about files on modelled storages: the arguments of OP_STORAGE. This file is a part of
 * protocol.h and, like it, contains only enums, structs and integer defines. */
#ifndef SIMUNIX_STORAGE_PROTOCOL_H
#define SIMUNIX_STORAGE_PROTOCOL_H

/* What has been done to a file. The value of the answer is 1 if the caller is to wait by PARK_STORAGE, -errno if it has failed.
 * Of STORAGE_ROOM, which comes before a call that may write, how many bytes there is room for. STORAGE_SYNC of 0 bytes is of
 * the whole file, so are the two below it. */
enum simunix_storage {
    STORAGE_ROOM = 0,
    STORAGE_READ = 1,
    STORAGE_WRITE = 2,
    STORAGE_THROUGH = 3,
    STORAGE_SYNC = 4,
    STORAGE_ALL = 5, /* everything that is dirty on the storage; on all of the host, from byte 1 on */
    STORAGE_CUT = 6, /* it has become shorter, or is gone, or is new */
    STORAGE_DIRECT_READ = 7,
    STORAGE_DIRECT_WRITE = 8,
    STORAGE_LOOK = 9,    /* it was looked up, or opened, or a folder listed */
    STORAGE_CHANGE = 10, /* its name, its size or its owner has changed */
    STORAGE_AHEAD = 11,  /* it is to be read into memory, and nobody waits for that */
    STORAGE_FORGET = 12, /* its clean pages are not wanted in memory any longer */
    /* The kernel has said ENOSPC or EDQUOT; the storage's number is 1 if the file is on one, else 0. There may be no answer:
     * the run ends if it is the run's own disk that is full. */
    STORAGE_NO_ROOM = 13,
    STORAGE_FLUSH = 14 /* what is dirty of it is to be written from now on, and nobody waits for that */
};

enum simunix_storage_flag { STORAGE_OPENED = 1, STORAGE_UNCACHED = 2 };

#endif
