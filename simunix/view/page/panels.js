/* The live page's panels: a job, what the RJMS says, logs of a host, loads of links and storages, power. */
"use strict";

const LOADS_MS = 1000, LOG_MS = 1000, LOG_CHARACTERS = 200000;
const panel = { job: null, loads: null, log: null };

function buttonOf(title, action) {
  const button = Object.assign(document.createElement("button"), { textContent: title });
  button.addEventListener("click", action);
  return button;
}

/* The cluster of a job, and the job's number there: with several clusters a job's key is CLUSTER:NUMBER. */
function ownerOf(key) {
  const clusters = run.facts.clusters, place = key.indexOf(":");
  if (clusters.length < 2 || place < 0) return [clusters[0], key];
  return [clusters.find((cluster) => cluster.name === key.slice(0, place)), key.slice(place + 1)];
}

/* Buttons that run commands on the login host of a cluster; `{}` in a command is what it is about. */
function commandButtons(cluster, commands, about) {
  return Object.entries(commands || {}).map(([title, command]) => buttonOf(title, () => act({ what: "run", host: cluster.login, command: command.replaceAll("{}", about) })));
}

function chooseJob(key) {
  panel.job = key;
  const [cluster, number] = ownerOf(key), isKnown = cluster && /^[\w.]+$/.test(number) && run.status !== "ended";
  $("job-do").replaceChildren(...(isKnown ? commandButtons(cluster, cluster.by_hand.job, number) : []));
  $("job").hidden = false;
  drawJob();
  drawActions();
}

function drawJob() {
  const job = run.jobs.get(panel.job);
  if (!job) return;
  const at = (moment) => (moment === null ? "–" : clockOf(moment)), until = job.start ?? job.end ?? now();
  const facts = { state: job.state, trace: job.name, submitted: at(job.submitted), waited: job.submitted === null ? "" : clockOf(until - job.submitted),
    started: at(job.start), ended: at(job.end), ran: job.start === null ? "" : clockOf((job.end ?? now()) - job.start), cores: job.cores ?? "", nodes: job.text };
  $("job-name").textContent = `Job ${job.key}`;
  $("job-facts").replaceChildren(...Object.entries(facts).filter(([, value]) => value !== "").flatMap(([name, value]) => [
    Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: value })]));
}

/* What commands about the chosen job have printed, the latest first. */
function drawJobAnswers(entries) {
  if (!panel.job) return;
  const [cluster, number] = ownerOf(panel.job), commands = cluster ? Object.values(cluster.by_hand.job || {}) : [];
  const own = new Set(commands.map((command) => `${cluster.login}: ${command.replaceAll("{}", number)}`));
  $("job-answers").replaceChildren(...entries.filter((action) => own.has(action.text)).slice(0, 5).map(actionEntry));
}

/* Logs of a host, as they grow. */

async function asked(path) {
  try {
    const found = await (await fetch(path)).json();
    if (!found.error) return found;
    say(found.error);
  } catch (error) {
    say(`the page is not served any more: ${error.message}`);
  }
  return null;
}

async function listLogs() {
  const host = shown.chosen, found = await asked(`logs?host=${encodeURIComponent(host)}`);
  if (!found) return;
  const list = document.createElement("div");
  list.className = "controls";
  list.append(...found.map((name) => buttonOf(name.replace(/^files\//, ""), () => openLog(host, name))));
  if (!found.length) list.textContent = "nothing was printed or written to /var/log here yet";
  $("process-list").replaceChildren(list);
}

function openLog(host, name) {
  panel.log = { host, name, from: "", isAsked: false };
  $("log").hidden = false;
  $("log-name").textContent = `${host}: ${name.replace(/^files\//, "")}`;
  $("log-text").textContent = "";
  followLog();
}

async function followLog() {
  const log = panel.log;
  if (!log || log.isAsked || document.hidden) return;
  log.isAsked = true;
  const found = await asked(`log?host=${encodeURIComponent(log.host)}&name=${encodeURIComponent(log.name)}&from=${log.from}`);
  log.isAsked = false;
  if (!found) { panel.log = null; return; }
  if (panel.log !== log) return;
  log.from = found.next;
  if (!found.text) return;
  const text = $("log-text"), isAtEnd = text.scrollTop + text.clientHeight > text.scrollHeight - 8;
  text.textContent = (text.textContent + found.text).slice(-LOG_CHARACTERS);
  if (isAtEnd) text.scrollTop = text.scrollHeight;
}

/* Links by load, storages, power: asked for only while the part is open. */

const bytes = (count) => { let power = 0; while (count >= 1000 && power < 5) { count /= 1000; power += 1; } return `${count.toFixed(power && count < 100 ? 1 : 0)} ${["", "k", "M", "G", "T", "P"][power]}B`; };

async function askLoads() {
  if (!$("loads").open || document.hidden || run.status !== "running") return;
  const found = await asked("loads");
  if (!found) { $("loads").open = false; return; }
  const before = panel.loads, past = before ? found.virtual_s - before.virtual_s : 0;
  panel.loads = found;
  fillTable("links", ["link", "flows", "rate", "load"], found.links.map(([name, flows, rate, part]) => [name, flows, `${bytes(rate)}/s`, `${(100 * part).toFixed(1)} %`]), "no link carries anything at this moment");
  const earlier = new Map((before ? before.storages : []).map((row) => [row[0], row]));
  fillTable("storages", ["storage", "read", "written", "under way", "rate"], found.storages.map(([name, read, written, waiting]) => {
    const last = earlier.get(name), moved = last ? read + written - last[1] - last[2] : 0;
    return [name, bytes(read), bytes(written), waiting, past > 0 ? `${bytes(moved / past)}/s` : ""];
  }), "no storage was used yet");
  const caps = run.facts.clusters.flatMap((cluster) => cluster.power_cap_w).filter(([begin, end]) => begin <= found.virtual_s && found.virtual_s < end).map((cap) => cap[2]);
  $("power").textContent = found.watts === null ? "no host has watts in this scenario" : `${Math.round(found.watts).toLocaleString("en")} W${caps.length ? ` of ${caps.map((cap) => Math.round(cap).toLocaleString("en")).join(", ")} W allowed` : ""}`;
}

function fillTable(id, titles, rows, nothing) {
  const table = document.createElement("table");
  table.append(row(titles, "th"), ...rows.map((cells) => row(cells, "td")));
  $(id).replaceChildren(rows.length ? table : document.createTextNode(nothing));
}

$("logs").addEventListener("click", listLogs);
$("log-close").addEventListener("click", () => { panel.log = null; $("log").hidden = true; });
$("job-close").addEventListener("click", () => { panel.job = null; $("job").hidden = true; });
$("loads").addEventListener("toggle", askLoads);
setInterval(askLoads, LOADS_MS);
setInterval(followLog, LOG_MS);
