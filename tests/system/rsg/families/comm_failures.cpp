// What can happen to a communication: a timeout at either end, a cancel, the death of the other actor.
//> put: timeout at 1.000000
//> get: timeout at 2.000000
//> cancelled at 2.500000: network failure at the other end
//> the other died at 3.500000: network failure
#include <rsg.hpp>

#include <cstdio>
#include <cstdlib>

static const char *outcome(rsg::CommPtr comm, double timeout)
{
    try {
        comm->wait_for(timeout);
        return "done";
    } catch (const rsg::TimeoutException &) {
        return "timeout";
    } catch (const rsg::NetworkFailureException &) {
        return "network failure";
    } catch (const rsg::CancelException &) {
        return "cancelled";
    }
}

int main()
{
    void *data = nullptr;
    const char *found = outcome(rsg::Mailbox::by_name("nobody")->put_async("x", 1, 1), 1);
    printf("put: %s at %.6f\n", found, rsg::Engine::get_clock());
    found = outcome(rsg::Mailbox::by_name("no message")->get_async(&data), 1);
    printf("get: %s at %.6f\n", found, rsg::Engine::get_clock());
    auto receiver = rsg::Actor::create("receiver", rsg::Host::by_name("bob"), [](void *) {
        void *data = nullptr;
        const char *found = outcome(rsg::Mailbox::by_name("cancelled")->get_async(&data), -1);
        printf("cancelled at %.6f: %s at the other end\n", rsg::Engine::get_clock(), found);
    }, nullptr);
    auto comm = rsg::Mailbox::by_name("cancelled")->put_async("x", 1, 1000000000);
    rsg::this_actor::sleep_for(0.5);
    comm->cancel();
    receiver->join();
    auto sender = rsg::Actor::create("sender", rsg::Host::by_name("bob"), [](void *) {
        rsg::Mailbox::by_name("dying")->put("x", 1, 1000000000);
    }, nullptr);
    rsg::Actor::create("killer", rsg::Host::by_name("bob"), [](void *victim) {
        rsg::this_actor::sleep_for(1);
        static_cast<rsg::Actor *>(victim)->kill();
    }, sender.get());
    found = outcome(rsg::Mailbox::by_name("dying")->get_async(&data), -1);
    printf("the other died at %.6f: %s\n", rsg::Engine::get_clock(), found);
}
