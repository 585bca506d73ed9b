namespace exec_failure
{
static void resident(double seconds)
{
    sg::this_actor::on_exit(
        [](bool failed) { printf("the resident ends at %.12f, failed %d\n", sg::Engine::get_clock(), failed); });
    sg::this_actor::execute(sg::this_actor::get_host()->get_speed() * seconds);
    say("never, the first time");
}

static void remote()
{
    sg::Host *fafard = sg::Host::by_name("Fafard");
    auto execution = sg::this_actor::exec_init(1e9);
    execution->set_host(fafard);
    execution->start();
    try {
        execution->wait();
        say("never");
    } catch (const simgrid::HostFailureException &) {
        say("the execution has failed; the host is on: " + std::to_string(fafard->is_on()));
    }
    sg::this_actor::sleep_for(2);
    say("the host is on: " + std::to_string(fafard->is_on()));
    sg::Actor::create("resident", fafard, resident, 1.5)->join();
    say("joined the second resident");
}

static void turn()
{
    sg::Host *fafard = sg::Host::by_name("Fafard");
    sg::this_actor::sleep_for(2.5);
    fafard->turn_off();
    say("off");
    try {
        sg::Actor::create("resident", fafard, resident, 1.0);
        say("never");
    } catch (const simgrid::HostFailureException &) {
        say("no actor can be made there");
    }
    sg::this_actor::sleep_for(1);
    fafard->turn_on();
    say("on");
}

static void deploy()
{
    sg::Actor::create("resident", sg::Host::by_name("Fafard"), resident, 10.0);
    sg::Actor::create("remote", sg::Host::by_name("Tremblay"), remote);
    sg::Actor::create("switch", sg::Host::by_name("Jupiter"), turn);
}
} // namespace exec_failure
