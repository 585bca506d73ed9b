// An actor that is a thread forks another one: three generations, whose last sends to the first.
//> grandchild 3 of 2, at 0.866629881
#include <rsg.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

static void fork_one(void *)
{
    if (rsg::Actor::fork("grandchild", rsg::Host::by_name("bob")) == 0) {
        std::string text = "grandchild " + std::to_string(rsg::this_actor::get_pid()) + " of " +
                           std::to_string(rsg::this_actor::get_ppid());
        rsg::Mailbox::by_name("first")->put(text.c_str(), text.size() + 1, 100000000);
        _exit(0);
    }
}

int main()
{
    rsg::Actor::create("child", rsg::Host::by_name("carol"), fork_one, nullptr)->join();
    char *text = static_cast<char *>(rsg::Mailbox::by_name("first")->get());
    printf("%s, at %.9f\n", text, rsg::Engine::get_clock());
    free(text);
}
