/* The values about simulated sockets that shims and server exchange, besides the operations that any socket has. This file
 * is a part of protocol.h and, like it, contains only enums, structs and integer defines. */
#ifndef SIMUNIX_SOCKET_PROTOCOL_H
#define SIMUNIX_SOCKET_PROTOCOL_H

#include <stdint.h>

#define SIMUNIX_LATE_MOST 3072

/* A shim knows a simulated socket by the abstract AF_UNIX name of its peer: "\0simunix:" type ":" 8 hex digits of the
 * socket's number. */
#define SIMUNIX_SOCKET_NAME_LENGTH 19 /* what follows (":" and the run's tag) makes the names of two runs differ */

/* The header of each datagram between shim and server. If `error` is not 0, the datagram reports an ICMP error and has
 * no payload. */
struct simunix_datagram {
    uint8_t family; /* 4 or 6; 0: the connected peer */
    uint8_t error;
    uint16_t port;
    uint8_t address[16];
    uint8_t hop_limit;
    uint8_t traffic_class;
    uint8_t fields; /* DATAGRAM_ bits: the fields that the sender has set, or that the receiver wants to see */
    uint8_t unused;
    uint8_t destination[16];
    int64_t arrived_ns; /* CLOCK_REALTIME */
};

enum simunix_datagram_fields {
    DATAGRAM_HOP_LIMIT = 1,
    DATAGRAM_TRAFFIC_CLASS = 2,
    DATAGRAM_DESTINATION = 4,
    DATAGRAM_TIME = 8,
    DATAGRAM_TIME_NS = 16,
    DATAGRAM_TIMES = 32,
    DATAGRAM_MORE = 64 /* from a sender: the bytes that are sent next are joined to this datagram */
};

/* The state of a TCP socket as the server knows it, in a table at SIMUNIX_STREAMS_OFFSET. A socket has an entry by its
 * number modulo the table's size, which a later socket overwrites. About a socket without an entry the shim must ask
 * the server. */
enum simunix_stream {
    STREAM_CONNECTED = 0, /* connected, and without an error to report */
    STREAM_LISTENS = 1U << 31,
    STREAM_READS_NO_MORE = 1U << 30, /* shut down for reading: OP_LATE returns the bytes that come nevertheless */
    STREAM_MORE = 1U << 29           /* the last bytes were sent with MSG_MORE */
};
#define SIMUNIX_STREAM_BITS 3758096384

#endif
