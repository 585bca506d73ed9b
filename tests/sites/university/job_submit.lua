function slurm_job_submit(job, parts, uid)
    return slurm.SUCCESS
end
