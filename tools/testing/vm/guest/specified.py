# SPDX-License-Identifier: GPL-2.0
"""Asks the netlink families by Documentation/netlink, with the library of the kernel's sources."""
import os
import sys

SPECS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../../../Documentation/netlink")


def family(source, name="smc"):
    """The family of the specification NAME. SOURCE is the directory of the kernel's sources."""
    path = os.path.join(source, "tools/net/ynl")
    if path not in sys.path:
        sys.path.insert(0, path)
    from lib import YnlFamily
    # the schema is for the host, see scripts/gen-netlink
    return YnlFamily(f"{SPECS}/{name}.yaml", schema="")
