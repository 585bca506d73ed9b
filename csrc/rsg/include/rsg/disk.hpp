/* Disks for programs in C++. Remote SimGrid has none: these are spelled as SimGrid's S4U spells them. */
#ifndef RSG_DISK_HPP
#define RSG_DISK_HPP

#include "activity.hpp"

namespace rsg
{
class Disk;
class Io;
typedef std::shared_ptr<Disk> DiskPtr;
typedef std::shared_ptr<Io> IoPtr;

/* Bytes that are read or written. */
class Io : public Activity
{
    friend class Disk;

  public:
    enum class OpType { READ, WRITE };

  private:
    const int64_t _disk;
    const double _size;
    const OpType _operation;
    double _priority = 1;

    Io(int64_t disk, double size, OpType operation) : _disk(disk), _size(size), _operation(operation) {}

    int create(bool begins, int64_t *number) override
    {
        return (begins ? rsg_io_async : rsg_io_init)(_disk, _operation == OpType::WRITE, _size, _priority, number);
    }

  public:
    void set_priority(double priority)
    {
        set_term(RSG_WEIGHT, priority);
        _priority = priority;
    }
    void update_priority(double priority) { update(priority); }
    double get_remaining() const { return left(_size); }
};

/* A disk of a host. */
class Disk
{
    struct rsg_disk_state _state;

    explicit Disk(int64_t number) : number(number) { check(rsg_disk_state(number, &_state)); }

  public:
    const int64_t number;

    /* The disks of a host, in the platform's order. */
    static std::vector<DiskPtr> of(const HostPtr &host)
    {
        std::vector<DiskPtr> found;
        int64_t disk;
        while (rsg_disk_at(host->number, static_cast<int64_t>(found.size()), &disk) == 0)
            found.push_back(DiskPtr(new Disk(disk)));
        return found;
    }
    std::string get_name() const { return _state.name; }
    double get_read_bandwidth() const { return _state.read_bandwidth; }
    double get_write_bandwidth() const { return _state.write_bandwidth; }
    IoPtr io_init(double size, Io::OpType operation) const { return IoPtr(new Io(number, size, operation)); }
    IoPtr read_async(double size) const { return begun(size, Io::OpType::READ); }
    IoPtr write_async(double size) const { return begun(size, Io::OpType::WRITE); }
    double read(double size, double priority = 1) const
    {
        check(rsg_io(number, 0, size, priority));
        return size;
    }
    double write(double size, double priority = 1) const
    {
        check(rsg_io(number, 1, size, priority));
        return size;
    }

  private:
    IoPtr begun(double size, Io::OpType operation) const
    {
        IoPtr io = io_init(size, operation);
        io->start();
        return io;
    }
};
} // namespace rsg

#endif
