/* Finds out how long an instruction is, and whether it may be moved elsewhere, by tables of opcodes with a letter for
 * each. */
#include "shim/entry/entry.h"

/* What follows an opcode:
 *   -  nothing            m  ModRM               b  one byte       z  four bytes (two behind 0x66)
 *   M  ModRM and a byte   Z  ModRM and z         w  two bytes      v  z, or eight bytes behind REX.W
 *   q  eight bytes        e  three bytes         T  ModRM, and a byte for `test`    U  ModRM, and z for `test`
 *   j  a jump's byte      J  a jump's four bytes
 *   r  nothing            R  two bytes           F  ModRM          (these three do not go on behind it, or not always)
 *   x  no instruction in 64-bit mode, or one that no compiler makes            .  a prefix
 */
static const char one_byte[] = "mmmmbzxxmmmmbzx." /* 0x00 */
                               "mmmmbzxxmmmmbzxx"
                               "mmmmbz.xmmmmbz.x"
                               "mmmmbz.xmmmmbz.x"
                               "................" /* 0x40 */
                               "----------------"
                               "xx.m....zZbM----"
                               "jjjjjjjjjjjjjjjj"
                               "MZxMmmmmmmmmmmmm" /* 0x80 */
                               "----------x-----"
                               "qqqq----bz------"
                               "bbbbbbbbvvvvvvvv"
                               "MMRr..MZe-Rrrxxr" /* 0xc0 */
                               "mmmmxxx-mmmmmmmm"
                               "jjjjbbbbJJxj----"
                               ".x..--TU------mF";

/* Behind 0x0f. */
static const char two_bytes[] = "mmmmxr----xrxm-x" /* 0x00 */
                                "mmmmmmmmmmmmmmmm"
                                "mmmmxxxxmmmmmmmm"
                                "------x-.x.xxxxx"
                                "mmmmmmmmmmmmmmmm" /* 0x40 */
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "MMMMmmm-mmmmmmmm"
                                "JJJJJJJJJJJJJJJJ" /* 0x80 */
                                "mmmmmmmmmmmmmmmm"
                                "---mMmxx---mMmmm"
                                "mmmmmmmmmmMmmmmm"
                                "mmMmMMMm--------" /* 0xc0 */
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm";

_Static_assert(sizeof one_byte == 257 && sizeof two_bytes == 257, "a letter for each opcode");

/* An instruction up to its opcode, which is included. */
struct head {
    const uint8_t *at; /* the address after the opcode */
    char follows;
    bool is_short; /* 0x66: the operand has two bytes */
    bool is_wide;  /* REX.W */
};

/* The maps of opcodes behind 0x0f, and behind VEX and EVEX: 1 is two_bytes, 2 is 0x0f 0x38, 3 is 0x0f 0x3a, 5 and 6 are of
 * AVX-512. */
static char in_map(unsigned map, uint8_t opcode)
{
    static const char of_map[] = "x1mMxmm";
    char follows = map < sizeof of_map - 1 ? of_map[map] : 'x';

    return follows == '1' ? two_bytes[opcode] : follows;
}

static struct head after_escape(struct head head)
{
    uint8_t opcode = *head.at++;
    unsigned map = opcode == 0x38 ? 2 : opcode == 0x3a ? 3 : 1;

    if (map != 1)
        opcode = *head.at++;
    head.follows = in_map(map, opcode);
    return head;
}

static struct head read_head(const uint8_t *at)
{
    struct head head = {.at = at};
    uint8_t byte;

    while (one_byte[byte = *head.at++] == '.') {
        if (byte == 0x0f)
            return after_escape(head);
        if (byte == 0xc5 || byte == 0xc4 || byte == 0x62) { /* VEX of two and three bytes, EVEX */
            unsigned more = byte == 0xc5 ? 1 : byte == 0xc4 ? 2 : 3;
            unsigned map = byte == 0xc5 ? 1 : *head.at & (byte == 0xc4 ? 0x1f : 7);

            head.follows = in_map(map, head.at[more]);
            head.at += more + 1;
            return head;
        }
        head.is_short |= byte == 0x66;
        head.is_wide = (byte & 0xf8) == 0x48; /* the last prefix, or of no effect */
        if (head.at - at > 14) {
            head.follows = 'x';
            return head;
        }
    }
    head.follows = one_byte[byte];
    return head;
}

/* Return the length of ModRM, SIB and displacement. */
static unsigned operand_bytes(const uint8_t *modrm, bool *is_relative)
{
    unsigned mode = modrm[0] >> 6;
    bool has_sib = mode != 3 && (modrm[0] & 7) == 4;

    *is_relative = mode == 0 && (modrm[0] & 7) == 5;
    if (*is_relative || (mode == 0 && has_sib && (modrm[1] & 7) == 5) || mode == 2)
        return 5 + has_sib;
    return 1 + has_sib + (mode == 1);
}

static unsigned immediate_bytes(const struct head *head, unsigned extension)
{
    unsigned z = head->is_short && !head->is_wide ? 2 : 4;

    switch (head->follows) {
    case 'b':
    case 'M':
    case 'j':
        return 1;
    case 'w':
    case 'R':
        return 2;
    case 'e':
        return 3;
    case 'J':
        return 4;
    case 'q':
        return 8;
    case 'z':
    case 'Z':
        return z;
    case 'v':
        return head->is_wide ? 8 : z;
    case 'T':
        return extension < 2 ? 1 : 0;
    case 'U':
        return extension < 2 ? z : 0;
    default:
        return 0;
    }
}

static bool is_one_of(char letter, const char *letters)
{
    while (*letters != '\0' && *letters != letter)
        letters++;
    return *letters != '\0';
}

/* Return the instruction at an address. The length is 0 if the instruction is not known. */
struct instruction instruction_at(const uint8_t *at)
{
    struct instruction result = {0};
    struct head head = read_head(at);
    unsigned extension = *head.at >> 3 & 7;
    bool is_relative = false;
    unsigned operands = is_one_of(head.follows, "mMZTUF") ? operand_bytes(head.at, &is_relative) : 0;

    if (head.follows == 'x')
        return result;
    if (is_relative)
        result.displacement = (unsigned)(head.at - at) + 1;
    result.leads_elsewhere = is_one_of(head.follows, "jJrR") || (head.follows == 'F' && extension >= 2 && extension <= 5);
    result.length = (unsigned)(head.at - at) + operands + immediate_bytes(&head, extension);
    return result;
}
