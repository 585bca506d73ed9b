// join() returns at the end of an actor, or after a time, or at once if the actor has ended.
//> waited until 1.500000
//> joined at 4.000000
//> joined again at 4.000000
#include <rsg.hpp>

#include <cstdio>

int main()
{
    auto actor = rsg::Actor::create("sleeper", rsg::Host::by_name("bob"), [](void *) { rsg::this_actor::sleep_for(4); }, nullptr);
    actor->join(1.5);
    printf("waited until %.6f\n", rsg::Engine::get_clock());
    actor->join();
    printf("joined at %.6f\n", rsg::Engine::get_clock());
    actor->join();
    printf("joined again at %.6f\n", rsg::Engine::get_clock());
}
