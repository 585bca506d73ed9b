/* The named constants of system-call arguments, in the order in which strace(1) shows them. Numbers are those of Linux on
 * x86-64.
 *
 * The tables are not formatted: with one constant to a line, the file would be half as long again. */
#include "shim/strace/strace.h"

/* clang-format off */

const struct strace_flag strace_access_modes[] = {
    {0x0, "F_OK"}, {0x4, "R_OK"}, {0x2, "W_OK"}, {0x1, "X_OK"},
    {0, ""},
};

const struct strace_flag strace_arch_prctl_codes[] = {
    {0x1001, "ARCH_SET_GS"}, {0x1002, "ARCH_SET_FS"}, {0x1003, "ARCH_GET_FS"}, {0x1004, "ARCH_GET_GS"},
    {0x1011, "ARCH_GET_CPUID"}, {0x1012, "ARCH_SET_CPUID"}, {0x3001, "ARCH_CET_STATUS"},
    {0, ""},
};

const struct strace_flag strace_at_flags[] = {
    {0x100, "AT_SYMLINK_NOFOLLOW"}, {0x200, "AT_REMOVEDIR"}, {0x400, "AT_SYMLINK_FOLLOW"}, {0x800, "AT_NO_AUTOMOUNT"},
    {0x1000, "AT_EMPTY_PATH"}, {0x2000, "AT_STATX_FORCE_SYNC"}, {0x4000, "AT_STATX_DONT_SYNC"},
    {0x8000, "AT_RECURSIVE"},
    {0, ""},
};

const struct strace_flag strace_clock_ids[] = {
    {0x0, "CLOCK_REALTIME"}, {0x1, "CLOCK_MONOTONIC"}, {0x2, "CLOCK_PROCESS_CPUTIME_ID"},
    {0x3, "CLOCK_THREAD_CPUTIME_ID"}, {0x4, "CLOCK_MONOTONIC_RAW"}, {0x5, "CLOCK_REALTIME_COARSE"},
    {0x6, "CLOCK_MONOTONIC_COARSE"}, {0x7, "CLOCK_BOOTTIME"}, {0x8, "CLOCK_REALTIME_ALARM"},
    {0x9, "CLOCK_BOOTTIME_ALARM"}, {0xa, "CLOCK_SGI_CYCLE"}, {0xb, "CLOCK_TAI"},
    {0, ""},
};

const struct strace_flag strace_clone_flags[] = {
    {0x80, "CLONE_NEWTIME"}, {0x100, "CLONE_VM"}, {0x200, "CLONE_FS"}, {0x400, "CLONE_FILES"},
    {0x800, "CLONE_SIGHAND"}, {0x1000, "CLONE_PIDFD"}, {0x2000, "CLONE_PTRACE"}, {0x4000, "CLONE_VFORK"},
    {0x8000, "CLONE_PARENT"}, {0x10000, "CLONE_THREAD"}, {0x20000, "CLONE_NEWNS"}, {0x40000, "CLONE_SYSVSEM"},
    {0x80000, "CLONE_SETTLS"}, {0x100000, "CLONE_PARENT_SETTID"}, {0x200000, "CLONE_CHILD_CLEARTID"},
    {0x400000, "CLONE_DETACHED"}, {0x800000, "CLONE_UNTRACED"}, {0x1000000, "CLONE_CHILD_SETTID"},
    {0x2000000, "CLONE_NEWCGROUP"}, {0x4000000, "CLONE_NEWUTS"}, {0x8000000, "CLONE_NEWIPC"},
    {0x10000000, "CLONE_NEWUSER"}, {0x20000000, "CLONE_NEWPID"}, {0x40000000, "CLONE_NEWNET"},
    {0x80000000, "CLONE_IO"}, {0x100000000, "CLONE_CLEAR_SIGHAND"}, {0x200000000, "CLONE_INTO_CGROUP"},
    {0, ""},
};

const struct strace_flag strace_close_range_flags[] = {
    {0x2, "CLOSE_RANGE_UNSHARE"}, {0x4, "CLOSE_RANGE_CLOEXEC"},
    {0, ""},
};

const struct strace_flag strace_descriptor_flags[] = {
    {0x80000, "O_CLOEXEC"}, {0x800, "O_NONBLOCK"}, {0x4000, "O_DIRECT"},
    {0, ""},
};

