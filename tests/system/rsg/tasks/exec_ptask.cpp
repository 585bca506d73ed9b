// Parallel tasks and executions, some of which begin after others: one source for S4U (with SIMGRID defined) and for Remote SimGrid.
#ifdef SIMGRID
#include <simgrid/s4u.hpp>
namespace sg = simgrid::s4u;
#define START vetoable_start
#else
#include <rsg/exec.hpp>
namespace sg = rsg;
#define START start
#endif

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

static void say(const std::string &text)
{
    printf("%s %.12f %s\n", sg::this_actor::get_host()->get_cname(), sg::Engine::get_clock(), text.c_str());
    fflush(stdout);
}

static auto hosts(size_t count)
{
    std::vector<decltype(sg::Host::by_name(""))> found;
    for (const char *name : {"Tremblay", "Jupiter", "Fafard", "Ginette", "Bourassa"})
        if (found.size() < count)
            found.push_back(sg::Host::by_name(name));
    return found;
}

static void runner(void *)
{
    sg::this_actor::parallel_execute(hosts(3), {1e9, 1e9, 1e9}, {0, 1e7, 2e7, 0, 0, 5e6, 0, 0, 0});
    say("both");
    sg::this_actor::parallel_execute(hosts(3), {1e8, 2e8, 3e8}, {});
    say("computing");
    auto sending = sg::this_actor::exec_init(hosts(2), {0, 0}, {0, 1e6, 2e6, 0});
    auto both = sg::this_actor::exec_init(hosts(3), {1e8, 1e8, 1e8}, {0, 1e6, 1e6, 2e6, 0, 2e6, 3e6, 3e6, 0});
    auto last = sg::this_actor::exec_init(5e7);
    sending->add_successor(both);
    both->add_successor(last);
    last->START();
    both->START();
    sending->START();
    say(both->dependencies_solved() || last->get_dependencies().size() != 1 ? "too early" : "vetoed");
    sending->wait();
    say("sent");
    last->set_priority(2);
    both->wait();
    say("both after it");
    last->wait();
    say("one after them");
}

static void beside(void *)
{
    sg::this_actor::sleep_for(3);
    auto task = sg::Exec::init()->set_hosts(hosts(5));
    task->set_flops_amounts(std::vector<double>(5, 3e8))->set_bytes_amounts(std::vector<double>(25, 2e6));
    task->START();
    task->wait();
    say("beside");
    auto waited = sg::this_actor::exec_async(1e8);
    std::vector<decltype(waited)> pending{sg::this_actor::exec_async(9e8), waited};
    say("place " + std::to_string(sg::Exec::wait_any(pending)));
    say("left " + std::to_string(std::lround(pending[0]->get_remaining_ratio() * 1e6)));
    pending[0]->cancel();
}

int main(int argc, char *argv[])
{
#ifdef SIMGRID
    sg::Engine engine(&argc, argv);
    engine.load_platform(argv[1]);
    sg::Actor::create("runner", sg::Host::by_name("Tremblay"), runner, nullptr);
    sg::Actor::create("beside", sg::Host::by_name("Ginette"), beside, nullptr);
    engine.run();
#else
    (void)argc, (void)argv;
    rsg::connect();
    auto first = rsg::Actor::create("runner", rsg::Host::by_name("Tremblay"), runner, nullptr);
    auto second = rsg::Actor::create("beside", rsg::Host::by_name("Ginette"), beside, nullptr);
    first->join();
    second->join();
#endif
}
