// The scenarios that SimGrid's Python module cannot express, in S4U: main PLATFORM SCENARIO. Each is the Python file beside it.
#include <cstdio>
#include <functional>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

static void say(const std::string &text)
{
    printf("%s %.12f %s\n", sg::this_actor::get_host()->get_cname(), sg::Engine::get_clock(), text.c_str());
}

#include "comm_dependent.inc.cpp"
#include "comm_host_failure.inc.cpp"
#include "exec_dependent.inc.cpp"
#include "exec_failure.inc.cpp"
#include "exec_terms.inc.cpp"
#include "exec_waitany.inc.cpp"
#include "io_dependent.inc.cpp"
#include "mailbox_state.inc.cpp"
#include "platform_properties.inc.cpp"
#include "synchro_condition.inc.cpp"
#include "synchro_condition_timeout.inc.cpp"

static const std::map<std::string, std::function<void()>> scenarios{
    {"comm_dependent", comm_dependent::deploy},
    {"comm_host_failure", comm_host_failure::deploy},
    {"exec_dependent", exec_dependent::deploy},
    {"exec_failure", exec_failure::deploy},
    {"exec_terms", exec_terms::deploy},
    {"exec_waitany", exec_waitany::deploy},
    {"io_dependent", io_dependent::deploy},
    {"mailbox_state", mailbox_state::deploy},
    {"platform_properties", platform_properties::deploy},
    {"synchro_condition", synchro_condition::deploy},
    {"synchro_condition_timeout", synchro_condition_timeout::deploy},
};

int main(int argc, char *argv[])
{
    sg::Engine engine(&argc, argv);
    engine.load_platform(argv[1]);
    scenarios.at(argv[2])();
    engine.run();
    printf("end %.12f\n", sg::Engine::get_clock());
    return 0;
}