const struct strace_flag strace_epoll_ops[] = {
    {0x1, "EPOLL_CTL_ADD"}, {0x2, "EPOLL_CTL_DEL"}, {0x3, "EPOLL_CTL_MOD"},
    {0, ""},
};

const struct strace_flag strace_epoll_events[] = {
    {0x1, "EPOLLIN"}, {0x2, "EPOLLPRI"}, {0x4, "EPOLLOUT"}, {0x40, "EPOLLRDNORM"}, {0x80, "EPOLLRDBAND"},
    {0x100, "EPOLLWRNORM"}, {0x200, "EPOLLWRBAND"}, {0x400, "EPOLLMSG"}, {0x8, "EPOLLERR"}, {0x10, "EPOLLHUP"},
    {0x2000, "EPOLLRDHUP"}, {0x10000000, "EPOLLEXCLUSIVE"}, {0x20000000, "EPOLLWAKEUP"}, {0x40000000, "EPOLLONESHOT"},
    {0x80000000, "EPOLLET"},
    {0, ""},
};

const struct strace_flag strace_families[] = {
    {0x0, "AF_UNSPEC"}, {0x1, "AF_UNIX"}, {0x2, "AF_INET"}, {0xa, "AF_INET6"}, {0x10, "AF_NETLINK"},
    {0x11, "AF_PACKET"}, {0x26, "AF_ALG"}, {0x28, "AF_VSOCK"},
    {0, ""},
};

const struct strace_flag strace_fcntl_commands[] = {
    {0x0, "F_DUPFD"}, {0x1, "F_GETFD"}, {0x2, "F_SETFD"}, {0x3, "F_GETFL"}, {0x4, "F_SETFL"}, {0x5, "F_GETLK"},
    {0x6, "F_SETLK"}, {0x7, "F_SETLKW"}, {0x8, "F_SETOWN"}, {0x9, "F_GETOWN"}, {0xa, "F_SETSIG"}, {0xb, "F_GETSIG"},
    {0xf, "F_SETOWN_EX"}, {0x10, "F_GETOWN_EX"}, {0x24, "F_OFD_GETLK"}, {0x25, "F_OFD_SETLK"}, {0x26, "F_OFD_SETLKW"},
    {0x400, "F_SETLEASE"}, {0x401, "F_GETLEASE"}, {0x402, "F_NOTIFY"}, {0x406, "F_DUPFD_CLOEXEC"},
    {0x407, "F_SETPIPE_SZ"}, {0x408, "F_GETPIPE_SZ"}, {0x409, "F_ADD_SEALS"}, {0x40a, "F_GET_SEALS"},
    {0, ""},
};

const struct strace_flag strace_lock_types[] = {
    {0x0, "F_RDLCK"}, {0x1, "F_WRLCK"}, {0x2, "F_UNLCK"},
    {0, ""},
};

const struct strace_flag strace_flock_ops[] = {
    {0x1, "LOCK_SH"}, {0x2, "LOCK_EX"}, {0x8, "LOCK_UN"}, {0x4, "LOCK_NB"},
    {0, ""},
};

const struct strace_flag strace_futex_ops[] = {
    {0x0, "FUTEX_WAIT"}, {0x1, "FUTEX_WAKE"}, {0x2, "FUTEX_FD"}, {0x3, "FUTEX_REQUEUE"}, {0x4, "FUTEX_CMP_REQUEUE"},
    {0x5, "FUTEX_WAKE_OP"}, {0x6, "FUTEX_LOCK_PI"}, {0x7, "FUTEX_UNLOCK_PI"}, {0x8, "FUTEX_TRYLOCK_PI"},
    {0x9, "FUTEX_WAIT_BITSET"}, {0xa, "FUTEX_WAKE_BITSET"}, {0xb, "FUTEX_WAIT_REQUEUE_PI"},
    {0xc, "FUTEX_CMP_REQUEUE_PI"}, {0xd, "FUTEX_LOCK_PI2"},
    {0, ""},
};

const struct strace_flag strace_getrandom_flags[] = {
    {0x1, "GRND_NONBLOCK"}, {0x2, "GRND_RANDOM"}, {0x4, "GRND_INSECURE"},
    {0, ""},
};

