/* The live page: follows the stream of the run, draws what holds at the moment shown, sends what the user does. */
"use strict";

const $ = (id) => document.getElementById(id);
const DRAW_MS = 250, CHART_MS = 1000, FAULTS_SHOWN = 200;
/* How much of the browser's time drawing may take, as a part of 1: what takes long is drawn less often. */
const DRAW_SHARE = 0.2;
const run = { facts: null, status: "", clock: {}, hosts: new Map(), jobs: new Map(), open: new Map(), faults: [], actions: new Map() };
const shown = { names: [], number: new Map(), cores: [], chosen: null, grid: null, gantt: null, chart: null, table: null, charted: 0, rows: new Map(), listed: new Set(), nodes: new Map() };

/* ["node01", "node02"] for "node[01-02]"; a text that is no list of hosts gives none. */
function expanded(text) {
  if (!text) return [];
  if (shown.nodes.has(text)) return shown.nodes.get(text);
  const found = [];
  for (const part of text.match(/[^,[\]]*(?:\[[^\]]*\][^,[\]]*)*/g).filter(Boolean)) {
    let names = [""];
    for (const piece of part.split(/(\[[^\]]*\])/)) {
      const ends = piece.startsWith("[") ? piece.slice(1, -1).split(",").flatMap(counted) : [piece];
      names = names.flatMap((name) => ends.map((end) => name + end));
    }
    found.push(...names);
  }
  const numbers = found.map((name) => shown.number.get(name)).filter((number) => number !== undefined).sort((a, b) => a - b);
  shown.nodes.set(text, numbers);
  return numbers;
}

function counted(range) {
  const [low, high] = range.split("-");
  if (high === undefined) return [low];
  return Array.from({ length: Math.max(0, Math.min(100000, high - low + 1)) }, (_, step) => String(Number(low) + step).padStart(low.length, "0"));
}

function take(message) {
  if (message.facts) begin(message.facts);
  run.status = message.status;
  run.clock = message.clock;
  run.text = message.text;
  for (const [name, [power, processes]] of Object.entries(message.hosts)) run.hosts.set(name, { power, processes });
  if (message.facts) { run.jobs.clear(); run.open.clear(); run.faults.length = 0; }
  for (const [key, name, state, submitted, start, end, nodes, cores] of message.jobs.reverse()) {
    const job = { key, name, state, submitted, start, end, text: nodes, cores };
    run.jobs.set(key, job);
    if (end === null) run.open.set(key, job); else run.open.delete(key);
    shown.rows.set(key, job);
  }
  run.faults.push(...message.faults);
  for (const action of message.actions) run.actions.set(action.number, action);
  if (message.actions.length) drawActions();
  if (message.faults.length) drawFaults();
  document.documentElement.dataset.ready = "yes";
}

function begin(facts) {
  run.facts = facts;
  document.title = `${facts.name} – simunix`;
  $("name").textContent = facts.name;
  shown.names = facts.clusters.flatMap((cluster) => Object.keys(cluster.nodes));
  const cores = Object.assign({}, facts.hosts, ...facts.clusters.map((cluster) => cluster.nodes));
  if (!shown.names.length) shown.names = Object.keys(facts.hosts);
  shown.number = new Map(shown.names.map((name, number) => [name, number]));
  shown.cores = shown.names.map((name) => cores[name] || 1);
  shown.nodes.clear();
  $("names").replaceChildren(...Object.keys(facts.hosts).slice(0, 500).map((name) => Object.assign(document.createElement("option"), { value: name })));
  const first = facts.clusters[0];
  if (first && !$("run").elements.host.value) $("run").elements.host.value = first.login;
  $("hint").textContent = (first && first.by_hand.hint) || "";
  $("cluster-do").replaceChildren(...facts.clusters.flatMap((cluster) => commandButtons(cluster, cluster.by_hand.cluster, "")));
  $("others").replaceChildren(...Object.keys(facts.hosts).filter((name) => !shown.number.has(name)).slice(0, 40).map((name) => {
    const button = Object.assign(document.createElement("button"), { textContent: name });
    button.addEventListener("click", () => choose(name));
    return button;
  }));
}

