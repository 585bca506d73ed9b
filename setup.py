"""Build hook: the C parts are built with the package; everything else about it stands in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "csrc/build"))

import build_server  # noqa: E402
import build_shim  # noqa: E402


class build_all(build_ext):  # noqa: N801
    """The cffi extensions, beside them the preload library, hosts' init, job program, system bus; the server, compiled."""

    def run(self) -> None:
        """Build everything into the build folder, or in place for an editable install."""
        super().run()
        root = ROOT if self.inplace or self.editable_mode else Path(self.build_lib)
        build_shim.build_shim(root / "simunix/lib/libsimunix.so")
        build_shim.build_init(root / "simunix/lib/simunix-hostinit")
        build_shim.build_job(root / "simunix/lib/simunix-job")
        build_shim.build_bus(root / "simunix/lib/simunix-bus")
        build_shim.build_rsg(root / "simunix/lib/librsg.so")
        build_server.build_server(root / "rsg_server")


setup(
    cffi_modules=[
        "csrc/build/build_shim.py:ffi_builder",
        "csrc/build/build_shim.py:rsg_builder",
        "csrc/build/build_network.py:ffi_builder",
    ],
    cmdclass={"build_ext": build_all},
)