const struct strace_flag strace_inotify_masks[] = {
    {0x1, "IN_ACCESS"}, {0x2, "IN_MODIFY"}, {0x4, "IN_ATTRIB"}, {0x8, "IN_CLOSE_WRITE"}, {0x10, "IN_CLOSE_NOWRITE"},
    {0x20, "IN_OPEN"}, {0x40, "IN_MOVED_FROM"}, {0x80, "IN_MOVED_TO"}, {0x100, "IN_CREATE"}, {0x200, "IN_DELETE"},
    {0x400, "IN_DELETE_SELF"}, {0x800, "IN_MOVE_SELF"}, {0x1000000, "IN_ONLYDIR"}, {0x2000000, "IN_DONT_FOLLOW"},
    {0x4000000, "IN_EXCL_UNLINK"}, {0x20000000, "IN_MASK_ADD"}, {0x80000000, "IN_ONESHOT"},
    {0, ""},
};

const struct strace_flag strace_ioctl_requests[] = {
    {0x5401, "TCGETS"}, {0x5402, "TCSETS"}, {0x5403, "TCSETSW"}, {0x5404, "TCSETSF"}, {0x540e, "TIOCSCTTY"},
    {0x540f, "TIOCGPGRP"}, {0x5410, "TIOCSPGRP"}, {0x5411, "TIOCOUTQ"}, {0x5413, "TIOCGWINSZ"},
    {0x5414, "TIOCSWINSZ"}, {0x541b, "FIONREAD"}, {0x5421, "FIONBIO"}, {0x5422, "TIOCNOTTY"}, {0x5450, "FIONCLEX"},
    {0x5451, "FIOCLEX"}, {0x5452, "FIOASYNC"}, {0x8910, "SIOCGIFNAME"}, {0x8912, "SIOCGIFCONF"},
    {0x8913, "SIOCGIFFLAGS"}, {0x8915, "SIOCGIFADDR"}, {0x8927, "SIOCGIFHWADDR"}, {0x8933, "SIOCGIFINDEX"},
    {0x40049409, "FICLONE"},
    {0, ""},
};

const struct strace_flag strace_itimers[] = {
    {0x0, "ITIMER_REAL"}, {0x1, "ITIMER_VIRTUAL"}, {0x2, "ITIMER_PROF"},
    {0, ""},
};

const struct strace_flag strace_madvices[] = {
    {0x0, "MADV_NORMAL"}, {0x1, "MADV_RANDOM"}, {0x2, "MADV_SEQUENTIAL"}, {0x3, "MADV_WILLNEED"},
    {0x4, "MADV_DONTNEED"}, {0x8, "MADV_FREE"}, {0x9, "MADV_REMOVE"}, {0xa, "MADV_DONTFORK"}, {0xb, "MADV_DOFORK"},
    {0xc, "MADV_MERGEABLE"}, {0xd, "MADV_UNMERGEABLE"}, {0xe, "MADV_HUGEPAGE"}, {0xf, "MADV_NOHUGEPAGE"},
    {0x10, "MADV_DONTDUMP"}, {0x11, "MADV_DODUMP"}, {0x12, "MADV_WIPEONFORK"}, {0x13, "MADV_KEEPONFORK"},
    {0x14, "MADV_COLD"}, {0x15, "MADV_PAGEOUT"},
    {0, ""},
};

const struct strace_flag strace_map_flags[] = {
    {0x3, "MAP_SHARED_VALIDATE"}, {0x1, "MAP_SHARED"}, {0x2, "MAP_PRIVATE"}, {0x10, "MAP_FIXED"},
    {0x20, "MAP_ANONYMOUS"}, {0x40, "MAP_32BIT"}, {0x4000, "MAP_NORESERVE"}, {0x8000, "MAP_POPULATE"},
    {0x10000, "MAP_NONBLOCK"}, {0x100, "MAP_GROWSDOWN"}, {0x800, "MAP_DENYWRITE"}, {0x1000, "MAP_EXECUTABLE"},
    {0x2000, "MAP_LOCKED"}, {0x20000, "MAP_STACK"}, {0x40000, "MAP_HUGETLB"}, {0x80000, "MAP_SYNC"},
    {0x100000, "MAP_FIXED_NOREPLACE"},
    {0, ""},
};

const struct strace_flag strace_memfd_flags[] = {
    {0x1, "MFD_CLOEXEC"}, {0x2, "MFD_ALLOW_SEALING"}, {0x4, "MFD_HUGETLB"}, {0x8, "MFD_NOEXEC_SEAL"},
    {0x10, "MFD_EXEC"},
    {0, ""},
};

