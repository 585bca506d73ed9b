namespace synchro_condition_timeout
{
static sg::MutexPtr mutex;
static sg::ConditionVariablePtr condition;

static std::string plain(double number)
{
    char text[32];
    snprintf(text, sizeof text, "%g", number);
    return text;
}

static void patient()
{
    std::unique_lock lock(*mutex);
    for (double duration : {0.5, 2.0, 5.0}) {
        bool is_late = condition->wait_for(lock, duration) == std::cv_status::timeout;
        say("waited at most " + plain(duration) + ": late " + std::to_string(is_late));
    }
    for (double date : {9.25, 20.0}) {
        bool is_late = condition->wait_until(lock, date) == std::cv_status::timeout;
        say("waited until " + plain(date) + " at most: late " + std::to_string(is_late));
    }
}

static void notifier()
{
    for (double pause : {1.75, 3.5, 7.0}) {
        sg::this_actor::sleep_for(pause);
        mutex->lock();
        condition->notify_one();
        sg::this_actor::sleep_for(0.25);
        mutex->unlock();
        say("notified");
    }
}

static void deploy()
{
    mutex = sg::Mutex::create();
    condition = sg::ConditionVariable::create();
    sg::Actor::create("patient", sg::Host::by_name("Fafard"), patient);
    sg::Actor::create("notifier", sg::Host::by_name("Tremblay"), notifier);
}
} // namespace synchro_condition_timeout
