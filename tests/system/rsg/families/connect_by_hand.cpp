// Without RSG_AUTOCONNECT the program connects itself, and may disconnect and connect again, as another actor.
// autoconnect: no
//> before: the calling thread is no actor, or no actor has this number
//> actor 1 at 0.000000
//> after: the calling thread is no actor, or no actor has this number
//> actor 2 at 1.000000
#include <rsg.hpp>

#include <cstdio>

static void try_to_sleep(const char *when)
{
    try {
        rsg::this_actor::sleep_for(1);
        puts("slept");
    } catch (const rsg::Error &error) {
        printf("%s: %s\n", when, error.what());
    }
}

int main()
{
    try_to_sleep("before");
    rsg::connect();
    printf("%s %d at %.6f\n", rsg::this_actor::get_name().c_str(), rsg::this_actor::get_pid(), rsg::Engine::get_clock());
    rsg::this_actor::sleep_for(1);
    rsg::disconnect();
    try_to_sleep("after");
    rsg::connect();
    printf("%s %d at %.6f\n", rsg::this_actor::get_name().c_str(), rsg::this_actor::get_pid(), rsg::Engine::get_clock());
}