const struct strace_flag strace_message_flags[] = {
    {0x1, "MSG_OOB"}, {0x2, "MSG_PEEK"}, {0x4, "MSG_DONTROUTE"}, {0x8, "MSG_CTRUNC"}, {0x10, "MSG_PROXY"},
    {0x20, "MSG_TRUNC"}, {0x40, "MSG_DONTWAIT"}, {0x80, "MSG_EOR"}, {0x100, "MSG_WAITALL"}, {0x200, "MSG_FIN"},
    {0x400, "MSG_SYN"}, {0x800, "MSG_CONFIRM"}, {0x1000, "MSG_RST"}, {0x2000, "MSG_ERRQUEUE"},
    {0x4000, "MSG_NOSIGNAL"}, {0x8000, "MSG_MORE"}, {0x10000, "MSG_WAITFORONE"}, {0x40000, "MSG_BATCH"},
    {0x4000000, "MSG_ZEROCOPY"}, {0x20000000, "MSG_FASTOPEN"}, {0x40000000, "MSG_CMSG_CLOEXEC"},
    {0, ""},
};

const struct strace_flag strace_mount_flags[] = {
    {0x1, "MS_RDONLY"}, {0x2, "MS_NOSUID"}, {0x4, "MS_NODEV"}, {0x8, "MS_NOEXEC"}, {0x10, "MS_SYNCHRONOUS"},
    {0x20, "MS_REMOUNT"}, {0x40, "MS_MANDLOCK"}, {0x80, "MS_DIRSYNC"}, {0x400, "MS_NOATIME"},
    {0x800, "MS_NODIRATIME"}, {0x1000, "MS_BIND"}, {0x2000, "MS_MOVE"}, {0x4000, "MS_REC"}, {0x8000, "MS_SILENT"},
    {0x20000, "MS_UNBINDABLE"}, {0x40000, "MS_PRIVATE"}, {0x80000, "MS_SLAVE"}, {0x100000, "MS_SHARED"},
    {0x200000, "MS_RELATIME"},
    {0, ""},
};

const struct strace_flag strace_mremap_flags[] = {
    {0x1, "MREMAP_MAYMOVE"}, {0x2, "MREMAP_FIXED"}, {0x4, "MREMAP_DONTUNMAP"},
    {0, ""},
};

const struct strace_flag strace_open_flags[] = {
    {0100, "O_CREAT"}, {0200, "O_EXCL"}, {0400, "O_NOCTTY"}, {01000, "O_TRUNC"}, {02000, "O_APPEND"},
    {04000, "O_NONBLOCK"}, {04010000, "O_SYNC"}, {020000, "O_ASYNC"}, {010000, "O_DSYNC"}, {040000, "O_DIRECT"},
    {0100000, "O_LARGEFILE"}, {0400000, "O_NOFOLLOW"}, {01000000, "O_NOATIME"}, {02000000, "O_CLOEXEC"},
    {010000000, "O_PATH"}, {020200000, "O_TMPFILE"}, {0200000, "O_DIRECTORY"},
    {0, ""},
};

const struct strace_flag strace_poll_events[] = {
    {0x1, "POLLIN"}, {0x2, "POLLPRI"}, {0x4, "POLLOUT"}, {0x40, "POLLRDNORM"}, {0x80, "POLLRDBAND"},
    {0x100, "POLLWRNORM"}, {0x200, "POLLWRBAND"}, {0x400, "POLLMSG"}, {0x1000, "POLLREMOVE"}, {0x2000, "POLLRDHUP"},
    {0x8, "POLLERR"}, {0x10, "POLLHUP"}, {0x20, "POLLNVAL"},
    {0, ""},
};

