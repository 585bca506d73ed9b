namespace exec_dependent
{
static sg::ExecPtr made(double seconds, const char *name)
{
    auto host = sg::Host::by_name(name);
    auto execution = sg::this_actor::exec_init(seconds * host->get_speed());
    return execution->set_host(host);
}

static void diamond()
{
    auto first = made(1, "Tremblay"), left = made(2, "Jupiter"), right = made(3.5, "Fafard"), last = made(0.25, "Tremblay");
    first->add_successor(left)->add_successor(right);
    left->add_successor(last);
    right->add_successor(last);
    for (const auto &execution : {last, left, right, first})
        execution->vetoable_start();
    std::vector<sg::ExecPtr> pending{first, left, right, last};
    while (!pending.empty()) {
        auto place = sg::Exec::wait_any(pending);
        std::string before;
        for (const auto &one : pending)
            before += (before.empty() ? "" : ", ") + std::to_string(one->get_dependencies().size());
        say("place " + std::to_string(place) + " of " + std::to_string(pending.size()) + ", [" + before + "] before");
        pending.erase(pending.begin() + place);
    }
}

static std::string truth(bool value)
{
    return value ? "True" : "False";
}

static void late()
{
    auto first = made(1, "Ginette"), second = made(1, "Ginette"), third = made(1, "Bourassa");
    first->add_successor(second);
    second->add_successor(third);
    first->vetoable_start();
    third->vetoable_start();
    sg::this_actor::sleep_for(1.75);
    auto before = truth(second->dependencies_solved()), told = truth(first->test());
    say("told only now, solved " + before + ": " + told + ", solved " + truth(second->dependencies_solved()));
    second->wait();
    say("second, which began by itself");
    third->wait();
    say("third");
}

static void terms()
{
    auto first = made(0.5, "Jacquelin"), second = made(1, "Jacquelin");
    first->add_successor(second);
    second->set_host(sg::Host::by_name("Boivin"));
    second->set_bound(sg::Host::by_name("Boivin")->get_speed() / 4);
    second->vetoable_start();
    first->vetoable_start();
    first->wait();
    say("first");
    second->wait();
    say("second, on another host and at a quarter of its speed");
}

static void removed()
{
    auto first = made(1, "Boivin"), second = made(1, "Boivin");
    first->add_successor(second);
    first->vetoable_start();
    second->vetoable_start();
    sg::this_actor::sleep_for(0.5);
    first->remove_successor(second);
    sg::this_actor::sleep_for(0.125);
    second->vetoable_start();
    first->wait();
    say("first");
    second->wait();
    say("second, beside it");
}

static void deploy()
{
    for (auto function : {diamond, late, terms, removed})
        sg::Actor::create("actor", sg::Host::by_name("Tremblay"), function);
}
} // namespace exec_dependent
