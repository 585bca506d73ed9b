"""The options of sbatch and srun that a scenario chooses for a job."""

from __future__ import annotations

from simunix.rjms.adapter import Choice

OPTIONS = ("partition", "qos", "account", "nice", "priority")
"""The fields of a Choice whose names are equal to those of sbatch's and srun's options."""


def chosen_options(choice: Choice) -> tuple[str, ...]:
    """Return the options of sbatch or srun for a choice. The scenario's own arguments come last."""
    values = {name: getattr(choice, name) for name in OPTIONS}
    held = ("--hold",) if choice.is_held else ()
    return (*(f"--{name}={value}" for name, value in values.items() if value is not None), *held, *choice.arguments)
