/* The Python module `_load` in the library of rsg_server's compiled modules: its function `load` executes one of them.
 *
 * mypyc keeps, for each module of a library, a capsule with the function that makes the module, and expects a small
 * library beside it that calls the function. One function for all of them saves sixty libraries, each of which a start
 * would have to open.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Call the function that a capsule contains, whatever the capsule's name is. Returns the module that the function makes. */
static PyObject *load(PyObject *self, PyObject *capsule)
{
    PyObject *(*make)(void);
    const char *name = PyCapsule_GetName(capsule);

    (void)self;
    if (name == NULL && PyErr_Occurred())
        return NULL;
    make = (PyObject * (*)(void)) PyCapsule_GetPointer(capsule, name);
    return make == NULL ? NULL : make();
}

static PyMethodDef methods[] = {
    {"load", load, METH_O, "The module that the function of a capsule makes."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_load", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__load(void)
{
    return PyModule_Create(&definition);
}