const now = () => run.clock.virtual_s || 0;
const moment = () => ($("live").checked ? now() : (now() * $("slider").value) / 1000);

/* The power of each host at a moment that is past, by what happened until then. */
function powers(at) {
  const found = new Map();
  const meaning = { host_off: "off", host_on: "on", host_boot: "booting", host_shutdown: "stopping" };
  for (const fault of run.faults) if (fault.at_s <= at && meaning[fault.what]) found.set(fault.host, meaning[fault.what]);
  return found;
}

function states(at, isNow) {
  const past = isNow && run.hosts.size ? null : powers(at), share = new Float64Array(shown.names.length), jobs = new Uint32Array(shown.names.length);
  /* Of the present only the jobs count that have not ended, which are few among all. */
  const jobsThen = isNow ? run.open : run.jobs;
  let running = 0, waiting = 0, ended = run.jobs.size - jobsThen.size;
  for (const job of jobsThen.values()) {
    if (job.submitted === null || job.submitted > at) continue;
    if (job.end !== null && job.end <= at) { ended += 1; continue; }
    if (job.start === null || job.start > at) { waiting += 1; continue; }
    running += 1;
    const nodes = expanded(job.text);
    for (const node of nodes) {
      share[node] += job.cores ? job.cores / nodes.length / shown.cores[node] : 1;
      jobs[node] += 1;
    }
  }
  const power = (name) => (past ? past.get(name) || "on" : run.hosts.get(name)?.power || "on");
  return { of: (number) => ({ power: power(shown.names[number]), share: share[number], jobs: jobs[number] }), power, running, waiting, ended };
}

function outages(at) {
  const found = [], since = new Map();
  for (const fault of run.faults) {
    const node = shown.number.get(fault.host);
    if (node === undefined || fault.at_s > at) continue;
    if (fault.what === "host_off" && !since.has(node)) since.set(node, fault.at_s);
    if (fault.what === "host_on" && since.has(node)) { found.push({ node, start: since.get(node), end: fault.at_s }); since.delete(node); }
  }
  for (const [node, start] of since) found.push({ node, start, end: null });
  return found;
}

function draw() {
  if (!run.facts) return;
  const at = moment(), isNow = $("live").checked, state = states(at, isNow), isOver = run.status === "ended";
  $("time").textContent = clockOf(at);
  $("date").textContent = run.facts.epoch_s ? new Date((run.facts.epoch_s + at) * 1000).toISOString().slice(0, 19).replace("T", " ") : "";
  const word = run.status === "running" ? (run.clock.paused ? "paused" : "running") : run.status;
  $("status").textContent = word;
  $("status").className = `pill ${word}`;
  const speed = run.clock.speed;
  $("speed").textContent = isOver ? "" : run.clock.paused ? "stands still" : [speed == null ? "" : `× ${speed < 10 ? speed.toFixed(1) : Math.round(speed).toLocaleString("en")}`, run.clock.pace ? `pace ${run.clock.pace}` : "as fast as can be"].filter(Boolean).join(", ");
  const total = run.facts.jobs_of_workload;
  $("counts").textContent = run.jobs.size || total ? `${state.running} running, ${state.waiting} waiting, ${state.ended} ended${total ? ` of ${total}` : ""}` : `${run.hosts.size} hosts`;
  $("controls").hidden = isOver || run.status === "ending";
  $("host-do").hidden = $("act").hidden = $("loads").hidden = isOver;
  $("pause").textContent = run.clock.paused ? "resume" : "pause";
  const disturbed = run.clock.disturbances || [];
  $("note").hidden = !run.text && !disturbed.length;
  $("note").textContent = [run.text, disturbed.length ? `not repeatable to the byte: ${disturbed.join("; ")}` : ""].filter(Boolean).join(" · ");
  $("legend").replaceChildren(...["idle", "busy", "boot", "off"].flatMap((name) => [Object.assign(document.createElement("i"), { className: `swatch ${name}` }), { boot: "boots or stops" }[name] || name]));
  shown.grid = drawGrid($("grid"), shown.names, state.of, shown.chosen);
  for (const button of $("others").children) button.className = state.power(button.textContent) === "off" ? "off" : "";
  if (shown.chosen) drawHost(state);
  const wall = performance.now();
  if (panel.job) drawJob();
  if (wall > shown.charted || !isNow) { drawCharts(at); shown.charted = performance.now() + Math.max(CHART_MS, (performance.now() - wall) / DRAW_SHARE); }
}

