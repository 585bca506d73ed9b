/* /proc/PID/statm: how much memory a process has, in pages. */
#include "shim/sys/procfs/procfs.h"

#define FIELD_DATA 6 /* counted from 1 */
#define FIELD_RESIDENT 2
#define FIELD_SHARED 3

/* Return the pages that count as resident, of the process to which this file belongs. */
int64_t proc_resident_pages(const char *path)
{
    struct lines lines;
    char statm[PROC_PATH_ROOM];
    int64_t pages = 0;

    proc_beside(path, "statm", statm, sizeof statm);
    if (!lines_open(&lines, statm))
        return 0;
    while (lines_next(&lines))
        pages = proc_number_at(proc_field(lines.line, FIELD_DATA));
    return pages;
}

void proc_write_statm(struct proc_page *page)
{
    struct lines lines;

    if (!lines_open(&lines, page->path))
        return;
    while (lines_next(&lines)) {
        int64_t resident = proc_number_at(proc_field(lines.line, FIELD_DATA));

        for (int field = 1; field <= 7; field++) {
            int64_t value = field == FIELD_RESIDENT ? resident : proc_number_at(proc_field(lines.line, field));

            proc_put_number(page, field == 1 ? "" : " ", field == FIELD_SHARED ? 0 : value, "");
        }
        proc_put(page, "\n");
    }
}
