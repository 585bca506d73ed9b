// Threads that share memory without a lock: only one actor runs at a time, so that no step is lost.
//> 50 actors have counted to 5000 at 100.000000
#include <rsg.hpp>

#include <cstdio>

static int counter;

int main()
{
    std::vector<rsg::ActorPtr> actors;
    auto count = [](void *) {
        for (int i = 0; i < 100; i++) {
            int before = counter;
            rsg::this_actor::get_pid();
            counter = before + 1;
            rsg::this_actor::sleep_for(1);
        }
    };
    for (int i = 0; i < 50; i++)
        actors.push_back(rsg::Actor::create("counter", rsg::Host::by_name(i % 2 ? "bob" : "carol"), count, nullptr));
    for (auto &actor : actors)
        actor->join();
    printf("%zu actors have counted to %d at %.6f\n", actors.size(), counter, rsg::Engine::get_clock());
}