function drawCharts(at) {
  const span = Number($("window").value), from = span ? Math.max(0, at - span) : 0, all = [...run.jobs.values()];
  const ran = all.filter((job) => job.start !== null && job.start <= at && (job.end === null || job.end > from)).map((job) => ({ key: job.key, name: job.name, state: job.state, cores: job.cores, text: job.text, start: job.start, end: job.end !== null && job.end <= at ? job.end : null, nodes: expanded(job.text) }));
  shown.gantt = { ...drawGantt($("gantt"), shown.names.length, ran, outages(at), from, Math.max(at, from + 1), (job) => job.name || job.key), jobs: ran };
  if (!shown.chart) shown.chart = queueChart($("queue"));
  shown.chart.setData(queueCurve(all, from, Math.max(at, from + 1)));
  drawTable();
}

function drawTable() {
  if (!shown.table) {
    if (!run.jobs.size) return;
    const time = (cell) => (cell.getValue() === null ? "" : clockOf(cell.getValue()));
    shown.table = new Tabulator("#jobs", {
      index: "key", layout: "fitColumns", pagination: true, paginationSize: 15, initialSort: [{ column: "submitted", dir: "desc" }],
      placeholder: "no job yet", data: [...run.jobs.values()],
      columns: [{ title: "job", field: "key", sorter: "alphanum", headerFilter: true, width: 90 }, { title: "trace", field: "name", sorter: "alphanum", headerFilter: true, width: 90 },
        { title: "state", field: "state", headerFilter: true, minWidth: 110 }, { title: "submitted", field: "submitted", sorter: "number", formatter: time, minWidth: 95 },
        { title: "started", field: "start", sorter: "number", formatter: time, minWidth: 95 }, { title: "ended", field: "end", sorter: "number", formatter: time, minWidth: 95 },
        { title: "cores", field: "cores", sorter: "number", width: 80 }, { title: "nodes", field: "text", headerFilter: true, minWidth: 120 }],
    });
    shown.table.on("rowClick", (_, line) => chooseJob(line.getData().key));
    shown.table.on("tableBuilt", () => { shown.table.isBuilt = true; document.documentElement.dataset.table = "yes"; });
    shown.listed = new Set(shown.rows.keys());
    shown.rows.clear();
    return;
  }
  if (!shown.table.isBuilt || !shown.rows.size) return;
  const isLonger = [...shown.rows.keys()].some((key) => !shown.listed.has(key));
  for (const key of shown.rows.keys()) shown.listed.add(key);
  shown.table.updateOrAddData([...shown.rows.values()]).then(() => isLonger && shown.table.setSort(shown.table.getSorters().map(({ field, dir }) => ({ column: field, dir }))));
  shown.rows.clear();
}

function drawHost(state) {
  const name = shown.chosen, number = shown.number.get(name), known = run.hosts.get(name);
  const at = number === undefined ? null : state.of(number), cut = (run.clock.links_down || []).some((link) => link.startsWith(`${name}_`) || link === name);
  $("host-name").textContent = name;
  $("host-state").textContent = [state.power(name), cut ? "its link is cut" : "", known ? `${known.processes} processes` : "", at ? `${at.jobs} job${at.jobs === 1 ? "" : "s"}, ${Math.round(at.share * 100)} % of its cores` : ""].filter(Boolean).join(", ");
}

function choose(name) {
  shown.chosen = name;
  $("host").hidden = false;
  $("process-list").replaceChildren();
  const cluster = run.facts.clusters.find((each) => name in each.nodes);
  $("presets").replaceChildren(...(cluster ? commandButtons(cluster, cluster.by_hand.node, name) : []));
  draw();
}

