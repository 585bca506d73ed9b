/* What shim and server say to each other of processors: charges, the table of costs, limits and timers of CPU time. A part of
 * protocol.h, and read as that is: nothing but enums, structs and integer defines. */
#ifndef SIMUNIX_CPU_PROTOCOL_H
#define SIMUNIX_CPU_PROTOCOL_H

#include <stdint.h>

/* Parts of the second number of PARK_CHARGE, above which it has the points: 20 - nice; the server has taken the turn back; the
 * thread is about to exec, and its new image asks for its CPU clock; the thread is about to exec or to end. */
enum simunix_charge { CHARGE_NICE = 63, CHARGE_PREEMPTED = 64, CHARGE_EXEC = 128, CHARGE_END = 256 };
#define CHARGE_POINT_SHIFT 9

/* A charge and its place fit one number: a thread is charged, if only for nothing, after so many calls and clock reads at the
 * latest, and for so many nanoseconds at most, nine minutes; the rest is charged later. */
#define CHARGE_NS_SHIFT 24
#define CHARGE_MOST_POINTS 4194304
#define CHARGE_MOST_NS 549755813887

/* Above the flags of HELLO's reply: 1 + the program's row in the table of struct simunix_cpu_cost; 0: none. */
#define HELLO_COST_ROW_SHIFT 32

/* What a new image is told of what its first thread was charged, in nanoseconds. */
struct simunix_image_charge {
    int64_t clock_ns;   /* the thread's CPU clock before the exec, -1: no emulated program has exec'd */
    int64_t next;       /* its next recorded charge, as PARK_CHARGE says */
    int64_t scale;      /* the CPU time on its host for a nanosecond of this computer, in 2^-32 */
    int64_t process_ns; /* CPU time of the process up to now */
    int64_t thread_ns;  /* … and of the thread */
};

/* What a program computes before a point, which is a system call or a clock read, on average. Under the CPU policy charged it
 * is added up; under the policy modelled it is read, is that of one point, and `calls` is 0 where nothing is known. A row for
 * each program of the run, by the number that HELLO's flags tell. In a row first the system calls by number, then the clock
 * reads by place: the last twelve bits of the caller's address, which are the same wherever the kernel maps the program or
 * library. The table lies behind the one of struct simunix_trap_place. */
struct simunix_cpu_cost {
    uint64_t calls;
    int64_t ns;
};

#define SIMUNIX_COST_PROGRAMS 256
#define SIMUNIX_COST_IMAGE 510      /* no call's number: a new image, until its first call */
#define SIMUNIX_COST_CLOCK_READ 511 /* a clock read at a place of which nothing is known */
#define SIMUNIX_COST_CALLS 512      /* the numbers of calls, and those two */
#define SIMUNIX_COST_PLACES 4096
#define SIMUNIX_COST_POINTS 4608 /* of both kinds */
#define SIMUNIX_COST_OFFSET 17580032

/* Of the clock page's `replays_charges`. After a departure the threads that are charged go on as under the CPU policy
 * modelled. */
enum simunix_replay { REPLAY_NONE = 0, REPLAY_GOES_ON = 1, REPLAY_HAS_DEPARTED = 2 };

#define SIMUNIX_CORES_TOLD 64 /* in one answer to OP_HOST_CPU */

/* Where the figures stand in the answer to OP_HOST_CPU. */
enum simunix_host_cpu { HOST_CPU_LOADS = 1, HOST_CPU_RUNNING = 4, HOST_CPU_BUSY = 5, HOST_CPU_CORES = 6 };

/* The server's timers of a process: its ITIMER_REAL and alarm, then those of timer_create(2); and its other two interval
 * timers. */
enum simunix_timer { TIMER_REAL = 0, TIMER_VIRTUAL = 1073741824, TIMER_PROF = 1073741825 };

#endif
