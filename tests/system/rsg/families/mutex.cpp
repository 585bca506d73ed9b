// A mutex goes to those that wait in the order in which they came; the mutex of an actor that dies goes on, too.
//> 0 has it at 0.000000
//> 1 has it at 1.000000
//> 2 has it at 2.000000
//> try_lock 0, then 1 at 3.000000
//> unlocked by another: refused
#include <rsg.hpp>

#include <cstdio>

static rsg::MutexPtr mutex;

int main()
{
    mutex = rsg::Mutex::create();
    int numbers[] = {0, 1, 2};
    std::vector<rsg::ActorPtr> actors;
    for (int &number : numbers)
        actors.push_back(rsg::Actor::create("owner", rsg::Host::by_name("bob"), [](void *number) {
            mutex->lock();
            printf("%d has it at %.6f\n", *static_cast<int *>(number), rsg::Engine::get_clock());
            rsg::this_actor::sleep_for(1);
            if (*static_cast<int *>(number) < 2)
                mutex->unlock();
        }, &number));
    rsg::this_actor::sleep_for(0.5);
    bool has_locked = mutex->try_lock();
    for (auto &actor : actors)
        actor->join();
    printf("try_lock %d, then %d at %.6f\n", has_locked, mutex->try_lock(), rsg::Engine::get_clock());
    rsg::Actor::create("thief", rsg::Host::by_name("bob"), [](void *) {
        try {
            mutex->unlock();
        } catch (const rsg::Error &) {
            puts("unlocked by another: refused");
        }
    }, nullptr)->join();
}