function entry(text, output) {
  const item = Object.assign(document.createElement("li"), { textContent: text });
  if (output) item.append(Object.assign(document.createElement("pre"), { textContent: output }));
  return item;
}

function actionEntry(action) {
  const ended = action.status === null ? "  …" : action.status ? `  (${action.status === "lost" ? "it did not end" : `exit status ${action.status}`})` : "";
  return entry(`${clockOf(action.at_s)}  ${action.text}${ended}`, action.output);
}

function drawActions() {
  const all = [...run.actions.values()].sort((one, other) => other.number - one.number);
  $("actions").replaceChildren(...all.map(actionEntry));
  drawJobAnswers(all);
}

function drawFaults() {
  const words = $("faults-filter").value.toLowerCase().split(/\s+/).filter(Boolean), found = [];
  let count = 0;
  for (let place = run.faults.length - 1; place >= 0; place -= 1) {
    const { at_s, what, ...rest } = run.faults[place];
    const text = `${clockOf(at_s)}  ${what.replaceAll("_", " ")}  ${Object.entries(rest).map(([key, value]) => `${key} ${value}`).join(", ")}`, low = text.toLowerCase();
    if (!words.every((word) => low.includes(word))) continue;
    count += 1;
    if (found.length < FAULTS_SHOWN) found.push(entry(text));
  }
  $("faults").replaceChildren(...found);
  $("faults-count").textContent = words.length || count > FAULTS_SHOWN ? `${Math.min(count, FAULTS_SHOWN)} of ${run.faults.length}` : "";
}

/* What the user does. */

function say(text) {
  $("said").hidden = !text;
  $("said").textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => ($("said").hidden = true), 6000);
}

async function act(request) {
  try {
    const answer = await fetch("do", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(request) });
    const found = await answer.json();
    say(found.error || found.said);
  } catch (error) {
    say(`the page is not served any more: ${error.message}`);
  }
}

function seconds(text) {
  const parts = text.trim().split(":").map(Number);
  return parts.some((part) => !Number.isFinite(part) || part < 0) ? null : parts.reduce((sum, part) => sum * 60 + part, 0);
}

async function listProcesses() {
  const name = shown.chosen, answer = await fetch(`processes?host=${encodeURIComponent(name)}`), found = await answer.json();
  if (found.error) { say(found.error); return; }
  const table = document.createElement("table");
  table.append(row(["pid", "command", "waits for", "since", ""], "th"));
  for (const process of found) {
    const thread = process.threads[0] || {};
    const line = row([process.pid, process.command.slice(0, 60), `${thread.state || ""} ${thread.call || ""} ${thread.waits_for || ""}`.slice(0, 80), thread.since_s == null ? "" : clockOf(thread.since_s)], "td");
    const buttons = document.createElement("td");
    for (const [title, signal] of [["kill", "KILL"], ["suspend", "STOP"], ["go on", "CONT"]]) {
      const button = Object.assign(document.createElement("button"), { textContent: title });
      button.addEventListener("click", () => act({ what: "run", host: name, command: `kill -${signal} ${process.pid}` }));
      buttons.append(button);
    }
    line.append(buttons);
    table.append(line);
  }
  $("process-list").replaceChildren(table);
}

function row(cells, kind) {
  const line = document.createElement("tr");
  line.append(...cells.map((text) => Object.assign(document.createElement(kind), { textContent: text })));
  return line;
}

