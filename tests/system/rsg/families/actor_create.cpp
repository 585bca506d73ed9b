// Actors are threads of the program, each on a host of its own, with data of its creator.
//> bob-actor (2, of 1) on bob got 10
//> carol-actor (3, of 1) on carol got 20
//> they have slept 3.000000 s; the sum is 33
#include <rsg.hpp>

#include <cstdio>

static int sum;

static void life(void *data)
{
    auto self = rsg::Actor::self();
    int number = *static_cast<int *>(data);
    printf("%s (%d, of %d) on %s got %d\n", self->get_name().c_str(), self->get_pid(), self->get_ppid(),
           self->get_host()->get_cname(), number);
    rsg::this_actor::sleep_for(number / 10 + 1);
    sum += number;
}

int main()
{
    int ten = 10, twenty = 20;
    auto one = rsg::Actor::create("bob-actor", rsg::Host::by_name("bob"), life, &ten);
    auto other = rsg::Actor::create("carol-actor", rsg::Host::by_name("carol"), life, &twenty);
    sum = 3;
    one->join();
    other->join();
    printf("they have slept %.6f s; the sum is %d\n", rsg::Engine::get_clock(), sum);
}
