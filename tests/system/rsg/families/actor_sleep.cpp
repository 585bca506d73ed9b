// sleep_for and sleep_until; what lies in the past takes no time.
//> 0.300000000000
//> 2.500000000000
//> 2.500000000000
//> 2.500000000000
//> 2.500000001000
#include <rsg.hpp>

#include <cstdio>

static void say()
{
    printf("%.12f\n", rsg::Engine::get_clock());
}

int main()
{
    rsg::this_actor::sleep_for(0.1);
    rsg::this_actor::sleep_for(0.2);
    say();
    rsg::this_actor::sleep_until(2.5);
    say();
    rsg::this_actor::sleep_until(1);
    say();
    rsg::this_actor::sleep_for(0);
    say();
    rsg::this_actor::sleep_for(1e-9);
    say();
}
