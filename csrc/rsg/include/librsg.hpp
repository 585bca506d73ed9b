/* The name of Remote SimGrid's header: all is in rsg/rsg.hpp. */
#include "rsg/rsg.hpp"
