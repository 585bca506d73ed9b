/* What executions, parallel tasks, reads and writes have in common for programs in C++, spelled as SimGrid's S4U spells it. */
#ifndef RSG_ACTIVITY_HPP
#define RSG_ACTIVITY_HPP

#include "rsg.hpp"

#include <rsg_protocol.h>

namespace rsg
{
class Activity;
typedef std::shared_ptr<Activity> ActivityPtr;

/* Something that takes time, known by a number once it has begun or has dependencies. */
class Activity : public std::enable_shared_from_this<Activity>
{
    int64_t _number = 0;
    bool _is_over = false, _is_made = false, _is_started = false;
    std::vector<ActivityPtr> _predecessors; /* kept, since somebody is to wait for them */

    /* Have the server begin the activity, or only make it: the error. */
    virtual int create(bool begins, int64_t *number) = 0;

    int64_t make()
    {
        if (_number == 0) {
            check(create(false, &_number));
            _is_made = true;
        }
        return _number;
    }

  protected:
    Activity() = default;
    void set_term(int64_t term, double value)
    {
        if (_is_made)
            check(rsg_set_term(_number, term, value));
    }
    /* What is left; `whole` before the beginning. */
    double left(double whole) const
    {
        struct rsg_activity_state state;
        if (_number == 0 || _is_over)
            return _is_over ? 0 : whole;
        check(rsg_activity(_number, &state));
        return state.remaining;
    }
    void update(double priority) { check(rsg_set_priority(_number, priority)); }

  public:
    Activity(const Activity &) = delete;
    Activity &operator=(const Activity &) = delete;
    virtual ~Activity()
    {
        if (_number != 0 && !_is_over)
            rsg_forget(_number);
    }
    /* Begins, unless it has begun; what has dependencies begins once these are solved, as by S4U's vetoable_start. */
    void start()
    {
        if (_number == 0)
            check(create(true, &_number));
        else if (_is_made && !_is_over)
            check(rsg_start(_number));
        _is_started = true;
    }
    void wait() { wait_for(-1); }
    void wait_for(double timeout)
    {
        if (!_is_started)
            start();
        int error = rsg_wait(_number, timeout, nullptr);
        _is_over = error != RSG_TIMEOUT;
        if (_is_over)
            _predecessors.clear();
        check(error);
    }
    bool test()
    {
        int64_t is_over;
        if (!_is_started)
            start();
        if (!_is_over) {
            check(rsg_test(_number, &is_over));
            if (is_over)
                wait();
        }
        return _is_over;
    }
    void cancel() { check(rsg_cancel(_number)); }
    void suspend() { check(rsg_hold(_number, 1)); }
    void resume() { check(rsg_hold(_number, 0)); }

    /* The successor, which has not begun, begins once this one is done and somebody has been told so, by a wait or a test. */
    void add_successor(const ActivityPtr &successor)
    {
        check(rsg_add_successor(make(), successor->make()));
        successor->_predecessors.push_back(shared_from_this());
    }
    void remove_successor(const ActivityPtr &successor) { check(rsg_remove_successor(make(), successor->make())); }
    std::vector<ActivityPtr> get_dependencies() const
    {
        std::vector<int64_t> numbers(_predecessors.size());
        std::vector<ActivityPtr> found;
        size_t count = 0;
        if (_is_made && !_is_over)
            check(rsg_dependencies(_number, numbers.data(), numbers.size(), &count));
        for (size_t i = 0; i < count; i++)
            for (const ActivityPtr &one : _predecessors)
                if (one->_number == numbers[i]) {
                    found.push_back(one);
                    break;
                }
        return found;
    }
    bool dependencies_solved() const { return get_dependencies().empty(); }

    /* The place of the first that is over; -1 if the time is over before. */
    template <class AnyPtr> static int wait_any_for(const std::vector<AnyPtr> &activities, double timeout)
    {
        std::vector<int64_t> numbers;
        int64_t place;
        if (activities.empty())
            return -1;
        for (const AnyPtr &one : activities) {
            if (!one->_is_started)
                one->start();
            numbers.push_back(one->_number);
        }
        check(rsg_wait_any(numbers.data(), numbers.size(), timeout, &place));
        if (place >= 0)
            activities[static_cast<size_t>(place)]->wait();
        return static_cast<int>(place);
    }
    template <class AnyPtr> static int wait_any(const std::vector<AnyPtr> &activities) { return wait_any_for(activities, -1); }
};
} // namespace rsg

#endif
