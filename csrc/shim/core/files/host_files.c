/* On hosts that share this computer's file system (no namespaces), a few files must still be the host's own: its name,
 * the addresses of all hosts, its processors, its log-ins. These files are opened in a folder that is laid out like the
 * root of the host. */
#include "shim/core/core.h"
#include "shim/core/memory.h"

static bool may_be_own(const char *path)
{
    return text_starts(path, "/etc/") || text_starts(path, "/proc/") || text_starts(path, "/sys/") ||
           text_starts(path, "/var/log/");
}

/* Return the path to open instead of `path`; if it is another one, it is built in `text`. */
const char *host_file(const struct process *process, const char *path, char *text, size_t size)
{
    if (process->host.files[0] == '\0' || !may_be_own(path))
        return path;
    text_append(text_append(text, text + size, process->host.files), text + size, path);
    return NATIVE(faccessat, AT_FDCWD, text, 4) == 0 ? text : path;
}
