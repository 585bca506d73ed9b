/* Reproducible random numbers, from the seed that the server has given the process. */
#include "shim/core/core.h"

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). The numbers must not be
 * used for secrets. */
uint64_t random_mix(uint64_t state)
{
    uint64_t z = state + 0x9e3779b97f4a7c15UL;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
    return z ^ (z >> 31);
}

uint64_t random_next(struct process *process)
{
    uint64_t number = random_mix(process->random_state);

    process->random_state += 0x9e3779b97f4a7c15UL;
    return number;
}
