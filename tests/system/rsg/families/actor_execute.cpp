// Flops take their time: on a host of two cores two executions do not disturb each other, three do; bob is twice as fast.
//> alone 1.000000
//> two 2.000000
//> three 3.500000
//> bob 4.000000
//> with priority: low 5.500000
#include <rsg.hpp>

#include <cstdio>

static void crowd(const char *name, const char *host, int count)
{
    std::vector<rsg::ActorPtr> actors;
    for (int i = 0; i < count; i++)
        actors.push_back(rsg::Actor::create("worker", rsg::Host::by_name(host), [](void *) { rsg::this_actor::execute(1e9); },
                                            nullptr));
    for (auto &actor : actors)
        actor->join();
    printf("%s %.6f\n", name, rsg::Engine::get_clock());
}

int main()
{
    rsg::this_actor::execute(1e9);
    printf("alone %.6f\n", rsg::Engine::get_clock());
    crowd("two", "alice", 2);
    crowd("three", "alice", 3);
    crowd("bob", "bob", 1);
    auto low = rsg::Actor::create("low", rsg::Host::by_name("carol"), [](void *) { rsg::this_actor::execute(1e9, 1); }, nullptr);
    auto high = rsg::Actor::create("high", rsg::Host::by_name("carol"), [](void *) { rsg::this_actor::execute(0.5e9, 2); }, nullptr);
    high->join();
    low->join();
    printf("with priority: low %.6f\n", rsg::Engine::get_clock());
}
