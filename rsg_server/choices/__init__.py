"""Choices: where reality could have gone on otherwise, a run asks one recorded source what happens."""
