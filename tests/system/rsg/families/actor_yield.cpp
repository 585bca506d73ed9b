// yield() lets the other actors of the date go first: two actors take turns, and no time passes.
//> abababab at 1.000000
#include <rsg.hpp>

#include <cstdio>
#include <string>

static std::string told;

static void four_times(void *data)
{
    rsg::this_actor::sleep_until(1);
    for (int i = 0; i < 4; i++) {
        told += *static_cast<const char *>(data);
        rsg::this_actor::yield();
    }
}

int main()
{
    char a = 'a', b = 'b';
    auto one = rsg::Actor::create("one", rsg::Host::by_name("bob"), four_times, &a);
    auto other = rsg::Actor::create("other", rsg::Host::by_name("bob"), four_times, &b);
    one->join();
    other->join();
    printf("%s at %.6f\n", told.c_str(), rsg::Engine::get_clock());
}
