function slurm_job_submit(job, parts, uid)
    slurm.log_info("the site's script has seen a job of %d", uid)
    return slurm.SUCCESS
end

function slurm_job_modify(job, rec, parts, uid)
    return slurm.SUCCESS
end
