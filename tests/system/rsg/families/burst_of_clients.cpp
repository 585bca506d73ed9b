// A hundred clients that come at one date, each a process of its own, and one server that answers them all.
//> 100 processes, sum 4950, all answered at 1.000000
#include <rsg.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

static void client(int number)
{
    rsg::Mailbox::by_name("server")->put(&number, sizeof number, 1000);
    int *answer = static_cast<int *>(rsg::Mailbox::by_name("client " + std::to_string(number))->get());
    _exit(*answer == number + 1 ? 0 : 1);
}

int main()
{
    int sum = 0, right = 0, status = 0;
    for (int number = 0; number < 100; number++)
        if (rsg::Actor::fork("client", rsg::Host::by_name(number % 2 ? "bob" : "carol")) == 0)
            client(number);
    for (int i = 0; i < 100; i++) {
        int *number = static_cast<int *>(rsg::Mailbox::by_name("server")->get());
        int answer = *number + 1;
        sum += *number;
        rsg::Mailbox::by_name("client " + std::to_string(*number))->put(&answer, sizeof answer, 1000);
        free(number);
    }
    while (wait(&status) > 0)
        right += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    rsg::this_actor::sleep_until(1);
    printf("%d processes, sum %d, all answered at %.6f\n", right, sum, rsg::Engine::get_clock());
}
