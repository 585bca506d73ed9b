namespace io_dependent
{
static void user(const std::string &name, sg_size_t size)
{
    auto read = sg::Host::by_name("bob")->get_disks().front()->io_init(size, sg::Io::OpType::READ);
    auto computed = sg::this_actor::exec_init(1.5 * sg::this_actor::get_host()->get_speed());
    auto write = sg::Host::by_name("alice")->get_disks().front()->io_init(2 * size, sg::Io::OpType::WRITE);
    read->add_successor(computed);
    computed->add_successor(write);
    write->set_priority(2);
    computed->vetoable_start();
    write->vetoable_start();
    read->vetoable_start();
    read->wait();
    say(name + " one more");
    computed->wait();
    say(name + " one more");
    write->wait();
    say(name + " one more");
}

static void deploy()
{
    auto host = sg::Host::by_name("bob");
    sg::Actor::create("user", host, user, "first", 20000000);
    sg::Actor::create("user", host, user, "second", 45000001);
}
} // namespace io_dependent
