/* The methods of objects as text, for clients that ask for them before they call (org.freedesktop.DBus.Introspectable). */
#include "bus.h"

#include <string.h>

#define HEAD                                                                             \
    "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n" \
    "\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n<node>\n"
#define METHOD0(name) "  <method name=\"" name "\"/>\n"
#define IN(type) "   <arg type=\"" type "\" direction=\"in\"/>\n"
#define OUT(type) "   <arg type=\"" type "\" direction=\"out\"/>\n"
#define ARG(type) "   <arg type=\"" type "\"/>\n"
#define METHOD(name, arguments) "  <method name=\"" name "\">\n" arguments "  </method>\n"
#define SIGNAL_OF(name, arguments) "  <signal name=\"" name "\">\n" arguments "  </signal>\n"
#define INTERFACE(name, content) " <interface name=\"" name "\">\n" content " </interface>\n"
#define STANDARD                               \
    INTERFACE(PEER_INTERFACE, METHOD0("Ping")) \
    INTERFACE(INTROSPECT_INTERFACE, METHOD("Introspect", OUT("s")))
#define PROPERTIES                                                                                                 \
    INTERFACE(PROPERTIES_INTERFACE, METHOD("Get", IN("s") IN("s") OUT("v")) METHOD("GetAll", IN("s") OUT("a{sv}")) \
                                        METHOD("Set", IN("s") IN("s") IN("v")))

static const char of_bus[] = HEAD STANDARD INTERFACE(
    BUS_NAME,
    METHOD("Hello", OUT("s")) METHOD("RequestName", IN("s") IN("u") OUT("u")) METHOD("ReleaseName", IN("s") OUT("u"))
        METHOD("StartServiceByName", IN("s") IN("u") OUT("u")) METHOD("NameHasOwner", IN("s") OUT("b"))
            METHOD("ListNames", OUT("as")) METHOD("ListActivatableNames", OUT("as")) METHOD("AddMatch", IN("s"))
                METHOD("RemoveMatch", IN("s")) METHOD("GetNameOwner", IN("s") OUT("s"))
                    METHOD("GetConnectionUnixUser", IN("s") OUT("u")) METHOD("GetConnectionUnixProcessID", IN("s") OUT("u"))
                        METHOD("GetConnectionCredentials", IN("s") OUT("a{sv}")) METHOD("GetId", OUT("s"))
                            SIGNAL_OF("NameOwnerChanged", ARG("s") ARG("s") ARG("s")) SIGNAL_OF("NameLost", ARG("s"))
                                SIGNAL_OF("NameAcquired", ARG("s"))) "</node>\n";

static const char of_manager[] = HEAD STANDARD PROPERTIES INTERFACE(
    MANAGER_INTERFACE,
    METHOD("StartTransientUnit", IN("s") IN("s") IN("a(sv)") IN("a(sa(sv))") OUT("o")) METHOD("StartUnit",
                                                                                              IN("s") IN("s") OUT("o"))
        METHOD("StopUnit", IN("s") IN("s") OUT("o")) METHOD("KillUnit", IN("s") IN("s") IN("i")) METHOD("AbandonScope", IN("s"))
            METHOD("SetUnitProperties", IN("s") IN("b") IN("a(sv)")) METHOD("AttachProcessesToUnit", IN("s") IN("s") IN("au"))
                METHOD0("ResetFailed") METHOD("ResetFailedUnit", IN("s")) METHOD("GetUnit", IN("s") OUT("o"))
                    METHOD("LoadUnit", IN("s") OUT("o")) METHOD("GetUnitByPID", IN("u") OUT("o"))
                        METHOD("ListUnits", OUT("a(ssssssouso)")) METHOD0("Subscribe") METHOD0("Unsubscribe")
                            SIGNAL_OF("UnitNew", ARG("s") ARG("o")) SIGNAL_OF("UnitRemoved", ARG("s") ARG("o"))
                                SIGNAL_OF("JobRemoved", ARG("u") ARG("o") ARG("s") ARG("s"))) "</node>\n";

static const char of_unit[] = HEAD STANDARD PROPERTIES INTERFACE(UNIT_INTERFACE, METHOD("Stop", IN("s") OUT("o")))
    INTERFACE(SCOPE_INTERFACE, METHOD0("Abandon")) "</node>\n";

static const char of_nothing[] = HEAD STANDARD "</node>\n";

const char *introspection(const char *path)
{
    if (strcmp(path, BUS_PATH) == 0)
        return of_bus;
    if (strcmp(path, SYSTEMD_PATH) == 0)
        return of_manager;
    return strncmp(path, SYSTEMD_PATH "/unit/", strlen(SYSTEMD_PATH "/unit/")) == 0 ? of_unit : of_nothing;
}
