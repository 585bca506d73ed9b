// empty, listen and ready, with and without a permanent receiver.
//> at first: empty 1, listen 0, ready 0
//> a put waits: empty 0, listen 1, ready 0
//> with a receiver, moving: listen 1, ready 0
//> with a receiver, after 1 s: listen 1, ready 1
//> got second at 1.000000
#include <rsg.hpp>

#include <cstdio>
#include <cstdlib>

static void send(void *box)
{
    rsg::Mailbox::by_name(static_cast<const char *>(box))->put("second", 7, 1000000);
}

int main()
{
    char first[] = "first", second[] = "second";
    auto box = rsg::Mailbox::by_name(first), other = rsg::Mailbox::by_name(second);
    printf("at first: empty %d, listen %d, ready %d\n", box->empty(), box->listen(), box->ready());
    auto lost = rsg::Actor::create("sender", rsg::Host::by_name("bob"), send, first);
    printf("a put waits: empty %d, listen %d, ready %d\n", box->empty(), box->listen(), box->ready());
    lost->kill();
    other->set_receiver(rsg::Actor::self());
    rsg::Actor::create("sender", rsg::Host::by_name("bob"), send, second);
    printf("with a receiver, moving: listen %d, ready %d\n", other->listen(), other->ready());
    rsg::this_actor::sleep_for(1);
    printf("with a receiver, after 1 s: listen %d, ready %d\n", other->listen(), other->ready());
    char *text = static_cast<char *>(other->get());
    printf("got %s at %.6f\n", text, rsg::Engine::get_clock());
    free(text);
}
