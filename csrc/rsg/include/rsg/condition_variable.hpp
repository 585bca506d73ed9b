/* One of the names of Remote SimGrid's headers: all is in rsg.hpp. */
#include "rsg.hpp"
