/* Remote SimGrid for programs in C++, with the names of Remote SimGrid's own library: namespace rsg, here written over librsg.
 *
 * The main thread of an emulated program is an actor before main() begins, if the variable RSG_AUTOCONNECT is set, or once it
 * calls rsg::connect(). Each operation that fails throws rsg::Error; that of an actor that was killed throws rsg::ForcefulKill. */
#ifndef RSG_HPP
#define RSG_HPP

#include <rsg.h>

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace rsg
{
class Actor;
class Comm;
class ConditionVariable;
class Host;
class Mailbox;
class Mutex;
typedef std::shared_ptr<Actor> ActorPtr;
typedef std::shared_ptr<Comm> CommPtr;
typedef std::shared_ptr<ConditionVariable> ConditionVariablePtr;
typedef std::shared_ptr<Host> HostPtr;
typedef std::shared_ptr<Mailbox> MailboxPtr;
typedef std::shared_ptr<Mutex> MutexPtr;

class Error : public std::runtime_error
{
  public:
    const int code;
    explicit Error(int code) : std::runtime_error(rsg_error_text(code)), code(code) {}
};

struct TimeoutException : Error {
    using Error::Error;
};
struct CancelException : Error {
    using Error::Error;
};
struct NetworkFailureException : Error {
    using Error::Error;
};
struct HostFailureException : Error {
    using Error::Error;
};
struct StorageFailureException : Error {
    using Error::Error;
};
struct ForcefulKill {
};

/* Throw what an error means; 0 is none. The numbers are those of enum simunix_rsg_error. */
inline void check(int code)
{
    switch (code) {
    case 0:
        return;
    case 11:
        throw TimeoutException(code);
    case 12:
        throw CancelException(code);
    case 13:
        throw NetworkFailureException(code);
    case 14:
        throw HostFailureException(code);
    case 15:
        throw ForcefulKill();
    case 25:
        throw StorageFailureException(code);
    default:
        throw Error(code);
    }
}

inline void connect(int actor_id)
{
    int64_t own;
    check(rsg_connect(actor_id, "", &own));
}

inline void connect()
{
    int64_t own;
    check(rsg_connect_from_environment("actor", &own));
}

inline void disconnect()
{
    rsg_end();
}

class Engine
{
    Engine() = delete;

  public:
    static double get_clock()
    {
        double date;
        check(rsg_clock(&date));
        return date;
    }
};

class Host
{
    friend class Actor;
    std::string _name;

    explicit Host(int64_t number) : number(number)
    {
        struct rsg_host_state state;
        check(rsg_host_state(number, &state));
        _name = state.name;
    }

  public:
    const int64_t number;

    static HostPtr by_name(const std::string &name)
    {
        int64_t found;
        check(rsg_host(name.c_str(), &found));
        return HostPtr(new Host(found));
    }
    static HostPtr by_name_or_null(const std::string &name)
    {
        int64_t found;
        return rsg_host(name.c_str(), &found) == 0 ? HostPtr(new Host(found)) : HostPtr();
    }
    static HostPtr current()
    {
        int64_t found;
        check(rsg_host_at(-1, &found));
        return HostPtr(new Host(found));
    }
    std::string get_name() const { return _name; }
    const char *get_cname() const { return _name.c_str(); }
    double get_speed() const
    {
        struct rsg_host_state state;
        check(rsg_host_state(number, &state));
        return state.speed;
    }
    int get_core_count() const
    {
        struct rsg_host_state state;
        check(rsg_host_state(number, &state));
        return static_cast<int>(state.cores);
    }
};

class Actor
{
    const int _id;

    explicit Actor(int64_t id) : _id(static_cast<int>(id)) {}

    struct rsg_actor_state state() const
    {
        struct rsg_actor_state told;
        check(rsg_actor(_id, &told));
        return told;
    }

    struct Code {
        std::function<void(void *)> code;
        void *data;
    };

    static int begin(void *told)
    {
        std::unique_ptr<Code> code(static_cast<Code *>(told));
        try {
            code->code(code->data);
        } catch (const ForcefulKill &) {
        } catch (const Error &error) {
            fprintf(stderr, "%s\n", error.what());
        }
        return 0;
    }

  public:
    static ActorPtr self()
    {
        struct rsg_actor_state told;
        check(rsg_actor(0, &told));
        return ActorPtr(new Actor(told.pid));
    }
    /* In a thread of this program. */
    static ActorPtr create(const std::string &name, const HostPtr &host, const std::function<void(void *)> &code, void *data)
    {
        int64_t pid;
        check(rsg_actor_start(host->number, name.c_str(), begin, new Code{code, data}, &pid));
        return ActorPtr(new Actor(pid));
    }
    /* As fork(2): the process goes on twice, and the child is an actor of its own; -1 if that cannot be. */
    static int fork(const std::string &name, const HostPtr &host)
    {
        int64_t pid;
        return rsg_actor_fork(host->number, name.c_str(), &pid) == 0 ? static_cast<int>(pid) : -1;
    }
    HostPtr get_host() const { return HostPtr(new Host(state().host)); }
    std::string get_name() const { return state().name; }
    int get_pid() const { return _id; }
    int get_ppid() const { return static_cast<int>(state().parent); }
    void join() { join(-1); }
    void join(double timeout)
    {
        int64_t is_late;
        check(rsg_join(_id, timeout, &is_late));
    }
    void kill() { check(rsg_kill(_id)); }
    static void kill_all() { check(rsg_kill(-1)); }
    void suspend() { check(rsg_suspend(_id)); }
    void resume() { check(rsg_continue(_id)); }
    void set_host(const HostPtr &host) { check(rsg_migrate(_id, host->number)); }
};

namespace this_actor
{
inline bool is_maestro()
{
    return false;
}
inline void sleep_for(double duration)
{
    check(rsg_sleep(duration));
}
inline void sleep_until(double date)
{
    check(rsg_sleep_until(date));
}
inline void execute(double flops)
{
    check(rsg_execute(flops, 1, -1));
}
inline void execute(double flops, double priority)
{
    check(rsg_execute(flops, priority, -1));
}
inline void yield()
{
    check(rsg_yield());
}
inline int get_pid()
{
    return Actor::self()->get_pid();
}
inline int get_ppid()
{
    return Actor::self()->get_ppid();
}
inline std::string get_name()
{
    return Actor::self()->get_name();
}
inline HostPtr get_host()
{
    return Host::current();
}
inline void suspend()
{
    check(rsg_suspend(0));
}
[[noreturn]] inline void exit()
{
    throw ForcefulKill();
}
} // namespace this_actor

class Comm
{
    friend class Mailbox;
    const int64_t _number;
    void **const _destination;
    bool _is_over = false;

    explicit Comm(int64_t number, void **destination = nullptr) : _number(number), _destination(destination) {}
    Comm(const Comm &) = delete;
    Comm &operator=(const Comm &) = delete;

  public:
    ~Comm()
    {
        if (!_is_over)
            rsg_forget(_number);
    }
    void start() {} /* begun already, as put_async and get_async do */
    void wait() { wait_for(-1); }
    void wait_for(double timeout)
    {
        struct rsg_message message = {nullptr, 0, 0};
        if (_is_over)
            return;
        _is_over = true;
        check(rsg_wait(_number, timeout, &message));
        if (_destination != nullptr)
            *_destination = message.bytes;
        else
            free(message.bytes);
    }
    bool test()
    {
        int64_t is_over = 1;
        if (!_is_over)
            check(rsg_test(_number, &is_over));
        if (is_over)
            wait();
        return is_over != 0;
    }
    void cancel()
    {
        check(rsg_cancel(_number));
    }
    uint64_t remote_address() const { return static_cast<uint64_t>(_number); }

    static int wait_any(const std::vector<CommPtr> &comms) { return wait_any_for(comms, -1); }
    static int wait_any_for(const std::vector<CommPtr> &comms, double timeout)
    {
        std::vector<int64_t> numbers;
        int64_t place;
        if (comms.empty())
            return -1;
        for (const CommPtr &comm : comms)
            numbers.push_back(comm->_number);
        check(rsg_wait_any(numbers.data(), numbers.size(), timeout, &place));
        if (place >= 0)
            comms[static_cast<size_t>(place)]->wait();
        return static_cast<int>(place);
    }
};

class Mailbox
{
    const std::string _name;
    int64_t _number;

    explicit Mailbox(const std::string &name) : _name(name) { check(rsg_mailbox(name.c_str(), &_number)); }
    Mailbox(const Mailbox &) = delete;
    Mailbox &operator=(const Mailbox &) = delete;

    struct rsg_mailbox_state state() const
    {
        struct rsg_mailbox_state told;
        check(rsg_mailbox_state(_number, &told));
        return told;
    }

  public:
    static MailboxPtr by_name(const std::string &name) { return MailboxPtr(new Mailbox(name)); }

    bool empty() const
    {
        struct rsg_mailbox_state told = state();
        return told.puts == 0 && told.gets == 0;
    }
    bool listen() const { return state().puts > 0; }
    bool ready() const { return state().is_ready != 0; }
    void set_receiver(const ActorPtr &actor) { check(rsg_mailbox_receiver(_number, actor ? actor->get_pid() : -1)); }

    void put(const void *data, uint64_t size, uint64_t simulated_size) { put(data, size, simulated_size, -1); }
    void put(const void *data, uint64_t size, uint64_t simulated_size, double timeout)
    {
        check(rsg_put(_number, data, size, static_cast<double>(simulated_size), -1, timeout));
    }
    CommPtr put_async(const void *data, uint64_t size, uint64_t simulated_size)
    {
        int64_t number;
        check(rsg_put_async(_number, data, size, static_cast<double>(simulated_size), -1, &number));
        return CommPtr(new Comm(number));
    }
    /* The bytes are from malloc(3), the caller's to free. */
    void *get()
    {
        uint64_t size;
        return get(size);
    }
    void *get(uint64_t &size)
    {
        struct rsg_message message = {nullptr, 0, 0};
        check(rsg_get(_number, -1, -1, &message));
        size = message.length;
        return message.bytes;
    }
    CommPtr get_async(void **data)
    {
        int64_t number;
        check(rsg_get_async(_number, -1, &number));
        return CommPtr(new Comm(number, data));
    }
    std::string get_name() const { return _name; }
    const char *get_cname() const { return _name.c_str(); }
};

class Mutex
{
    friend class ConditionVariable;
    int64_t _number;

    Mutex() { check(rsg_mutex(&_number)); }
    Mutex(const Mutex &) = delete;
    Mutex &operator=(const Mutex &) = delete;

  public:
    static MutexPtr create() { return MutexPtr(new Mutex()); }
    void lock() { check(rsg_lock(_number)); }
    void unlock() { check(rsg_unlock(_number)); }
    bool try_lock()
    {
        int64_t has_locked;
        check(rsg_try_lock(_number, &has_locked));
        return has_locked != 0;
    }
};

class ConditionVariable
{
    int64_t _number;

    ConditionVariable() { check(rsg_condition(&_number)); }
    ConditionVariable(const ConditionVariable &) = delete;
    ConditionVariable &operator=(const ConditionVariable &) = delete;

    std::cv_status wait(int64_t mutex, double timeout)
    {
        int64_t is_late;
        check(rsg_condition_wait(_number, mutex, timeout, &is_late));
        return is_late ? std::cv_status::timeout : std::cv_status::no_timeout;
    }

  public:
    static ConditionVariablePtr create() { return ConditionVariablePtr(new ConditionVariable()); }
    void wait(const MutexPtr &mutex) { wait(mutex->_number, -1); }
    void wait(std::unique_lock<Mutex> &lock) { wait(lock.mutex()->_number, -1); }
    std::cv_status wait_for(std::unique_lock<Mutex> &lock, double duration) { return wait(lock.mutex()->_number, duration); }
    std::cv_status wait_until(std::unique_lock<Mutex> &lock, double date)
    {
        double left = date - Engine::get_clock();
        return wait_for(lock, left > 0 ? left : 0);
    }
    void notify_one() { check(rsg_notify(_number, 0)); }
    void notify_all() { check(rsg_notify(_number, 1)); }
};
} // namespace rsg

#endif