function tipAt(event, text) {
  const tip = $("tip");
  tip.hidden = !text;
  tip.textContent = text;
  tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${event.clientY + 14}px`;
}

function nodeAt(event) {
  if (!shown.grid) return undefined;
  const { size, columns } = shown.grid, column = Math.floor(event.offsetX / size);
  return column < columns ? shown.names[Math.floor(event.offsetY / size) * columns + column] : undefined;
}

function jobAt(event) {
  if (!shown.gantt || event.offsetY > shown.gantt.height) return undefined;
  const at = shown.gantt.at(event.offsetX), node = Math.floor(event.offsetY / shown.gantt.step);
  return shown.gantt.jobs.find((job) => job.start <= at && (job.end === null || job.end >= at) && job.nodes.includes(node));
}

$("grid").addEventListener("click", (event) => { const name = nodeAt(event); if (name) choose(name); });
$("grid").addEventListener("mousemove", (event) => tipAt(event, nodeAt(event) || ""));
$("gantt").addEventListener("mousemove", (event) => {
  const job = jobAt(event);
  tipAt(event, job ? `job ${job.key}${job.name ? ` (${job.name} of the trace)` : ""}\n${job.state}, ${job.cores ?? "?"} cores\n${job.text}\nfrom ${clockOf(job.start)}${job.end === null ? "" : ` to ${clockOf(job.end)}`}` : "");
});
for (const id of ["grid", "gantt"]) $(id).addEventListener("mouseleave", () => ($("tip").hidden = true));
$("gantt").addEventListener("click", (event) => { const job = jobAt(event); if (job) chooseJob(job.key); });
$("faults-filter").addEventListener("input", drawFaults);
$("pause").addEventListener("click", () => act({ what: run.clock.paused ? "resume" : "pause" }));
for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => act({ what: button.dataset.do }));
for (const button of document.querySelectorAll("[data-for]")) button.addEventListener("click", () => act({ what: "until", for_s: Number(button.dataset.for) }));
for (const button of document.querySelectorAll("[data-host]")) button.addEventListener("click", () => act({ what: "event", event: { host: shown.chosen, state: button.dataset.host } }));
for (const button of document.querySelectorAll("[data-link]")) button.addEventListener("click", () => act({ what: "event", event: { link: shown.chosen, state: button.dataset.link } }));
$("stop").addEventListener("click", () => { if (confirm("End the run? Its results so far are kept.")) act({ what: "stop" }); });
$("processes").addEventListener("click", listProcesses);
$("until").addEventListener("submit", (event) => {
  event.preventDefault();
  const at = seconds(event.target.elements.at.value);
  if (at === null) say("run until: expected seconds, or hours:minutes:seconds"); else act({ what: "until", at_s: at });
});
$("pace").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = event.target.elements.pace.value.trim();
  act({ what: "pace", pace: text === "" || text === "free" ? null : Number(text) });
});
$("run").addEventListener("submit", (event) => {
  event.preventDefault();
  act({ what: "run", host: event.target.elements.host.value, command: event.target.elements.command.value });
});
$("slider").addEventListener("input", () => { $("live").checked = Number($("slider").value) === 1000; draw(); });
$("live").addEventListener("change", () => { if ($("live").checked) $("slider").value = 1000; draw(); });
$("window").addEventListener("change", () => drawCharts(moment()));
addEventListener("keydown", (event) => {
  if (event.key !== " " || event.target.closest("input, button, select, a") || run.status !== "running") return;
  event.preventDefault();
  act({ what: run.clock.paused ? "resume" : "pause" });
});
addEventListener("resize", () => { shown.chart?.setSize({ width: $("queue").clientWidth, height: 180 }); draw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { shown.chart?.destroy(); shown.chart = null; shown.charted = 0; draw(); });

let isFresh = false;
const told = (text) => { take(JSON.parse(text)); isFresh = true; };

/* A page that is one file brings what there is to know; its parts are all loaded first. */
const data = $("data"), stream = data ? {} : new EventSource("stream");
if (data) addEventListener("DOMContentLoaded", () => told(data.content.textContent));
stream.onmessage = (event) => told(event.data);
stream.onerror = () => { $("status").textContent = "the page is not served any more"; $("status").className = "pill"; };
setTimeout(function drawSoon() {
  const begun = performance.now();
  if (isFresh && !document.hidden) { isFresh = false; draw(); }
  setTimeout(drawSoon, Math.max(DRAW_MS, (performance.now() - begun) / DRAW_SHARE));
}, DRAW_MS);
