// Actors that sleep, compute and receive are killed, and run nothing more; destructors run.
//> ends: sleeper
//> ends: worker
//> ends: receiver
//> all joined at 1.000000
#include <rsg.hpp>

#include <cstdio>
#include <cstdlib>

struct Guard {
    const char *const name;
    ~Guard() { printf("ends: %s\n", name); }
};

int main()
{
    auto sleeper = rsg::Actor::create("sleeper", rsg::Host::by_name("bob"), [](void *) {
        Guard guard{"sleeper"};
        rsg::this_actor::sleep_for(100);
        puts("has slept");
    }, nullptr);
    auto worker = rsg::Actor::create("worker", rsg::Host::by_name("carol"), [](void *) {
        Guard guard{"worker"};
        rsg::this_actor::execute(1e12);
        puts("has computed");
    }, nullptr);
    auto receiver = rsg::Actor::create("receiver", rsg::Host::by_name("alice"), [](void *) {
        Guard guard{"receiver"};
        free(rsg::Mailbox::by_name("nobody")->get());
        puts("has received");
    }, nullptr);
    rsg::this_actor::sleep_for(1);
    sleeper->kill();
    sleeper->join();
    worker->kill();
    worker->join();
    rsg::Actor::kill_all();
    receiver->join();
    rsg::this_actor::yield();
    printf("all joined at %.6f\n", rsg::Engine::get_clock());
}
