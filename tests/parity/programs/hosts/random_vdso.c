// The vDSO's getrandom, which newer C libraries call with a state that they had prepared before any program's code ran.
#include "check.h"

#include <dlfcn.h>
#include <sys/mman.h>

struct parameters {
    uint32_t state_size;
    uint32_t protection;
    uint32_t flags;
    uint32_t reserved[13];
};

int main(void)
{
    long (*vdso_getrandom)(void *, size_t, unsigned, void *, size_t);
    struct parameters asked = {.state_size = 256, .protection = PROT_READ | PROT_WRITE, .flags = MAP_PRIVATE | MAP_ANONYMOUS};
    char one[48] = "", other[48] = "";
    void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *state;

    *(void **)&vdso_getrandom = vdso == NULL ? NULL : dlsym(vdso, "__vdso_getrandom");
    if (vdso_getrandom == NULL)
        return succeed(); /* older kernels have none */
    vdso_getrandom(NULL, 0, 0, &asked, ~0UL); /* fails under emulation, where libcs need no state */
    state = mmap(NULL, 4096, (int)asked.protection, (int)asked.flags, -1, 0);
    CHECK(state != MAP_FAILED);
    CHECK(vdso_getrandom(one, sizeof one, 0, state, asked.state_size) == sizeof one);
    CHECK(vdso_getrandom(other, sizeof other, 0, state, asked.state_size) == sizeof other);
    CHECK(memcmp(one, other, sizeof one) != 0 && memcmp(one, (char[48]){0}, sizeof one) != 0);
    return succeed();
}
