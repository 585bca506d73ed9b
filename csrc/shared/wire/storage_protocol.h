/* The requests of shims about files on modelled storages: the arguments of OP_STORAGE. This file is a part of
 * protocol.h and, like it, contains only enums, structs and integer defines. */
#ifndef SIMUNIX_STORAGE_PROTOCOL_H
#define SIMUNIX_STORAGE_PROTOCOL_H

/* What a program has done to a file. The value of the answer is 1 if the caller has to wait by PARK_STORAGE, -errno
 * after a failure. For STORAGE_ROOM, which comes before a call that may write, the value is the number of bytes for
 * which there is room. STORAGE_SYNC of 0 bytes means the whole file, and so do the two requests below it. */
enum simunix_storage {
    STORAGE_ROOM = 0,
    STORAGE_READ = 1,
    STORAGE_WRITE = 2,
    STORAGE_THROUGH = 3,
    STORAGE_SYNC = 4,
    STORAGE_ALL = 5, /* write all dirty pages of the storage; if the offset is 1, of all storages of the host */
    STORAGE_CUT = 6, /* the file has become shorter, or was removed, or is new */
    STORAGE_DIRECT_READ = 7,
    STORAGE_DIRECT_WRITE = 8,
    STORAGE_LOOK = 9,    /* the file was looked up or opened, or a folder was listed */
    STORAGE_CHANGE = 10, /* the name, the size or the owner of the file has changed */
    STORAGE_AHEAD = 11,  /* the file is to be read into memory, and no thread waits for this */
    STORAGE_FORGET = 12, /* the clean pages of the file are not wanted in memory any longer */
    /* The kernel has said ENOSPC or EDQUOT; the storage's number is 1 if the file is on a storage, else 0. If the run's
     * own disk is full, the run ends, and there is no answer. */
    STORAGE_NO_ROOM = 13,
    STORAGE_FLUSH = 14 /* the dirty pages of the file are to be written from now on, and no thread waits for this */
};

enum simunix_storage_flag { STORAGE_OPENED = 1, STORAGE_UNCACHED = 2 };

#endif
