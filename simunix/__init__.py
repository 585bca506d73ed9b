"""Run unmodified cluster daemons in virtual time: scenarios, launching, workloads, reports, command line.

The packages from bottom to top; each imports only packages of the lines above its own:

    units, ranges, columns, roots
    io_coordinator, policy      run on hosts, with the standard library only
    launch, workload            launch runs a plan, whatever has made it, and so stands below scenario and planning
    coverage, jobs, scenario    a scenario is a format; it knows no RJMS
    rjms                        what simunix needs of an RJMS, and those that it knows
    planning, results           from a scenario to a plan; the files of a run, written and read
    metrics
    report
    app
    flows, platforms, sweep, testing
    pytest_plugin, cli
"""

__version__ = "0.2.0"
