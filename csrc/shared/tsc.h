/* Reads the computer's time stamp counter, for the server, which measures how fast the counter counts. */
#ifndef SIMUNIX_TSC_H
#define SIMUNIX_TSC_H

#include <stdint.h>

/* cffi: begin */
uint64_t tsc_now(void);
/* cffi: end */

#endif
