namespace comm_dependent
{
static std::string truth(bool value)
{
    return value ? "True" : "False";
}

static void sender()
{
    static std::string payload = "payload";
    double speed = sg::this_actor::get_host()->get_speed();
    auto computed = sg::this_actor::exec_init(2 * speed), after = sg::this_actor::exec_init(speed);
    auto put = sg::Mailbox::by_name("box")->put_init(&payload, 30000000);
    computed->add_successor(put);
    put->add_successor(after);
    put->vetoable_start();
    after->vetoable_start();
    computed->vetoable_start();
    computed->wait();
    say("computed, " + truth(put->dependencies_solved()) + " " + truth(after->dependencies_solved()));
    put->wait();
    say("sent");
    after->wait();
    say("computed again");
}

static void receiver()
{
    static std::string *payload;
    auto get = sg::Mailbox::by_name("box")->get_init();
    get->set_dst_data(reinterpret_cast<void **>(&payload), sizeof payload);
    auto computed = sg::this_actor::exec_init(sg::this_actor::get_host()->get_speed() / 2);
    get->add_successor(computed);
    get->vetoable_start();
    computed->vetoable_start();
    get->wait();
    say("received " + *payload);
    computed->wait();
    say("computed");
}

static void between()
{
    auto one = sg::Host::by_name("Ginette"), two = sg::Host::by_name("Bourassa"), three = sg::Host::by_name("Jacquelin");
    auto first = sg::Comm::sendto_init(one, two)->set_payload_size(5000000), second = sg::Comm::sendto_init(two, three);
    auto computed = sg::this_actor::exec_init(1e8)->set_host(three);
    first->add_successor(second);
    second->add_successor(computed);
    second->set_payload_size(7000000);
    second->vetoable_start();
    computed->vetoable_start();
    first->vetoable_start();
    first->wait();
    say("one more");
    second->wait();
    say("one more");
    computed->wait();
    say("one more");
}

static void deploy()
{
    sg::Actor::create("sender", sg::Host::by_name("Tremblay"), sender);
    sg::Actor::create("receiver", sg::Host::by_name("Jupiter"), receiver);
    sg::Actor::create("between", sg::Host::by_name("Fafard"), between);
}
} // namespace comm_dependent
