// An actor that cannot be is refused at the call, and the run goes on.
//> no host: the platform has no such host
//> the next one lives on carol
#include <rsg.hpp>

#include <cstdio>

int main()
{
    auto life = [](void *) { printf("the next one lives on %s\n", rsg::Host::current()->get_cname()); };
    try {
        rsg::Actor::create("lost", rsg::Host::by_name("nowhere"), life, nullptr);
        puts("created");
    } catch (const rsg::Error &error) {
        printf("no host: %s\n", error.what());
    }
    rsg::Actor::create("found", rsg::Host::by_name("carol"), life, nullptr)->join();
}
