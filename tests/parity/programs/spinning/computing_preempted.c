// Long computations in integers and vectors come to the same result although others are let run in between.
// native: slow
// warns: computes without a call
#include "check.h"

#include <pthread.h>

static double compute(long rounds)
{
    double sum[4] = {0, 0, 0, 0};
    uint64_t number = 1;

    for (long i = 0; i < rounds; i++) {
        number = number * UINT64_C(6364136223846793005) + 1;
        for (int k = 0; k < 4; k++)
            sum[k] = sum[k] * 0.5 + (double)(number >> (32 + k));
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Half a second or more of CPU time without a call. */
static void *computer(void *result)
{
    *(double *)result = compute(250000000);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    double results[2];

    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, computer, &results[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(results[0] == results[1] && results[0] != 0);
    return succeed();
}
