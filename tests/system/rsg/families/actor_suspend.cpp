// An actor that is suspended goes on when it is resumed; what it computes stands still meanwhile.
//> slept and computed until 5.000000
#include <rsg.hpp>

#include <cstdio>

int main()
{
    auto worker = rsg::Actor::create("worker", rsg::Host::by_name("carol"), [](void *) {
        rsg::this_actor::execute(2e9);
        rsg::this_actor::sleep_for(1);
        printf("slept and computed until %.6f\n", rsg::Engine::get_clock());
    }, nullptr);
    rsg::this_actor::sleep_for(1);
    worker->suspend();
    rsg::this_actor::sleep_for(2);
    worker->resume();
    worker->join();
}
