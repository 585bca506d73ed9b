-- Burst buffers of folders, one for each pool, for Slurm's plugin burst_buffer/lua. Comes with simunix; a production cluster
-- could use it as it is. /etc/slurm/burst_buffer.pools has a line for each pool: its name, its folder, its bytes. The folder
-- is mounted on the controller and on the nodes that use the pool; which nodes these are is the partitions' affair.
--
-- What a job's script says:
--
--     #BB_LUA pool=NAME capacity=SIZE         room in a pool, as long as the job lives; SIZE may end in K, M, G
--     #BB_LUA stage_in FROM [TO]              copied into the job's folder before the job starts; TO is below that folder
--     #BB_LUA stage_out FROM TO               FROM, below the job's folder, is copied when the job has ended
--
-- The job finds its folder in the variable BURST_BUFFER. Slurm runs the functions on the controller's host; those that copy may
-- take as long as they do.
local POOLS = "/etc/slurm/burst_buffer.pools"
local DIRECTIVE = "^%s*#BB_LUA%s+(.*)$"
local GRANULARITY = 1048576

-- Text for the shell that means itself.
local function quoted(text)
	return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Name -> {folder, bytes}, and the names in the order of the file.
local function read_pools()
	local pools, names = {}, {}
	for line in io.lines(POOLS) do
		local name, folder, bytes = line:match("^(%S+)%s+(%S+)%s+(%d+)$")
		if name then
			pools[name] = {folder = folder, bytes = bytes}
			names[#names + 1] = name
		end
	end
	return pools, names
end

-- What a script asks for: pool, and the copies of both kinds. The second value says what is wrong.
local function asked(job_script)
	local found = {stage_in = {}, stage_out = {}}
	for line in io.lines(job_script) do
		local words = {}
		for word in (line:match(DIRECTIVE) or ""):gmatch("%S+") do
			words[#words + 1] = word
		end
		local copies = found[words[1]]
		if words[1] == "stage_in" or words[1] == "stage_out" then
			if not words[2] or (words[1] == "stage_out" and not words[3]) or words[4] then
				return nil, "expected '#BB_LUA stage_in FROM [TO]' or '#BB_LUA stage_out FROM TO', got: " .. line
			end
			copies[#copies + 1] = {words[2], words[3] or ""}
		elseif words[1] then
			found.pool = line:match("pool=(%S+)") or found.pool
			if not line:match("pool=%S+") or not line:match("capacity=%S+") then
				return nil, "expected '#BB_LUA pool=NAME capacity=SIZE', got: " .. line
			end
		end
	end
	return found
end

local function inside(path)
	return path ~= "" and ("/" .. path .. "/"):find("/../", 1, true) and "a path leads out of the job's folder: " .. path
end

local function wrong(found)
	local pools, names = read_pools()
	if not found.pool then
		return "expected '#BB_LUA pool=NAME capacity=SIZE'; pools: " .. table.concat(names, ", ")
	end
	if not pools[found.pool] then
		return "there is no pool " .. found.pool .. "; pools: " .. table.concat(names, ", ")
	end
	for _, copy in ipairs(found.stage_in) do
		if inside(copy[2]) then return inside(copy[2]) end
	end
	for _, copy in ipairs(found.stage_out) do
		if inside(copy[1]) then return inside(copy[1]) end
	end
end

local function folder_of(job_id, job_script)
	local found = asked(job_script)
	return read_pools()[found.pool].folder .. "/" .. job_id, found
end

local function run(command, job_id)
	slurm.log_info("burst_buffer.lua: job %s: %s", job_id, command)
	if os.execute("exec 2>>/var/log/slurm/burst_buffer.log; " .. command) ~= 0 then
		return slurm.ERROR, "failed: " .. command
	end
	return slurm.SUCCESS, ""
end

-- Copy as the user whose folder it is, and wait until what was copied is on the storage. Slurm 22.05 does not tell the user here.
local function copy(from, to, folder, job_id)
	local words = 'mkdir -p "$(dirname ' .. quoted(to) .. ')" && cp -r ' .. quoted(from) .. " " .. quoted(to) .. " && sync -f " .. quoted(to)
	local owner = "--reuid=$(stat -c %u " .. quoted(folder) .. ") --regid=$(stat -c %g " .. quoted(folder) .. ")"
	return run("setpriv " .. owner .. " --clear-groups sh -c " .. quoted(words), job_id)
end

function slurm_bb_job_process(job_script)
	local found, error = asked(job_script)
	error = error or wrong(found)
	if error then
		return slurm.ERROR, error
	end
	return slurm.SUCCESS
end

function slurm_bb_pools()
	local pools, names = read_pools()
	local texts = {}
	for _, name in ipairs(names) do
		local quantity = math.floor(pools[name].bytes / GRANULARITY)
		texts[#texts + 1] = string.format('{"id":"%s","quantity":%d,"granularity":%d}', name, quantity, GRANULARITY)
	end
	return slurm.SUCCESS, '{"pools":[' .. table.concat(texts, ",") .. "]}"
end

function slurm_bb_setup(job_id, uid, gid, pool, bb_size, job_script)
	local folder = folder_of(job_id, job_script)
	return run("mkdir -p " .. quoted(folder) .. " && chown " .. uid .. ":" .. gid .. " " .. quoted(folder), job_id)
end

function slurm_bb_data_in(job_id, job_script)
	local folder, found = folder_of(job_id, job_script)
	for _, each in ipairs(found.stage_in) do
		local name = each[2] ~= "" and each[2] or each[1]:match("([^/]+)/*$")
		local code, text = copy(each[1], folder .. "/" .. name, folder, job_id)
		if code ~= slurm.SUCCESS then
			return code, text
		end
	end
	return slurm.SUCCESS, ""
end

function slurm_bb_real_size(job_id)
	return slurm.SUCCESS
end

function slurm_bb_paths(job_id, job_script, path_file)
	local file = io.open(path_file, "w")
	file:write("BURST_BUFFER=" .. folder_of(job_id, job_script) .. "\n")
	file:close()
	return slurm.SUCCESS
end

function slurm_bb_pre_run(job_id, job_script)
	return slurm.SUCCESS, ""
end

function slurm_bb_post_run(job_id, job_script)
	return slurm.SUCCESS, ""
end

function slurm_bb_data_out(job_id, job_script)
	local folder, found = folder_of(job_id, job_script)
	for _, each in ipairs(found.stage_out) do
		local code, text = copy(folder .. "/" .. each[1], each[2], folder, job_id)
		if code ~= slurm.SUCCESS then
			return code, text
		end
	end
	return slurm.SUCCESS, ""
end

function slurm_bb_job_teardown(job_id, job_script, hurry)
	return run("rm -rf " .. quoted((folder_of(job_id, job_script))), job_id)
end

function slurm_bb_get_status()
	local pools, names = read_pools()
	local lines = {}
	for _, name in ipairs(names) do
		lines[#lines + 1] = name .. " " .. pools[name].folder .. " " .. pools[name].bytes
	end
	return slurm.SUCCESS, table.concat(lines, "\n") .. "\n"
end
