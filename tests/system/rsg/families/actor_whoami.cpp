// Who an actor is.
//> actor_whoami has pid 1, parent 0, on alice, and is no maestro
//> the actor itself says actor_whoami, 1, alice
#include <rsg.hpp>

#include <cstdio>

int main()
{
    printf("%s has pid %d, parent %d, on %s, and is %s\n", rsg::this_actor::get_name().c_str(), rsg::this_actor::get_pid(),
           rsg::this_actor::get_ppid(), rsg::this_actor::get_host()->get_cname(),
           rsg::this_actor::is_maestro() ? "maestro" : "no maestro");
    auto self = rsg::Actor::self();
    printf("the actor itself says %s, %d, %s\n", self->get_name().c_str(), self->get_pid(), self->get_host()->get_cname());
}
