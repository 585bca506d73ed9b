"""Scheduling policies written in Python that decide for a real RJMS (docs/guide/policies.md).

A policy is a class with a method `decide`, which gets the state of the cluster and returns actions. It runs as a daemon
on the controller's host; the RJMS's own commands tell it the state and do what it decides. All modules of this package
need the standard library only, since they run on emulated hosts.
"""

from simunix.policy.actions import Action, Release, Requeue, Start, Wake
from simunix.policy.base import Policy
from simunix.policy.records import Job, Node, State

__all__ = ["Action", "Job", "Node", "Policy", "Release", "Requeue", "Start", "State", "Wake"]
