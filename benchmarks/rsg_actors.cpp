// Actors for `simunix bench rsg`, on SimGrid's S4U in C++: the loads of rsg_actors.py. Each actor is a thread if it is started with
// --cfg=contexts/factory:thread.
//
// rsg_actors PLATFORM LOAD ACTORS ROUNDS
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

// A number below `below`, as in rsg_actors.py (Knuth TAOCP 3.3.4, MMIX).
static int draw(int below)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state >> 33) % below);
}

static void turn(const std::string &first, const std::string &second, int count, bool begins)
{
    auto *to = sg4::Mailbox::by_name(first), *from = sg4::Mailbox::by_name(second);
    static char payload = 'x';

    for (int i = 0; i < count; i++) {
        if (!begins)
            from->get<char>();
        to->put(&payload, 1);
        if (begins)
            from->get<char>();
    }
}

static void talk(int own, const std::vector<int> &receivers, int come)
{
    static char payload = 'x';

    for (int receiver : receivers)
        sg4::Mailbox::by_name(std::to_string(receiver))->put_init(&payload, 1000)->detach();
    for (int i = 0; i < come; i++)
        sg4::Mailbox::by_name(std::to_string(own))->get<char>();
}

static void rest(const std::vector<int> &draws)
{
    for (int drawn : draws)
        sg4::this_actor::sleep_for(0.001 * (1 + drawn));
}

static void create_many(const std::string &load, int actors, int rounds)
{
    std::vector<std::vector<int>> sent(actors);
    std::vector<int> come(actors);

    for (auto &drawn : sent)
        for (int i = 0; i < rounds; i++) {
            drawn.push_back(draw(actors));
            come[drawn.back()]++;
        }
    for (int own = 0; own < actors; own++) {
        auto *host = sg4::Host::by_name("node-" + std::to_string(own % 100));

        if (load == "sleepers")
            sg4::Actor::create(std::to_string(own), host, rest, sent[own]);
        else
            sg4::Actor::create(std::to_string(own), host, talk, own, sent[own], come[own]);
    }
}

int main(int argc, char **argv)
{
    sg4::Engine engine(&argc, argv);
    if (argc != 5) {
        std::fprintf(stderr, "usage: %s PLATFORM LOAD ACTORS ROUNDS\n", argv[0]);
        return 2;
    }
    const std::string load = argv[2];
    const int actors = std::atoi(argv[3]), rounds = std::atoi(argv[4]);

    engine.load_platform(argv[1]);
    if (load == "ping-pong") {
        sg4::Actor::create("ping", sg4::Host::by_name("one"), turn, "there", "back", rounds / 2, true);
        sg4::Actor::create("pong", sg4::Host::by_name("two"), turn, "back", "there", rounds / 2, false);
    } else {
        create_many(load, actors, rounds);
    }
    engine.run();
    std::printf("%.9f\n", sg4::Engine::get_clock());
    return 0;
}
