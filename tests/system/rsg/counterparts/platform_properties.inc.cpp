namespace platform_properties
{
static std::string number(const char *format, double value)
{
    char text[64];
    snprintf(text, sizeof text, format, value);
    return text;
}

static void asker()
{
    for (const sg::Host *host : sg::Engine::get_instance()->get_all_hosts()) {
        say(host->get_name() + ": " + std::to_string(host->get_core_count()) + " cores of " +
            number("%.6f", host->get_speed()) + " flop/s, " + std::to_string(host->get_pstate_count()) + " speeds, now " +
            std::to_string(host->get_pstate()));
        sg::this_actor::sleep_for(0.5);
    }
    sg::Host *first = sg::Host::by_name("host1");
    for (const char *key : {"Hdd", "nothing"}) {
        const char *value = first->get_property(key);
        say(std::string(key) + ": " + (value != nullptr ? value : ""));
    }
    std::vector<sg::Link *> links;
    double latency = 0;
    first->route_to(sg::Host::by_name("host2"), links, &latency);
    say(std::to_string(links.size()) + " links, " + number("%.9f", latency) + " s: " + links[0]->get_name() + ", " +
        number("%.3f", links[0]->get_bandwidth()) + " B/s, " + number("%.9f", sg::Link::by_name("l1")->get_latency()) + " s");
    sg::Host *host = sg::this_actor::get_host();
    auto execution = sg::this_actor::exec_async(host->get_speed());
    sg::this_actor::sleep_for(0.25);
    say("load " + number("%.6f", host->get_load()));
    execution->wait();
    say("load " + number("%.6f", host->get_load()));
}

static void deploy()
{
    sg::Actor::create("asker", sg::Host::by_name("host1"), asker);
}
} // namespace platform_properties
