namespace exec_waitany
{
static void worker(double timeout)
{
    double speed = sg::this_actor::get_host()->get_speed();
    std::vector<sg::ExecPtr> pending;
    for (double seconds : {1.5, 0.5, 2.25, 0.125})
        pending.push_back(sg::this_actor::exec_async(speed * seconds));
    while (!pending.empty()) {
        auto place = timeout > 0 ? sg::Exec::wait_any_for(pending, timeout) : sg::Exec::wait_any(pending);
        say("place " + std::to_string(place) + " of " + std::to_string(pending.size()));
        if (place < 0)
            break;
        pending.erase(pending.begin() + place);
    }
    for (const auto &execution : pending)
        execution->cancel();
}

static void deploy()
{
    sg::Actor::create("worker", sg::Host::by_name("Tremblay"), worker, -1.0);
    sg::Actor::create("worker", sg::Host::by_name("Fafard"), worker, 1.75);
}
} // namespace exec_waitany
