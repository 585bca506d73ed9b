// A client that dies of a segmentation fault in the middle of a message: the other end is told, and the run goes on.
//> the other end: network failure at 0.100000
//> the client was ended by signal 11
#include <rsg.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>

int main()
{
    int status = 0;
    if (rsg::Actor::fork("crashing", rsg::Host::by_name("bob")) == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        auto comm = rsg::Mailbox::by_name("box")->put_async("x", 1, 100000000);
        rsg::this_actor::sleep_for(0.1);
        raise(SIGSEGV);
    }
    try {
        free(rsg::Mailbox::by_name("box")->get());
        puts("received");
    } catch (const rsg::NetworkFailureException &) {
        printf("the other end: network failure at %.6f\n", rsg::Engine::get_clock());
    }
    wait(&status);
    printf("the client was ended by signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}
