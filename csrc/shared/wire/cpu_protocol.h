/* The values about processors that shim and server exchange: charges, the table of costs, limits and timers of CPU time.
 * This file is a part of protocol.h and, like it, contains only enums, structs and integer defines. */
#ifndef SIMUNIX_CPU_PROTOCOL_H
#define SIMUNIX_CPU_PROTOCOL_H

#include <stdint.h>

/* The parts of the second number of PARK_CHARGE below the number of points: 20 - nice; the server has taken the turn
 * back; the thread is about to exec, and its new program will ask for its CPU clock; the thread is about to exec or to
 * end. */
enum simunix_charge { CHARGE_NICE = 63, CHARGE_PREEMPTED = 64, CHARGE_EXEC = 128, CHARGE_END = 256 };
#define CHARGE_POINT_SHIFT 9

/* Limits by which a charge and its place fit into one number. A thread is charged after so many calls and clock reads
 * at the latest, even if it has computed nothing. A charge has at most so many nanoseconds (nine minutes); the rest is
 * charged later. */
#define CHARGE_NS_SHIFT 24
#define CHARGE_MOST_POINTS 4194304
#define CHARGE_MOST_NS 549755813887

/* The bits above the flags in HELLO's reply contain 1 + the program's row in the table of struct simunix_cpu_cost; 0:
 * the program has no row. */
#define HELLO_COST_ROW_SHIFT 32

/* The values about the charges of its first thread that a new program gets, in nanoseconds. */
struct simunix_image_charge {
    int64_t clock_ns;   /* the thread's CPU clock before the exec; -1: no emulated program has called exec */
    int64_t next;       /* the thread's next recorded charge, as PARK_CHARGE encodes it */
    int64_t scale;      /* the CPU time on its host that corresponds to a nanosecond of this computer, in units of 2^-32 */
    int64_t process_ns; /* the CPU time of the process so far */
    int64_t thread_ns;  /* the CPU time of the thread so far */
};

/* How long a program computes before a point, which is a system call or a clock read. Under the CPU policy charged,
 * times are added up here. Under the policy modelled, the shim reads the time of one point here; `calls` is 0 if no
 * time is known. The table has a row for each program of the run; flags of HELLO's reply give its number. A row has
 * first the system calls by number, then the clock reads by place: the last twelve bits of the caller's address, which
 * are the same wherever the kernel maps the program or library. The table follows the one of struct simunix_trap_place. */
struct simunix_cpu_cost {
    uint64_t calls;
    int64_t ns;
};

#define SIMUNIX_COST_PROGRAMS 256
#define SIMUNIX_COST_IMAGE 510      /* the point of a new program until its first call; no system call has this number */
#define SIMUNIX_COST_CLOCK_READ 511 /* a clock read at a place for which no time is known */
#define SIMUNIX_COST_CALLS 512      /* how many numbers of points there are: those of calls, and the two above */
#define SIMUNIX_COST_PLACES 4096
#define SIMUNIX_COST_POINTS 4608 /* how many points of both kinds there are */
#define SIMUNIX_COST_OFFSET 17580032

/* Values of the clock page's `replays_charges`. After the departure from a recording, threads are charged as under the
 * CPU policy modelled. */
enum simunix_replay { REPLAY_NONE = 0, REPLAY_GOES_ON = 1, REPLAY_HAS_DEPARTED = 2 };

#define SIMUNIX_CORES_TOLD 64 /* the most cores in one answer to OP_HOST_CPU */

/* The places of the numbers in the answer to OP_HOST_CPU. */
enum simunix_host_cpu { HOST_CPU_LOADS = 1, HOST_CPU_RUNNING = 4, HOST_CPU_BUSY = 5, HOST_CPU_CORES = 6 };

/* The numbers of a process's timers on the server: ITIMER_REAL with alarm(2), then those of timer_create(2); and its
 * other two interval timers. */
enum simunix_timer { TIMER_REAL = 0, TIMER_VIRTUAL = 1073741824, TIMER_PROF = 1073741825 };

#endif
