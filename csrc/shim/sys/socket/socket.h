/* Room sys/socket: sockets. An internet socket is one end of an AF_UNIX pair whose other end the server holds; AF_UNIX
 * sockets belong to the kernel, and only their waits are simulated.
 *
 * Owns the properties that an internet socket must show instead of those of the pair: addresses, options, errors,
 * ancillary data. May call sys/poll, sys/file (the name that bind makes), turn and below.
 */
#ifndef SIMUNIX_SYS_SOCKET_H
#define SIMUNIX_SYS_SOCKET_H

#include "shim/core/channel.h"
#include "shim/core/fd_kind.h"

#define SO_TYPE_OPTION 3
#define SO_ERROR_OPTION 4
#define SO_PROTOCOL_OPTION 38
#define SO_DOMAIN_OPTION 39

/* address.c */
int64_t address_ask(struct call *call, int op, int64_t id, int extra, struct reply *reply);
void address_store_reply(void *to, uint32_t *length, const struct reply *reply);
void netlink_store_address(void *to, uint32_t *length, uint32_t port);

/* socket.c */
long socket_finish(int fd, int flags);
bool socket_is_capable(unsigned capability);

/* connect.c */
long sys_connect(struct call *call);

/* bus.c */
bool bus_is_named(const struct call *call);
long bus_await(struct call *call, int tries);

/* netlink.c */
bool netlink_is_native_first(const struct call *call);
bool netlink_take_over(struct call *call, int fd, const struct message_header *message);
long netlink_bind_native(struct call *call, int fd);

/* family.c */
long socket_family_refused(struct call *call);
long socket_type_refused(struct call *call, long error);
long netlink_refused(struct call *call, long error);

/* interface.c */
bool interface_request(struct call *call, long *result);

/* ethtool.c */
long ethtool(bool is_loopback, uint32_t speed, void *data);

/* state.c */
int socket_take_error(int fd);
long socket_pending_error(struct call *call, const struct fd *fd);
long socket_received(struct call *call, const struct fd *fd, const struct message_header *message, int flags, long result);
void stream_more_follows(struct call *call, const struct fd *fd);
long stream_sent(struct call *call, const struct fd *fd, int flags, size_t size, long result);
#define ADDRESS_BYTES_MAX 128 /* struct sockaddr_storage */
bool stream_is(const struct process *process, int64_t id, enum simunix_stream what);
long socket_wait_to_receive(struct call *call, const struct fd *fd, int flags);
long socket_wait_to_send(struct call *call, const struct fd *fd, int timeout_option);
long socket_receive_urgent(int fd, struct message_header *message, int flags);
long socket_cannot_send(struct call *call, const struct fd *fd, int flags);

/* message.c */
long message_check(const struct message_header *message);
size_t message_size(const struct message_header *message);
size_t message_skip(const struct message_header *message, size_t done, struct iovec *rest, size_t room);
bool message_is_stream(int fd);
typedef long (*message_handler)(struct call *call, int fd, struct message_header *message, int flags);
long message_each(struct call *call, message_handler handler, bool stop_when_dry);

/* cmsg.c */
long cmsg_send(const struct message_header *message, struct simunix_datagram *header);
void cmsg_receive(const struct simunix_datagram *header, struct message_header *message);
void cmsg_correct_sender(struct message_header *message);
void cmsg_correct_time(struct thread *thread, struct message_header *message);

/* datagram.c */
long datagram_send(struct call *call, const struct fd *fd, const struct message_header *message, int flags);
long datagram_take_error(int fd);
long datagram_receive(struct call *call, const struct fd *fd, struct message_header *message, int flags);

#endif
