// A client that says it were another actor, one that does not exist, or connects twice, is refused; the others go on.
//> as actor 1: the calling thread is no actor, or no actor has this number
//> as actor 999: the calling thread is no actor, or no actor has this number
//> as actor -5: the calling thread is no actor, or no actor has this number
//> twice: a number that does not exist or cannot be, or an actor that waits for itself
//> the victim goes on at 1.000000
#include <rsg.hpp>

#include <cstdio>
#include <sys/wait.h>
#include <thread>

static void connect_as(int id)
{
    try {
        rsg::connect(id);
        puts("connected");
    } catch (const rsg::Error &error) {
        printf("as actor %d: %s\n", id, error.what());
    }
}

int main()
{
    std::thread liar([] {
        for (int id : {1, 999, -5})
            connect_as(id);
    });
    liar.join();
    try {
        rsg::connect();
    } catch (const rsg::Error &error) {
        printf("twice: %s\n", error.what());
    }
    rsg::this_actor::sleep_for(1);
    printf("the victim goes on at %.6f\n", rsg::Engine::get_clock());
}
