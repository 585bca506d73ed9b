/* Names of system calls by number, from the table syscalls.def. */
#include "shared/syscall_names.h"

#include <asm/unistd.h>
#include <stddef.h>

#include "tables/newer_syscalls.h"

#define NAMES_MAX 512
#define SIMULATE(name, handler) NAME(name)
#define QUIET_SIMULATE(name, handler) NAME(name)
#define PASS(name, why) NAME(name)
#define QUIET_PASS(name, why) NAME(name)
#define REFUSE(name, error, why) NAME(name)
#define REFUSE_AFTER(name, error, why, handler) NAME(name)

/* All names in one text, and the beginning of each name: in this form the preload library stays small (SPAN_BYTES of
 * csrc/build/build_shim.py). */
static const struct names {
    char unknown[sizeof "unknown"];
#define NAME(name) char call_##name[sizeof #name];
#include "tables/syscalls.def"
#undef NAME
} names = {
    "unknown",
#define NAME(name) #name,
#include "tables/syscalls.def"
#undef NAME
};
static const unsigned short begins[NAMES_MAX] = {
#define NAME(name) [__NR_##name] = offsetof(struct names, call_##name),
#include "tables/syscalls.def"
};

const char *syscall_name(long number)
{
    return (const char *)&names + (number >= 0 && number < NAMES_MAX ? begins[number] : 0);
}
