// Hosts by name: the platform's, and none for a name that it does not have.
//> alice: 1 Gf, 2 cores; bob: 2 Gf, 1 core
//> nowhere is no host: the platform has no such host
#include <rsg.hpp>

#include <cstdio>

int main()
{
    auto alice = rsg::Host::by_name("alice"), bob = rsg::Host::by_name_or_null("bob");
    printf("%s: %g Gf, %d cores; %s: %g Gf, %d core\n", alice->get_cname(), alice->get_speed() / 1e9, alice->get_core_count(),
           bob->get_name().c_str(), bob->get_speed() / 1e9, bob->get_core_count());
    if (rsg::Host::by_name_or_null("nowhere") != nullptr)
        puts("somewhere");
    try {
        rsg::Host::by_name("nowhere");
    } catch (const rsg::Error &error) {
        printf("nowhere is no host: %s\n", error.what());
    }
}
