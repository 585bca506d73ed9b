/* Prints what SimGrid's plugins host_energy and link_energy say a case consumes.
 *
 *   g++ -O1 -std=c++17 energies.cpp -o energies -lsimgrid
 *   energies PLATFORM.xml [--cfg=...] < CASE
 *
 * A case has a line for each thing that happens: `execute HOST START FLOPS`, `send FROM TO START BYTES`,
 * `pstate HOST TIME NUMBER`, `off HOST TIME`, `on HOST TIME`, `end TIME`. The answer has `host NAME JOULES` and `link NAME JOULES`. */

#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

struct Line {
  std::string what, first, second;
  double time = 0, value = 0;
};

static Line parse(const std::string& text)
{
  std::istringstream in(text);
  Line line;
  in >> line.what;
  if (line.what != "end")
    in >> line.first;
  if (line.what == "send")
    in >> line.second;
  in >> line.time >> line.value;
  return line;
}

static void execute(Line line)
{
  sg4::this_actor::sleep_until(line.time);
  sg4::this_actor::execute(line.value);
}

static void receive(std::string box)
{
  sg4::Mailbox::by_name(box)->get_unique<int>();
}

static void send(Line line, std::string box)
{
  sg4::this_actor::sleep_until(line.time);
  sg4::Mailbox::by_name(box)->put(new int(0), static_cast<uint64_t>(line.value));
}

static void control(std::vector<Line> lines, double end)
{
  for (const Line& line : lines) {
    sg4::this_actor::sleep_until(line.time);
    auto* host = sg4::Host::by_name(line.first);
    if (line.what == "off")
      host->turn_off();
    else if (line.what == "on")
      host->turn_on();
    else
      host->set_pstate(static_cast<int>(line.value));
  }
  sg4::this_actor::sleep_until(end);
  printf("clock %.17g\n", sg4::Engine::get_clock());
  for (auto* host : sg4::Engine::get_instance()->get_all_hosts())
    if (host->get_property("wattage_per_state"))
      printf("host %s %.17g\n", host->get_cname(), sg_host_get_consumed_energy(host));
  for (auto* link : sg4::Engine::get_instance()->get_all_links())
    if (link->get_property("wattage_range"))
      printf("link %s %.17g\n", link->get_cname(), sg_link_get_consumed_energy(link));
  fflush(stdout);
  exit(0);
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  sg_host_energy_plugin_init();
  sg_link_energy_plugin_init();
  engine.load_platform(argv[1]);
  std::vector<Line> controls;
  std::string text;
  double end = 0;
  int number = 0;
  while (std::getline(std::cin, text)) {
    Line line = parse(text);
    if (line.what == "end")
      end = line.time;
    else if (line.what == "execute")
      sg4::Actor::create("execute", sg4::Host::by_name(line.first), execute, line);
    else if (line.what == "send") {
      std::string box = "box" + std::to_string(number++);
      sg4::Actor::create("receive", sg4::Host::by_name(line.second), receive, box);
      sg4::Actor::create("send", sg4::Host::by_name(line.first), send, line, box);
    } else
      controls.push_back(line);
  }
  sg4::Actor::create("control", sg4::Host::by_name("controller"), control, controls, end);
  engine.run();
}
