/* SIOCETHTOOL: speed and state of a link, in both forms that programs ask for. */
#include "shim/core/memory.h"
#include "shim/sys/socket/socket.h"

#define GET_SETTINGS 0x1
#define GET_DRIVER 0x3
#define GET_LINK 0xa
#define GET_LINK_SETTINGS 0x4c
#define FULL_DUPLEX 1
#define OTHER_PORT 0xff
#define MASK_WORDS 1

/* linux/ethtool.h: struct ethtool_cmd */
struct settings {
    uint32_t command, supported, advertising;
    uint16_t speed;
    uint8_t duplex, port, address, transceiver, negotiates, clause;
    uint32_t most_sent, most_received;
    uint16_t speed_high;
    uint8_t crossing, crossing_control;
    uint32_t partner, reserved[2];
};

/* struct ethtool_link_settings, with masks of one word */
struct link_settings {
    uint32_t command, speed;
    uint8_t duplex, port, address, negotiates, clause, crossing, crossing_control;
    int8_t mask_words;
    uint8_t transceiver, main_wanted, main_state, rate_matching;
    uint32_t reserved[7];
    uint32_t masks[3 * MASK_WORDS];
};

/* struct ethtool_drvinfo */
struct driver {
    uint32_t command;
    char name[32], version[32], firmware[32], bus[32], expansion[32], reserved[12];
    uint32_t counts[5];
};

struct link_state {
    uint32_t command, is_up;
};

_Static_assert(sizeof(struct settings) == 44, "linux/ethtool.h: struct ethtool_cmd");
_Static_assert(__builtin_offsetof(struct link_settings, masks) == 48, "linux/ethtool.h: struct ethtool_link_settings");
_Static_assert(sizeof(struct driver) == 196, "linux/ethtool.h: struct ethtool_drvinfo");

static long tell_settings(uint32_t speed, struct settings *settings)
{
    *settings = (struct settings){
        .command = GET_SETTINGS,
        .speed = (uint16_t)speed,
        .speed_high = (uint16_t)(speed >> 16),
        .duplex = FULL_DUPLEX,
        .port = OTHER_PORT,
    };
    return 0;
}

/* A program that asks with a wrong length of masks gets the right length as a negative number, and asks again: see
 * ETHTOOL_GLINKSETTINGS. */
static long tell_link_settings(uint32_t speed, struct link_settings *settings)
{
    bool is_handshake = settings->mask_words != MASK_WORDS;

    memset(settings, 0, __builtin_offsetof(struct link_settings, masks));
    settings->command = GET_LINK_SETTINGS;
    settings->mask_words = is_handshake ? -MASK_WORDS : MASK_WORDS;
    if (is_handshake)
        return 0;
    memset(settings->masks, 0, sizeof settings->masks);
    settings->speed = speed;
    settings->duplex = FULL_DUPLEX;
    settings->port = OTHER_PORT;
    return 0;
}

static long tell_driver(struct driver *driver)
{
    *driver = (struct driver){.command = GET_DRIVER, .name = "simunix"};
    return 0;
}

long ethtool(bool is_loopback, uint32_t speed, void *data)
{
    if (is_bad_pointer(data))
        return -EFAULT;
    switch (*(uint32_t *)data) {
    case GET_LINK:
        ((struct link_state *)data)->is_up = 1;
        return 0;
    case GET_SETTINGS:
        return is_loopback ? -EOPNOTSUPP : tell_settings(speed, data);
    case GET_LINK_SETTINGS:
        return is_loopback ? -EOPNOTSUPP : tell_link_settings(speed, data);
    case GET_DRIVER:
        return is_loopback ? -EOPNOTSUPP : tell_driver(data);
    default:
        return -EOPNOTSUPP;
    }
}
