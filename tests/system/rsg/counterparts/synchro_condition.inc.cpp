namespace synchro_condition
{
static sg::MutexPtr mutex;
static sg::ConditionVariablePtr not_full, not_empty, start;
static std::vector<int> items;
static bool has_begun;

static void wait_for_start()
{
    mutex->lock();
    while (!has_begun)
        start->wait(mutex);
    mutex->unlock();
}

static void producer(int number)
{
    wait_for_start();
    for (int item = 0; item < 4; item++) {
        sg::this_actor::execute(1e7 * (number + 1));
        mutex->lock();
        while (items.size() == 2)
            not_full->wait(mutex);
        items.push_back(10 * number + item);
        say("made " + std::to_string(10 * number + item));
        not_empty->notify_one();
        mutex->unlock();
    }
}

static void consumer(int count)
{
    wait_for_start();
    for (int round = 0; round < count; round++) {
        mutex->lock();
        while (items.empty())
            not_empty->wait(mutex);
        int item = items.front();
        items.erase(items.begin());
        not_full->notify_one();
        mutex->unlock();
        sg::this_actor::sleep_for(0.33);
        say("used " + std::to_string(item));
    }
}

static void starter()
{
    sg::this_actor::sleep_for(1);
    mutex->lock();
    has_begun = true;
    start->notify_all();
    sg::this_actor::sleep_for(0.125);
    mutex->unlock();
    say("begins");
}

static void deploy()
{
    mutex = sg::Mutex::create();
    not_full = sg::ConditionVariable::create();
    not_empty = sg::ConditionVariable::create();
    start = sg::ConditionVariable::create();
    sg::Actor::create("producer", sg::Host::by_name("Fafard"), producer, 1);
    sg::Actor::create("producer", sg::Host::by_name("Ginette"), producer, 2);
    sg::Actor::create("consumer", sg::Host::by_name("Tremblay"), consumer, 5);
    sg::Actor::create("consumer", sg::Host::by_name("Jupiter"), consumer, 3);
    sg::Actor::create("starter", sg::Host::by_name("Boivin"), starter);
}
} // namespace synchro_condition
