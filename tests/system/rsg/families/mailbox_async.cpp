// Two messages at once share a link: SimGrid's dates for 100 MB and 50 MB (case "100 + 50 MB, same SHARED link").
//> small: 2 at 0.866629881
//> large: 1 at 1.299619572
#include <rsg.hpp>

#include <cstdio>
#include <cstdlib>

static int number_of(void *data)
{
    int number = *static_cast<int *>(data);
    free(data);
    return number;
}

int main()
{
    rsg::Actor::create("sender", rsg::Host::by_name("bob"), [](void *) {
        int one = 1, two = 2;
        auto large = rsg::Mailbox::by_name("large")->put_async(&one, sizeof one, 100000000);
        auto small = rsg::Mailbox::by_name("small")->put_async(&two, sizeof two, 50000000);
        small->wait();
        large->wait();
    }, nullptr);
    void *large = nullptr, *small = nullptr;
    auto comm = rsg::Mailbox::by_name("large")->get_async(&large);
    auto other = rsg::Mailbox::by_name("small")->get_async(&small);
    other->wait();
    printf("small: %d at %.9f\n", number_of(small), rsg::Engine::get_clock());
    comm->wait();
    printf("large: %d at %.9f\n", number_of(large), rsg::Engine::get_clock());
}
