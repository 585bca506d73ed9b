// A message has bytes, which arrive, and a simulated size, which decides when: SimGrid's date for 100 MB on this link.
//> got 6 bytes at 0.825392768: hello
#include <rsg.hpp>

#include <cstdio>
#include <cstdlib>

int main()
{
    auto sender = rsg::Actor::create("sender", rsg::Host::by_name("carol"), [](void *) {
        rsg::Mailbox::by_name("box")->put("hello", 6, 100000000);
    }, nullptr);
    uint64_t size;
    char *text = static_cast<char *>(rsg::Mailbox::by_name("box")->get(size));
    printf("got %lu bytes at %.9f: %s\n", static_cast<unsigned long>(size), rsg::Engine::get_clock(), text);
    free(text);
    sender->join();
}
