// What Remote SimGrid's own tests do, by family, against its documented API alone.
#include <rsg.hpp>

#include <cstdio>
#include <cstring>
#include <deque>
#include <sys/wait.h>
#include <unistd.h>

using namespace rsg;

static void actors()
{
    auto self = Actor::self();
    printf("actor %s %d on %s, maestro %d\n", self->get_name().c_str(), self->get_pid(), self->get_host()->get_cname(),
           this_actor::is_maestro());
    auto child = Actor::create("child", Host::by_name("Fafard"), [](void *data) {
        this_actor::sleep_for(*static_cast<double *>(data));
        printf("child on %s of %d slept until %.3f\n", Host::current()->get_cname(), this_actor::get_ppid(), Engine::get_clock());
    }, new double(1.5));
    child->join();
    this_actor::sleep_until(5);
    printf("date %.3f\n", Engine::get_clock());
    auto victim = Actor::create("victim", Host::by_name("Jupiter"), [](void *) {
        this_actor::sleep_for(100);
        puts("never");
    }, nullptr);
    this_actor::sleep_for(1);
    victim->kill();
    victim->join();
    printf("killed at %.3f\n", Engine::get_clock());
}

static void mailboxes()
{
    auto box = Mailbox::by_name("box");
    printf("empty %d, listen %d\n", box->empty(), box->listen());
    auto sender = Actor::create("sender", Host::by_name("Ginette"), [](void *) {
        auto box = Mailbox::by_name("box");
        box->put("hello", 6, 1000000);
        int number = 42;
        auto comm = box->put_async(&number, sizeof number, 10);
        comm->wait();
    }, nullptr);
    this_actor::yield();
    printf("empty %d, listen %d\n", box->empty(), box->listen());
    uint64_t size;
    char *text = static_cast<char *>(box->get(size));
    printf("%s of %lu bytes\n", text, static_cast<unsigned long>(size));
    free(text);
    void *data = nullptr;
    auto comm = box->get_async(&data);
    comm->wait();
    printf("number %d\n", *static_cast<int *>(data));
    free(data);
    sender->join();
}

static void communications()
{
    std::vector<CommPtr> comms;
    auto sink = Actor::create("sink", Host::by_name("Bourassa"), [](void *) {
        for (int i = 0; i < 3; i++)
            free(Mailbox::by_name("sink")->get());
    }, nullptr);
    for (int i = 0; i < 3; i++)
        comms.push_back(Mailbox::by_name("sink")->put_async(&i, sizeof i, 1000));
    while (!comms.empty())
        comms.erase(comms.begin() + Comm::wait_any(comms));
    sink->join();
    auto lost = Mailbox::by_name("nobody")->put_async("x", 1, 1);
    try {
        lost->wait_for(1);
    } catch (const TimeoutException &) {
        puts("timeout");
    }
    printf("wait_any_for %d\n", Comm::wait_any_for({Mailbox::by_name("nobody")->put_async("x", 1, 1)}, 0.5));
}

static void conditions()
{
    static auto mutex = Mutex::create();
    static auto filled = ConditionVariable::create();
    static std::deque<int> queue;
    auto consumer = Actor::create("consumer", Host::by_name("Fafard"), [](void *) {
        for (int i = 0; i < 3; i++) {
            std::unique_lock<Mutex> lock(*mutex);
            while (queue.empty())
                filled->wait(lock);
            printf("consumed %d\n", queue.front());
            queue.pop_front();
        }
    }, nullptr);
    for (int i = 0; i < 3; i++) {
        this_actor::sleep_for(1);
        mutex->lock();
        queue.push_back(i);
        filled->notify_all();
        mutex->unlock();
    }
    consumer->join();
    std::unique_lock<Mutex> lock(*mutex);
    printf("late %d, try_lock %d\n", filled->wait_for(lock, 1) == std::cv_status::timeout, mutex->try_lock());
}

static void forks()
{
    fflush(stdout);
    int pid = Actor::fork("forked", Host::by_name("Jacquelin"));
    if (pid == 0) {
        Mailbox::by_name("parent")->put("from the child", 15, 100);
        _exit(0);
    }
    char *text = static_cast<char *>(Mailbox::by_name("parent")->get());
    puts(text);
    free(text);
    wait(nullptr);
}

static void burst()
{
    auto box = Mailbox::by_name("burst");
    for (int i = 0; i < 100; i++)
        Actor::create("client", Host::by_name(i % 2 ? "Tremblay" : "Boivin"), [](void *) {
            Mailbox::by_name("burst")->put("x", 1, 1000);
        }, nullptr);
    for (int i = 0; i < 100; i++)
        free(box->get());
    printf("hundred clients, no host %d\n", Host::by_name_or_null("nowhere") == nullptr);
}

int main()
{
    try {
        Host::by_name("nowhere");
    } catch (const Error &error) {
        printf("%s\n", error.what());
    }
    for (auto family : {actors, mailboxes, communications, conditions, forks, burst})
        family();
    return 0;
}
