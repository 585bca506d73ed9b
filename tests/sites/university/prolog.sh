#!/bin/sh
echo "prolog of $SLURM_JOB_ID on $(hostname)" >> /var/log/slurm/prolog.txt