const struct strace_flag strace_prctl_options[] = {
    {0x1, "PR_SET_PDEATHSIG"}, {0x2, "PR_GET_PDEATHSIG"}, {0x3, "PR_GET_DUMPABLE"}, {0x4, "PR_SET_DUMPABLE"},
    {0x7, "PR_GET_KEEPCAPS"}, {0x8, "PR_SET_KEEPCAPS"}, {0xf, "PR_SET_NAME"}, {0x10, "PR_GET_NAME"},
    {0x15, "PR_GET_SECCOMP"}, {0x16, "PR_SET_SECCOMP"}, {0x17, "PR_CAPBSET_READ"}, {0x18, "PR_CAPBSET_DROP"},
    {0x1b, "PR_GET_SECUREBITS"}, {0x1c, "PR_SET_SECUREBITS"}, {0x1d, "PR_SET_TIMERSLACK"},
    {0x1e, "PR_GET_TIMERSLACK"}, {0x23, "PR_SET_MM"}, {0x24, "PR_SET_CHILD_SUBREAPER"},
    {0x25, "PR_GET_CHILD_SUBREAPER"}, {0x26, "PR_SET_NO_NEW_PRIVS"}, {0x27, "PR_GET_NO_NEW_PRIVS"},
    {0x28, "PR_GET_TID_ADDRESS"}, {0x29, "PR_SET_THP_DISABLE"}, {0x2f, "PR_CAP_AMBIENT"},
    {0x3b, "PR_SET_SYSCALL_USER_DISPATCH"}, {0x3e, "PR_SCHED_CORE"}, {0x53564d41, "PR_SET_VMA"},
    {0x59616d61, "PR_SET_PTRACER"},
    {0, ""},
};

const struct strace_flag strace_protections[] = {
    {0x0, "PROT_NONE"}, {0x1, "PROT_READ"}, {0x2, "PROT_WRITE"}, {0x4, "PROT_EXEC"}, {0x8, "PROT_SEM"},
    {0x1000000, "PROT_GROWSDOWN"}, {0x2000000, "PROT_GROWSUP"},
    {0, ""},
};

const struct strace_flag strace_protocols[] = {
    {0x0, "IPPROTO_IP"}, {0x1, "IPPROTO_ICMP"}, {0x6, "IPPROTO_TCP"}, {0x11, "IPPROTO_UDP"}, {0x29, "IPPROTO_IPV6"},
    {0x3a, "IPPROTO_ICMPV6"}, {0x84, "IPPROTO_SCTP"}, {0xff, "IPPROTO_RAW"},
    {0, ""},
};

const struct strace_flag strace_resources[] = {
    {0x0, "RLIMIT_CPU"}, {0x1, "RLIMIT_FSIZE"}, {0x2, "RLIMIT_DATA"}, {0x3, "RLIMIT_STACK"}, {0x4, "RLIMIT_CORE"},
    {0x5, "RLIMIT_RSS"}, {0x6, "RLIMIT_NPROC"}, {0x7, "RLIMIT_NOFILE"}, {0x8, "RLIMIT_MEMLOCK"}, {0x9, "RLIMIT_AS"},
    {0xa, "RLIMIT_LOCKS"}, {0xb, "RLIMIT_SIGPENDING"}, {0xc, "RLIMIT_MSGQUEUE"}, {0xd, "RLIMIT_NICE"},
    {0xe, "RLIMIT_RTPRIO"}, {0xf, "RLIMIT_RTTIME"},
    {0, ""},
};

const struct strace_flag strace_seeks[] = {
    {0x0, "SEEK_SET"}, {0x1, "SEEK_CUR"}, {0x2, "SEEK_END"}, {0x3, "SEEK_DATA"}, {0x4, "SEEK_HOLE"},
    {0, ""},
};

const struct strace_flag strace_shutdowns[] = {
    {0x0, "SHUT_RD"}, {0x1, "SHUT_WR"}, {0x2, "SHUT_RDWR"},
    {0, ""},
};

const struct strace_flag strace_sigaction_flags[] = {
    {0x4000000, "SA_RESTORER"}, {0x8000000, "SA_ONSTACK"}, {0x10000000, "SA_RESTART"}, {0x40000000, "SA_NODEFER"},
    {0x80000000, "SA_RESETHAND"}, {0x1, "SA_NOCLDSTOP"}, {0x2, "SA_NOCLDWAIT"}, {0x4, "SA_SIGINFO"},
    {0, ""},
};

const struct strace_flag strace_sigmask_hows[] = {
    {0x0, "SIG_BLOCK"}, {0x1, "SIG_UNBLOCK"}, {0x2, "SIG_SETMASK"},
    {0, ""},
};

