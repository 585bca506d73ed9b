// wait_any returns the first that is over, wait_any_for -1 when the time is over, test() without waiting.
//> over after 0.1 s: no
//> nothing until 0.200000: -1
//> place 1 at 0.413021634
//> place 0 at 0.825392768
//> tested: over
#include <rsg.hpp>

#include <cstdio>
#include <cstdlib>

int main()
{
    auto sink = rsg::Actor::create("sink", rsg::Host::by_name("carol"), [](void *) {
        void *data[2];
        auto one = rsg::Mailbox::by_name("one")->get_async(&data[0]);
        auto other = rsg::Mailbox::by_name("other")->get_async(&data[1]);
        one->wait();
        other->wait();
        free(data[0]);
        free(data[1]);
    }, nullptr);
    auto one = rsg::Mailbox::by_name("one")->put_async("x", 1, 75000000);
    auto other = rsg::Mailbox::by_name("other")->put_async("y", 1, 25000000);
    rsg::this_actor::sleep_for(0.1);
    printf("over after 0.1 s: %s\n", one->test() ? "yes" : "no");
    int place = rsg::Comm::wait_any_for({one, other}, 0.1);
    printf("nothing until %.6f: %d\n", rsg::Engine::get_clock(), place);
    place = rsg::Comm::wait_any({one, other});
    printf("place %d at %.9f\n", place, rsg::Engine::get_clock());
    place = rsg::Comm::wait_any({one});
    printf("place %d at %.9f\n", place, rsg::Engine::get_clock());
    sink->join();
    printf("tested: %s\n", one->test() ? "over" : "not over");
}
