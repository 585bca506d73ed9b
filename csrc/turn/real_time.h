#ifndef SIMUNIX_TURN_REAL_TIME_H
#define SIMUNIX_TURN_REAL_TIME_H

#include <stdint.h>

int64_t real_time_ns(void);

#endif
