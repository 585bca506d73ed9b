/* What shims and server say of simulated sockets, besides the operations that any socket has. A part of protocol.h, and read as
 * that is: nothing but enums, structs and integer defines. */
#ifndef SIMUNIX_SOCKET_PROTOCOL_H
#define SIMUNIX_SOCKET_PROTOCOL_H

#include <stdint.h>

#define SIMUNIX_LATE_MOST 3072

/* Simulated sockets are known by their peer's abstract AF_UNIX name: "\0simunix:" type ":" 8 hex digits of the id. */
#define SIMUNIX_SOCKET_NAME_LENGTH 19 /* what follows (":" and the run's tag) keeps two runs apart */

/* A datagram between shim and server starts with this; error, if not 0, stands for an ICMP error and has no payload. */
struct simunix_datagram {
    uint8_t family; /* 4, 6; 0 = the connected peer */
    uint8_t error;
    uint16_t port;
    uint8_t address[16];
    uint8_t hop_limit;
    uint8_t traffic_class;
    uint8_t fields; /* DATAGRAM_ bits: what the sender has given, what the receiver wants to know */
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
    DATAGRAM_MORE = 64 /* of a sender: what is sent next joins this one */
};

/* What the server knows of streams, at SIMUNIX_STREAMS_OFFSET: each has an entry by its number, which the next one of that
 * place takes over. A stream that is not there must be asked about. */
enum simunix_stream {
    STREAM_CONNECTED = 0, /* and has no error to tell */
    STREAM_LISTENS = 1U << 31,
    STREAM_READS_NO_MORE = 1U << 30, /* it has been shut down for reading: OP_LATE has what comes all the same */
    STREAM_MORE = 1U << 29           /* what was sent last was sent with MSG_MORE */
};
#define SIMUNIX_STREAM_BITS 3758096384

#endif
