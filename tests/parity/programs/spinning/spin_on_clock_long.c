// Two seconds of nothing but asking for the time: they pass, and do not take much longer to emulate.
// virtual: 2
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();

    while (now_ns() - start_ns < 2000 * MS)
        ;
    CHECK(now_ns() - start_ns < 2000 * MS + tolerance_ns());
    return succeed();
}
