// An actor in a process of its own: memory is not shared, mailboxes are, and wait(2) finds the child's end.
//> the child 2 of 1 on bob has 7, at 1.000000
//> the parent has 5, and exit code 7 at 1.500000
#include <rsg.hpp>

#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

int main()
{
    int number = 5, status = 0;
    int pid = rsg::Actor::fork("forked", rsg::Host::by_name("bob"));
    if (pid == 0) {
        number += 2;
        rsg::this_actor::sleep_for(1);
        printf("the child %d of %d on %s has %d, at %.6f\n", rsg::this_actor::get_pid(), rsg::this_actor::get_ppid(),
               rsg::Host::current()->get_cname(), number, rsg::Engine::get_clock());
        fflush(stdout);
        rsg::this_actor::sleep_for(0.5);
        _exit(number);
    }
    wait(&status);
    printf("the parent has %d, and exit code %d at %.6f\n", number, WEXITSTATUS(status), rsg::Engine::get_clock());
}
