/* Options of mounts in a contained host, whose ids differ from the kernel's (csrc/hostinit/containment/mounts.c): shows
 * them as on a real computer. */
#include "shim/core/memory.h"
#include "shim/sys/procfs/procfs.h"

#define IDS 2147483648UL /* csrc/hostinit/containment/mounts.c: FIRST_ID */

static uint64_t number_of(const char *text)
{
    uint64_t number = 0;

    while (*text >= '0' && *text <= '9')
        number = 10 * number + (uint64_t)(*text++ - '0');
    return number;
}

/* Remove a word from a list with commas. Returns false if the list does not contain the word. */
static bool take_word(char *list, const char *word)
{
    size_t length = text_length(word);

    for (char *at = list; *at != '\0'; at++)
        if (at[0] == ',' && text_starts(at + 1, word) && (at[1 + length] == ',' || at[1 + length] == '\0')) {
            for (char *from = at + 1 + length; (*at = *from) != '\0'; at++, from++)
                ;
            return true;
        }
    return false;
}

/* "uid=2147483653": the kernel tells the number that an id of a contained host has outside That of root
 * is not told, as on a real computer. */
static void translate_owner(char *list, const char *name)
{
    char *from = list;
    char *to = list;

    while (*from != '\0') {
        char *digits = from + 1 + text_length(name);
        uint64_t number = from[0] == ',' && text_starts(from + 1, name) ? number_of(digits) : 0;

        if (number < IDS) {
            *to++ = *from++;
            continue;
        }
        for (from = digits; *from >= '0' && *from <= '9';)
            from++;
        if (number > IDS) {
            char kept = *from; /* the place of the final zero, after so many digits */

            to = text_append(text_append(to, to + 2, ","), to + 8, name);
            to = text_append_number(to, to + 12, (int64_t)(number - IDS));
            *from = kept;
        }
    }
    *to = '\0';
}

/* Remove the options that exist only because the host is contained. */
void mount_without_containment(char *options, char *super)
{
    if (take_word(options, "idmapped"))
        take_word(options, "nodev");
    translate_owner(super, "uid=");
    translate_owner(super, "gid=");
}
