/* Executions and parallel tasks for programs in C++. Remote SimGrid has none: these are spelled as SimGrid's S4U spells them. */
#ifndef RSG_EXEC_HPP
#define RSG_EXEC_HPP

#include "activity.hpp"

namespace rsg
{
class Exec;
typedef std::shared_ptr<Exec> ExecPtr;

/* Flops on a host, the caller's unless another one is set; or a parallel task, once it has hosts: flops on each, and bytes from
 * each to each, row by row, of which the same part is done at each moment. Tasks need the flow model ptask_L07. */
class Exec : public Activity
{
    HostPtr _host;
    double _flops = 0, _priority = 1, _bound = -1;
    std::vector<int64_t> _hosts;
    std::vector<double> _amounts, _bytes;

    Exec() = default;
    ExecPtr self() { return std::static_pointer_cast<Exec>(shared_from_this()); }

    int create(bool begins, int64_t *number) override
    {
        if (_hosts.empty()) {
            int64_t host = _host ? _host->number : -1;
            return (begins ? rsg_execute_async : rsg_execute_init)(host, _flops, _priority, _bound, number);
        }
        if (_amounts.empty())
            _amounts.assign(_hosts.size(), 0);
        if (_amounts.size() != _hosts.size() || (!_bytes.empty() && _bytes.size() != _hosts.size() * _hosts.size()))
            return RSG_BAD_VALUE;
        const double *bytes = _bytes.empty() ? nullptr : _bytes.data();
        auto operation = begins ? rsg_parallel_async : rsg_parallel_init;
        return operation(_hosts.data(), _amounts.data(), bytes, _hosts.size(), number);
    }

  public:
    static ExecPtr init() { return ExecPtr(new Exec()); }
    ExecPtr set_flops_amount(double flops)
    {
        _flops = flops;
        set_term(RSG_AMOUNT, flops);
        return self();
    }
    ExecPtr set_host(const HostPtr &host)
    {
        set_term(RSG_WHERE, static_cast<double>(host->number));
        _host = host;
        return self();
    }
    ExecPtr set_priority(double priority)
    {
        set_term(RSG_WEIGHT, priority);
        _priority = priority;
        return self();
    }
    ExecPtr set_bound(double bound)
    {
        set_term(RSG_BOUND, bound);
        _bound = bound;
        return self();
    }
    ExecPtr update_priority(double priority)
    {
        update(priority);
        return self();
    }
    /* Of a parallel task, before it begins or has dependencies. */
    ExecPtr set_hosts(const std::vector<HostPtr> &hosts)
    {
        _hosts.clear();
        for (const HostPtr &host : hosts)
            _hosts.push_back(host->number);
        return self();
    }
    ExecPtr set_flops_amounts(const std::vector<double> &flops)
    {
        _amounts = flops;
        return self();
    }
    ExecPtr set_bytes_amounts(const std::vector<double> &bytes)
    {
        _bytes = bytes;
        return self();
    }
    bool is_parallel() const { return !_hosts.empty(); }
    /* Flops; of a parallel task the part that is left, at most 1. */
    double get_remaining() const { return left(is_parallel() ? 1 : _flops); }
    double get_remaining_ratio() const { return is_parallel() ? left(1) : _flops > 0 ? left(_flops) / _flops : 0; }
};

namespace this_actor
{
inline ExecPtr exec_init(double flops)
{
    return Exec::init()->set_host(Host::current())->set_flops_amount(flops);
}
inline ExecPtr exec_init(const std::vector<HostPtr> &hosts, const std::vector<double> &flops, const std::vector<double> &bytes)
{
    return Exec::init()->set_hosts(hosts)->set_flops_amounts(flops)->set_bytes_amounts(bytes);
}
inline ExecPtr exec_async(double flops)
{
    ExecPtr execution = exec_init(flops);
    execution->start();
    return execution;
}
inline void parallel_execute(const std::vector<HostPtr> &hosts, const std::vector<double> &flops, const std::vector<double> &bytes)
{
    exec_init(hosts, flops, bytes)->wait();
}
} // namespace this_actor
} // namespace rsg

#endif