const struct strace_flag strace_siginfo_codes[] = {
    {0x0, "SI_USER"}, {0x80, "SI_KERNEL"}, {0xffffffff, "SI_QUEUE"}, {0xfffffffe, "SI_TIMER"},
    {0xfffffffd, "SI_MESGQ"}, {0xfffffffc, "SI_ASYNCIO"}, {0xfffffffb, "SI_SIGIO"}, {0xfffffffa, "SI_TKILL"},
    {0, ""},
};

const struct strace_flag strace_child_codes[] = {
    {0x1, "CLD_EXITED"}, {0x2, "CLD_KILLED"}, {0x3, "CLD_DUMPED"}, {0x4, "CLD_TRAPPED"}, {0x5, "CLD_STOPPED"},
    {0x6, "CLD_CONTINUED"},
    {0, ""},
};

const struct strace_flag strace_fault_codes[] = {
    {0x1, "SEGV_MAPERR"}, {0x2, "SEGV_ACCERR"}, {0x3, "SEGV_BNDERR"}, {0x4, "SEGV_PKUERR"},
    {0, ""},
};

const struct strace_flag strace_socket_flags[] = {
    {0x80000, "SOCK_CLOEXEC"}, {0x800, "SOCK_NONBLOCK"},
    {0, ""},
};

const struct strace_flag strace_socket_levels[] = {
    {0x0, "SOL_IP"}, {0x1, "SOL_SOCKET"}, {0x6, "SOL_TCP"}, {0x11, "SOL_UDP"}, {0x29, "SOL_IPV6"},
    {0x3a, "SOL_ICMPV6"}, {0x107, "SOL_PACKET"}, {0x10e, "SOL_NETLINK"},
    {0, ""},
};

const struct strace_flag strace_socket_types[] = {
    {0x1, "SOCK_STREAM"}, {0x2, "SOCK_DGRAM"}, {0x3, "SOCK_RAW"}, {0x4, "SOCK_RDM"}, {0x5, "SOCK_SEQPACKET"},
    {0xa, "SOCK_PACKET"},
    {0, ""},
};

const struct strace_flag strace_socket_options[] = {
    {0x1, "SO_DEBUG"}, {0x2, "SO_REUSEADDR"}, {0x3, "SO_TYPE"}, {0x4, "SO_ERROR"}, {0x5, "SO_DONTROUTE"},
    {0x6, "SO_BROADCAST"}, {0x7, "SO_SNDBUF"}, {0x8, "SO_RCVBUF"}, {0x9, "SO_KEEPALIVE"}, {0xa, "SO_OOBINLINE"},
    {0xb, "SO_NO_CHECK"}, {0xc, "SO_PRIORITY"}, {0xd, "SO_LINGER"}, {0xe, "SO_BSDCOMPAT"}, {0xf, "SO_REUSEPORT"},
    {0x10, "SO_PASSCRED"}, {0x11, "SO_PEERCRED"}, {0x12, "SO_RCVLOWAT"}, {0x13, "SO_SNDLOWAT"},
    {0x14, "SO_RCVTIMEO_OLD"}, {0x15, "SO_SNDTIMEO_OLD"}, {0x19, "SO_BINDTODEVICE"}, {0x1a, "SO_ATTACH_FILTER"},
    {0x1b, "SO_DETACH_FILTER"}, {0x1c, "SO_PEERNAME"}, {0x1d, "SO_TIMESTAMP_OLD"}, {0x1e, "SO_ACCEPTCONN"},
    {0x1f, "SO_PEERSEC"}, {0x20, "SO_SNDBUFFORCE"}, {0x21, "SO_RCVBUFFORCE"}, {0x22, "SO_PASSSEC"}, {0x24, "SO_MARK"},
    {0x26, "SO_PROTOCOL"}, {0x27, "SO_DOMAIN"}, {0x29, "SO_WIFI_STATUS"}, {0x2a, "SO_PEEK_OFF"},
    {0x2e, "SO_BUSY_POLL"}, {0x3b, "SO_PEERGROUPS"}, {0x4d, "SO_PEERPIDFD"},
    {0, ""},
};

