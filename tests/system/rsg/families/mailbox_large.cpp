// Ten megabytes of real bytes arrive as they were sent, as a message of no size: it takes the latency alone.
//> 10000000 bytes at 0.000650500, all right
#include <rsg.hpp>

#include <cstdio>
#include <cstdlib>

static unsigned char byte_at(size_t at)
{
    return static_cast<unsigned char>(at * 2654435761u >> 13);
}

int main()
{
    rsg::Actor::create("sender", rsg::Host::by_name("carol"), [](void *) {
        std::vector<unsigned char> bytes(10000000);
        for (size_t i = 0; i < bytes.size(); i++)
            bytes[i] = byte_at(i);
        rsg::Mailbox::by_name("box")->put(bytes.data(), bytes.size(), 0);
    }, nullptr);
    uint64_t size, wrong = 0;
    auto *bytes = static_cast<unsigned char *>(rsg::Mailbox::by_name("box")->get(size));
    for (size_t i = 0; i < size; i++)
        wrong += bytes[i] != byte_at(i);
    printf("%lu bytes at %.9f, %s\n", static_cast<unsigned long>(size), rsg::Engine::get_clock(), wrong ? "wrong" : "all right");
    free(bytes);
}
