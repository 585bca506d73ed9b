/* The files of one folder, many in one call: a cgroup of the server's has some forty control files, which come and go with
 * it. */
#ifndef SIMUNIX_CONTROL_FILES_H
#define SIMUNIX_CONTROL_FILES_H

#include <stdint.h>

/* cffi: begin */
int control_files_make(int folder, const char *names, const char *texts, const uint32_t *modes, int count, uint64_t *inodes);
int control_files_give(int folder, const char *names, int count, uint32_t user, uint32_t group);
int control_files_remove(int folder, const char *names, int count);
int control_file_put(int folder, const char *path, const char *text, uint64_t size);
/* cffi: end */

#endif
