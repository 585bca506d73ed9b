/* Disks, in the spelling of SimGrid's S4U, on the platform hosts_with_disks.xml. */
#include "rsg/disk.hpp"

#include <cstdio>

int main()
{
    rsg::connect();
    for (const auto &disk : rsg::Disk::of(rsg::Host::current()))
        std::printf("%s %g %g\n", disk->get_name().c_str(), disk->get_read_bandwidth(), disk->get_write_bandwidth());
    auto disk = rsg::Disk::of(rsg::Host::current()).front();
    disk->read(100e6);
    std::printf("read %.3f\n", rsg::Engine::get_clock());
    disk->write(40e6);
    std::printf("wrote %.3f\n", rsg::Engine::get_clock());
    auto heavy = disk->io_init(50e6, rsg::Io::OpType::READ);
    heavy->set_priority(3);
    heavy->start();
    auto light = disk->read_async(50e6);
    heavy->wait();
    std::printf("heavy %.3f, %.0f left of the light one\n", rsg::Engine::get_clock(), light->get_remaining());
    try {
        light->wait_for(0.1);
    } catch (const rsg::TimeoutException &) {
        std::printf("not yet %.3f\n", rsg::Engine::get_clock());
    }
    light->wait();
    std::printf("light %.3f\n", rsg::Engine::get_clock());
    try {
        disk->read(-1);
    } catch (const rsg::Error &error) {
        std::printf("%s\n", error.what());
    }
    rsg::disconnect();
}
