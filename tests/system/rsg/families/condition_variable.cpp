// notify_one wakes the first that waits, notify_all the others; wait_for and wait_until end by themselves.
//> 0 woken at 1.000000
//> 1 woken at 2.000000
//> 2 woken at 2.000000
//> wait_for: timeout at 2.500000
//> wait_until: timeout at 4.000000
//> wait_for: notified at 5.000000
#include <rsg.hpp>

#include <cstdio>

static rsg::MutexPtr mutex;
static rsg::ConditionVariablePtr condition;

static const char *word(std::cv_status status)
{
    return status == std::cv_status::timeout ? "timeout" : "notified";
}

int main()
{
    mutex = rsg::Mutex::create();
    condition = rsg::ConditionVariable::create();
    int numbers[] = {0, 1, 2};
    for (int &number : numbers)
        rsg::Actor::create("waiter", rsg::Host::by_name("bob"), [](void *number) {
            std::unique_lock<rsg::Mutex> lock(*mutex);
            condition->wait(lock);
            printf("%d woken at %.6f\n", *static_cast<int *>(number), rsg::Engine::get_clock());
        }, &number);
    rsg::this_actor::sleep_for(1);
    condition->notify_one();
    rsg::this_actor::sleep_for(1);
    condition->notify_all();
    rsg::this_actor::yield();
    rsg::this_actor::yield();
    rsg::this_actor::sleep_for(0);
    rsg::Actor::create("notifier", rsg::Host::by_name("bob"), [](void *) {
        rsg::this_actor::sleep_until(5);
        condition->notify_all();
    }, nullptr);
    std::unique_lock<rsg::Mutex> lock(*mutex);
    const char *found = word(condition->wait_for(lock, 0.5));
    printf("wait_for: %s at %.6f\n", found, rsg::Engine::get_clock());
    found = word(condition->wait_until(lock, 4));
    printf("wait_until: %s at %.6f\n", found, rsg::Engine::get_clock());
    found = word(condition->wait_for(lock, 100));
    printf("wait_for: %s at %.6f\n", found, rsg::Engine::get_clock());
}
