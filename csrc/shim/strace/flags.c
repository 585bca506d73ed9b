/* Prints named constants, from one table for each family: as a value or as a set of bits; and signals. */
#include "shim/strace/strace.h"

const char *strace_flag_name(const struct strace_flag *table, uint64_t value)
{
    for (; table->name[0] != '\0'; table++)
        if (table->value == value)
            return table->name;
    return NULL;
}

/* Print a value without a name, with the family that it should belong to: the first word that the names of the table
 * share. */
static void put_unknown(struct trace *trace, const struct strace_flag *table, uint64_t value)
{
    strace_put_hex(trace, value);
    strace_put(trace, " /* ");
    for (const char *name = table->name; *name != '\0' && *name != '_'; name++)
        strace_put_char(trace, *name);
    strace_put(trace, "_??? */");
}

void strace_put_value(struct trace *trace, const struct strace_flag *table, uint64_t value)
{
    const char *name = strace_flag_name(table, value);

    if (name != NULL)
        strace_put(trace, name);
    else
        put_unknown(trace, table, value);
}

/* Print names joined by |. An entry with value 0 names the empty set; an entry with several bits comes before those of
 * its single bits. */
void strace_put_flags(struct trace *trace, const struct strace_flag *table, uint64_t value)
{
    uint64_t rest = value;
    bool first = true;

    for (const struct strace_flag *flag = table; flag->name[0] != '\0'; flag++) {
        if (flag->value == 0 ? value != 0 : (rest & flag->value) != flag->value)
            continue;
        if (!first)
            strace_put_char(trace, '|');
        strace_put(trace, flag->name);
        first = false;
        rest &= ~flag->value;
    }
    if (first && rest == 0) {
        strace_put_char(trace, '0');
    } else if (first) {
        put_unknown(trace, table, rest);
    } else if (rest != 0) {
        strace_put_char(trace, '|');
        strace_put_hex(trace, rest);
    }
}

static const char signal_names[32][8] = {
    "0",    "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
    "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
    "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "IO",   "PWR",  "SYS",
};

static void put_bare_signal(struct trace *trace, int number)
{
    if (number < 32) {
        strace_put(trace, signal_names[number]);
    } else if (number == 32) {
        strace_put(trace, "RTMIN");
    } else {
        strace_put(trace, "RT_");
        strace_put_number(trace, number - 32);
    }
}

void strace_put_signal(struct trace *trace, int number)
{
    if (number <= 0 || number > 64) {
        strace_put_number(trace, number);
        return;
    }
    strace_put(trace, "SIG");
    put_bare_signal(trace, number);
}

static int count_bits(uint64_t set)
{
    int count = 0;

    for (; set != 0; set &= set - 1)
        count++;
    return count;
}

/* Print a set of signals as `[INT CHLD]`, or, if most signals are in it, what is missing: `~[RTMIN RT_1]`. */
void strace_put_signal_set(struct trace *trace, uint64_t set)
{
    bool inverted = count_bits(set) >= 64 * 2 / 3;
    bool first = true;

    strace_put(trace, inverted ? "~[" : "[");
    for (int number = 1; number <= 64; number++) {
        if (((set & SIGNAL_BIT(number)) != 0) == inverted)
            continue;
        if (!first)
            strace_put_char(trace, ' ');
        put_bare_signal(trace, number);
        first = false;
    }
    strace_put_char(trace, ']');
}
