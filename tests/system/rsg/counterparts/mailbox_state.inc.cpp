namespace mailbox_state
{
static void look(const std::string &name)
{
    const sg::Mailbox *box = sg::Mailbox::by_name(name);
    say(name + ": listen " + std::to_string(box->listen()) + ", ready " + std::to_string(box->ready()));
}

static void sender()
{
    static std::string payload = "one";
    for (const char *name : {"plain", "permanent"})
        sg::Mailbox::by_name(name)->put_init(&payload, 3'000'000)->detach();
}

static void receiver()
{
    sg::Mailbox::by_name("permanent")->set_receiver(sg::Actor::self());
    sg::this_actor::sleep_for(0.01);
    for (int round = 0; round < 4; round++) {
        look("plain");
        look("permanent");
        sg::this_actor::sleep_for(0.3);
    }
    for (std::string name : {"permanent", "plain"}) {
        sg::Mailbox::by_name(name)->get<std::string>();
        say("received from " + name);
        look(name);
    }
}

static void deploy()
{
    sg::Actor::create("receiver", sg::Host::by_name("Fafard"), receiver);
    sg::Actor::create("sender", sg::Host::by_name("Tremblay"), sender);
}
} // namespace mailbox_state