const struct strace_flag strace_tcp_options[] = {
    {0x1, "TCP_NODELAY"}, {0x2, "TCP_MAXSEG"}, {0x3, "TCP_CORK"}, {0x4, "TCP_KEEPIDLE"}, {0x5, "TCP_KEEPINTVL"},
    {0x6, "TCP_KEEPCNT"}, {0x7, "TCP_SYNCNT"}, {0x8, "TCP_LINGER2"}, {0x9, "TCP_DEFER_ACCEPT"},
    {0xa, "TCP_WINDOW_CLAMP"}, {0xb, "TCP_INFO"}, {0xc, "TCP_QUICKACK"}, {0xd, "TCP_CONGESTION"}, {0xe, "TCP_MD5SIG"},
    {0x12, "TCP_USER_TIMEOUT"}, {0x17, "TCP_FASTOPEN"}, {0x1e, "TCP_FASTOPEN_CONNECT"},
    {0, ""},
};

const struct strace_flag strace_ip_options[] = {
    {0x1, "IP_TOS"}, {0x2, "IP_TTL"}, {0x8, "IP_PKTINFO"}, {0xa, "IP_MTU_DISCOVER"}, {0xb, "IP_RECVERR"},
    {0xe, "IP_MTU"}, {0xf, "IP_FREEBIND"}, {0x18, "IP_BIND_ADDRESS_NO_PORT"}, {0x20, "IP_MULTICAST_IF"},
    {0x21, "IP_MULTICAST_TTL"}, {0x22, "IP_MULTICAST_LOOP"}, {0x23, "IP_ADD_MEMBERSHIP"},
    {0, ""},
};

const struct strace_flag strace_ipv6_options[] = {
    {0x10, "IPV6_UNICAST_HOPS"}, {0x17, "IPV6_MTU_DISCOVER"}, {0x19, "IPV6_RECVERR"}, {0x1a, "IPV6_V6ONLY"},
    {0x31, "IPV6_RECVPKTINFO"}, {0x43, "IPV6_TCLASS"},
    {0, ""},
};

const struct strace_flag strace_splice_flags[] = {
    {0x1, "SPLICE_F_MOVE"}, {0x2, "SPLICE_F_NONBLOCK"}, {0x4, "SPLICE_F_MORE"}, {0x8, "SPLICE_F_GIFT"},
    {0, ""},
};

const struct strace_flag strace_timer_flags[] = {
    {0x1, "TIMER_ABSTIME"},
    {0, ""},
};

const struct strace_flag strace_timerfd_set_flags[] = {
    {0x1, "TFD_TIMER_ABSTIME"}, {0x2, "TFD_TIMER_CANCEL_ON_SET"},
    {0, ""},
};

const struct strace_flag strace_epoll_flags[] = {
    {0x80000, "EPOLL_CLOEXEC"},
    {0, ""},
};

const struct strace_flag strace_eventfd_flags[] = {
    {0x1, "EFD_SEMAPHORE"}, {0x80000, "EFD_CLOEXEC"}, {0x800, "EFD_NONBLOCK"},
    {0, ""},
};

const struct strace_flag strace_signalfd_flags[] = {
    {0x80000, "SFD_CLOEXEC"}, {0x800, "SFD_NONBLOCK"},
    {0, ""},
};

const struct strace_flag strace_timerfd_flags[] = {
    {0x80000, "TFD_CLOEXEC"}, {0x800, "TFD_NONBLOCK"},
    {0, ""},
};

const struct strace_flag strace_inotify_flags[] = {
    {0x80000, "IN_CLOEXEC"}, {0x800, "IN_NONBLOCK"},
    {0, ""},
};

const struct strace_flag strace_pidfd_flags[] = {
    {0x800, "PIDFD_NONBLOCK"}, {0x80, "PIDFD_THREAD"},
    {0, ""},
};

const struct strace_flag strace_usage_whos[] = {
    {0x0, "RUSAGE_SELF"}, {0xffffffff, "RUSAGE_CHILDREN"}, {0x1, "RUSAGE_THREAD"},
    {0, ""},
};

const struct strace_flag strace_wait_ids[] = {
    {0x0, "P_ALL"}, {0x1, "P_PID"}, {0x2, "P_PGID"}, {0x3, "P_PIDFD"},
    {0, ""},
};

const struct strace_flag strace_wait_options[] = {
    {0x1, "WNOHANG"}, {0x2, "WSTOPPED"}, {0x4, "WEXITED"}, {0x8, "WCONTINUED"}, {0x1000000, "WNOWAIT"},
    {0x20000000, "__WNOTHREAD"}, {0x40000000, "__WALL"}, {0x80000000, "__WCLONE"},
    {0, ""},
};
