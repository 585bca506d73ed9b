/* The flows of benchmarks/solver.py in SimGrid: one actor starts each at its time, and waits for all of them.
 *
 *     solver_simgrid PLATFORM FLOWS [--cfg=...]      FLOWS: lines of `source destination bytes start`, in the order of start
 *
 * Prints the seconds of real time that the run took, without loading the platform, then when each flow finished. */
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

struct Flow {
    std::string source, destination;
    double bytes, start;
};

static std::vector<Flow> flows;
static std::vector<sg4::CommPtr> comms;

static void send_all()
{
    for (const Flow &flow : flows) {
        if (flow.start > sg4::Engine::get_clock())
            sg4::this_actor::sleep_until(flow.start);
        comms.push_back(
            sg4::Comm::sendto_async(sg4::Host::by_name(flow.source), sg4::Host::by_name(flow.destination), flow.bytes));
    }
    for (const sg4::CommPtr &comm : comms)
        comm->wait();
}

int main(int count, char **arguments)
{
    sg4::Engine engine(&count, arguments);
    engine.load_platform(arguments[1]);
    std::ifstream lines(arguments[2]);
    for (Flow flow; lines >> flow.source >> flow.destination >> flow.bytes >> flow.start;)
        flows.push_back(flow);
    sg4::Actor::create("sender", engine.get_all_hosts()[0], send_all);
    auto before = std::chrono::steady_clock::now();
    engine.run();
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
    std::printf("%.9f\n", taken.count());
    for (const sg4::CommPtr &comm : comms)
        std::printf("%.12f\n", comm->get_finish_time());
}
