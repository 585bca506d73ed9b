namespace exec_terms
{
static void worker(const std::string &name, double priority, double bound)
{
    auto execution = sg::this_actor::exec_init(1e8)->set_priority(priority);
    if (bound > 0)
        execution->set_bound(bound);
    execution->start();
    execution->wait();
    say(name + " has computed");
}

static void changer()
{
    auto execution = sg::this_actor::exec_init(2e8)->set_priority(3);
    execution->start();
    sg::this_actor::sleep_for(2);
    execution->update_priority(0.5);
    sg::this_actor::execute(1e7, 4);
    say("a short one with priority 4 is over");
    execution->wait();
    say("the one with the changed priority is over");
}

static void deploy()
{
    sg::Host *fafard = sg::Host::by_name("Fafard");
    sg::Actor::create("worker", fafard, worker, "plain", 1.0, -1.0);
    sg::Actor::create("worker", fafard, worker, "double", 2.0, -1.0);
    sg::Actor::create("worker", fafard, worker, "bounded", 1.0, 5e6);
    sg::Actor::create("changer", fafard, changer);
    sg::Actor::create("worker", sg::Host::by_name("Ginette"), worker, "bounded alone", 1.0, 1e7);
}
} // namespace exec_terms
