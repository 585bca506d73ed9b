/* Names by number, from the table of syscalls.def. */
#include "shared/syscall_names.h"

#include <asm/unistd.h>
#include <stddef.h>

#include "tables/newer_syscalls.h"

#define NAMES_MAX 512
#define NAME(name) [__NR_##name] = #name,
#define SIMULATE(name, handler) NAME(name)
#define QUIET_SIMULATE(name, handler) NAME(name)
#define PASS(name, why) NAME(name)
#define QUIET_PASS(name, why) NAME(name)
#define REFUSE(name, error, why) NAME(name)
#define REFUSE_AFTER(name, error, why, handler) NAME(name)
static const char names[NAMES_MAX][32] = {
#include "tables/syscalls.def"
};

const char *syscall_name(long number)
{
    return number >= 0 && number < NAMES_MAX && names[number][0] != '\0' ? names[number] : "unknown";
}
