namespace comm_host_failure
{
static std::string text_of(const char *name)
{
    return name;
}

static void sender()
{
    static std::string payload = "text";
    auto slow = sg::Mailbox::by_name("slow")->put_async(&payload, 400'000'000);
    auto quick = sg::Mailbox::by_name("quick")->put_async(&payload, 1'000'000);
    std::vector<sg::CommPtr> pending{slow, quick};
    while (!pending.empty()) {
        try {
            auto place = sg::Comm::wait_any(pending);
            say("place " + std::to_string(place) + " is over");
            pending.erase(pending.begin() + place);
        } catch (const simgrid::NetworkFailureException &) {
            say("the network has failed");
            pending.erase(pending.begin());
        }
    }
}

static void receiver(const char *name)
{
    try {
        sg::Mailbox::by_name(name)->get<std::string>();
        say("received " + text_of(name));
    } catch (const simgrid::NetworkFailureException &) {
        say(text_of(name) + ": the network has failed");
    }
}

static void victim()
{
    static std::string payload = "lost";
    sg::Mailbox::by_name("from the victim")->put(&payload, 500'000'000);
}

static void turn()
{
    sg::this_actor::sleep_for(4);
    sg::Host::by_name("Ginette")->turn_off();
    say("off");
}

static void deploy()
{
    sg::Actor::create("sender", sg::Host::by_name("Tremblay"), sender);
    sg::Actor::create("receiver", sg::Host::by_name("Ginette"), receiver, "slow");
    sg::Actor::create("receiver", sg::Host::by_name("Fafard"), receiver, "quick");
    sg::Actor::create("victim", sg::Host::by_name("Ginette"), victim);
    sg::Actor::create("receiver", sg::Host::by_name("Bourassa"), receiver, "from the victim");
    sg::Actor::create("switch", sg::Host::by_name("Jupiter"), turn);
}
} // namespace comm_host_failure
