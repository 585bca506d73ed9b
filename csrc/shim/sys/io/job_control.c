/* Job control of terminals: does what the kernel does if a process in the background uses its terminal
 * (tty_check_change of the kernel). In the shim every signal is blocked, so the kernel would take the signal for one
 * that the application blocks. */
#include "shim/core/channel.h"
#include "shim/sys/io/io.h"
#include "shim/turn/turn.h"

#define TCGETS 0x5401
#define TIOCGPGRP 0x540fUL
#define TIOCSPGRP 0x5410U
#define TOSTOP 0x100U

/* Requests of ioctl_tty(2) that the background may not make. */
static const uint32_t requests[] = {
    0x5402,     0x5403,     0x5404,     /* TCSETS, TCSETSW, TCSETSF */
    0x5406,     0x5407,     0x5408,     /* TCSETA, TCSETAW, TCSETAF */
    0x402c542b, 0x402c542c, 0x402c542d, /* TCSETS2, TCSETSW2, TCSETSF2 */
    0x5409,     0x540a,     0x540b,     /* TCSBRK, TCXONC, TCFLSH */
    TIOCSPGRP,  0x5423,     0x5425,     /* TIOCSETD, TCSBRKP */
    0x5427,     0x5428,                 /* TIOCSBRK, TIOCCBRK */
};

/* The kernel's settings of a terminal. */
struct settings {
    uint32_t input, output, control, local;
    uint8_t rest[44];
};

/* Return whether this is the terminal of the caller's session, and another process group than the caller's is in the
 * foreground. */
static bool is_in_background(int fd)
{
    int foreground = 0;

    return terminal_of_master(fd) < 0 && NATIVE(ioctl, fd, TIOCGPGRP, &foreground) == 0 && foreground != 0 &&
           foreground != NATIVE(getpgid, 0);
}

/* Send the signal to the caller's process group; return the result of the call, or 0 if the call must be repeated. */
static long signal_group(struct call *call, int signal)
{
    struct reply reply;
    enum interruption what;

    if (signals_default_stops(signal)) {
        signals_announce_stop(call->thread, signal, 0);
        NATIVE(kill, 0, signal);
        signals_stop(call->thread, signal);
    } else {
        NATIVE(kill, 0, signal);
        ASK(call->thread, &reply, OP_SIGNAL, 0, 0, signal);
    }
    what = signals_look(call);
    return what == INTERRUPT_NONE ? 0 : signals_interrupt(call, what, true);
}

/* Check whether the caller may use its terminal in a way for which a process in the background gets this signal; return
 * 0, or the result of the call. */
static long job_control(struct call *call, int fd, int signal)
{
    struct reply reply;
    long result;

    while (is_in_background(fd)) {
        if (signals_is_ignored(call, signal))
            return signal == SIGTTIN ? -EIO : 0;
        if (ASK(call->thread, &reply, OP_GROUP_ORPHANED) != 0)
            return -EIO;
        result = signal_group(call, signal);
        if (result != 0)
            return result;
    }
    return 0;
}

long job_control_read(struct call *call, int fd)
{
    return job_control(call, fd, SIGTTIN);
}

/* The background may write unless the terminal's settings say otherwise (stty tostop). */
long job_control_write(struct call *call, int fd)
{
    struct settings settings;

    if (NATIVE(ioctl, fd, TCGETS, &settings) != 0 || (settings.local & TOSTOP) == 0)
        return 0;
    return job_control(call, fd, SIGTTOU);
}

long job_control_ioctl(struct call *call)
{
    uint32_t request = (uint32_t)call->a[1];
    long result;

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        if (requests[i] == request) {
            result = job_control(call, (int)call->a[0], SIGTTOU);
            return result == -EIO && request == TIOCSPGRP ? -ENOTTY : result;
        }
    return 0;
}
