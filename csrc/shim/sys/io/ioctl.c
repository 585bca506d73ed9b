/* ioctl: requests to pipes, terminals, sockets and files neither wait nor return the time, and are passed on. Requests
 * to some devices do, and are refused. */
#include "shim/sys/io/io.h"
#include "shim/sys/socket/socket.h"

struct refused_request {
    uint32_t request;
    uint32_t mask; /* the bits of the request that are compared: whole families are recognised by their type */
    int error;
    const char *name;
};

#define WHOLE 0xffffffffU
#define TYPE 0x0000ff00U
#define TIOCSCTTY 0x540eU
#define FIONBIO 0x5421U
#define FIONCLEX 0x5450U
#define FIOCLEX 0x5451U
#define FIOASYNC 0x5452U

/* See ioctl_list(2), rtc(4), ioctl_console(2), ioctl_userfaultfd(2). */
static const struct refused_request refused[] = {
    {0x80247009, WHOLE, ENOTTY, "ioctl(RTC_RD_TIME): tells the real time"},
    {0x4024700a, WHOLE, EPERM, "ioctl(RTC_SET_TIME): virtual time belongs to the server"},
    {0x00003d00, TYPE, ENOTTY, "ioctl(PTP_...): tells the real time"},
    {0x00005606, WHOLE, EPERM, "ioctl(VT_ACTIVATE): the console is the real computer's"},
    {0x00005607, WHOLE, EPERM, "ioctl(VT_WAITACTIVE): waits, and the console is the real computer's"},
    {0x0000560e, WHOLE, EPERM, "ioctl(VT_WAITEVENT): waits, and the console is the real computer's"},
    {0xc0045877, WHOLE, EPERM, "ioctl(FIFREEZE): would change the computer that the emulation runs on"},
    {0xc0045878, WHOLE, EPERM, "ioctl(FITHAW): would change the computer that the emulation runs on"},
    {0x0000aa00, TYPE, ENOTTY, "ioctl(USERFAULTFD_...): a page fault would wait in the kernel"},
    {0x0000ae00, TYPE, ENOTTY, "ioctl(KVM_...): a virtual machine would run outside the turn"},
};

long sys_ioctl(struct call *call)
{
    uint32_t request = (uint32_t)call->a[1];
    long result;

    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (((request ^ refused[i].request) & refused[i].mask) == 0) {
            warn_once(call->thread, WARN_REFUSED, refused[i].name, NULL);
            return -refused[i].error;
        }
    if (request != FIOCLEX && request != FIONCLEX && request != FIONBIO && descriptor_is_device(call->thread, call->a[0]))
        return -ENOTTY;
    if (interface_request(call, &result) || (result = job_control_ioctl(call)) != 0)
        return result;
    result = syscall6(call->number, call->a[0], call->a[1], call->a[2], 0, 0, 0);
    if (result == 0 && (request == TIOCSCTTY || request == FIOASYNC || request == FIOSETOWN || request == SIOCSPGRP))
        signals_from_kernel(call, (int)call->a[0]);
    return result;
}
