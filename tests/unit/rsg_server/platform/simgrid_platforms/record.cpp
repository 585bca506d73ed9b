/* Prints SimGrid's route and latency for pairs of hosts of a platform file: record.py says which. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <unistd.h>

int main(int argc, char** argv)
{
  simgrid::s4u::Engine engine(&argc, argv);
  engine.load_platform(argv[1]);
  engine.get_netzone_root()->seal();
  auto hosts = engine.get_all_hosts();
  std::sort(hosts.begin(), hosts.end(), [](auto* a, auto* b) { return a->get_name() < b->get_name(); });
  unsigned long count = hosts.size(), limit = std::strtoul(argv[2], nullptr, 10);
  bool all = count * count <= limit;
  for (unsigned long k = 0; k < (all ? count * count : limit); k++) {
    auto* source      = hosts[all ? k / count : k * 7919 % count];
    auto* destination = hosts[all ? k % count : k * 104729 % (count * count) / count];
    std::vector<simgrid::s4u::Link*> links;
    double latency = 0;
    std::printf("%s\t%s\t", source->get_cname(), destination->get_cname());
    try {
      source->route_to(destination, links, &latency);
      std::printf("%.9e\t", latency);
      for (auto* link : links)
        std::printf("%s ", link->get_cname());
    } catch (std::exception const&) {
      std::printf("no route\t");
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  _exit(0);
}
