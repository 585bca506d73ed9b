/* Draws the live page's charts: the machine as a grid of nodes, jobs on nodes over time, the queue. */
"use strict";

const ROW_MOST = 26, GANTT_LEAST = 90, GANTT_MOST = 420, AXIS = 20, POINTS_MOST = 2000;
const STEPS_S = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000, 2592000, 8640000];
const WHOLE = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power));

/* The colours of the page, light or dark. */
function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["ink", "quiet", "paper", "line", "stripe", "idle", "busy", "off", "boot", "link"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/* A canvas of a height in CSS pixels, cleared, with a context that draws in CSS pixels. */
function prepared(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.parentElement.clientWidth;
  const wanted = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== wanted[0] || canvas.height !== wanted[1]) [canvas.width, canvas.height] = wanted;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return [context, width];
}

function hashOf(key) {
  let hash = 0;
  for (const letter of key) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  return hash;
}

const jobColour = (key) => `hsl(${(hashOf(key) * 137.508) % 360} 55% 52%)`;

/* The grid of nodes: `state` gives {power, share, jobs} of a node's number. Returns where each node is: x, y, size, columns. */
function drawGrid(canvas, names, state, chosen) {
  const width = canvas.parentElement.clientWidth, count = Math.max(1, names.length);
  const size = Math.max(5, Math.min(72, Math.floor(Math.sqrt((width * 340) / count))));
  const columns = Math.max(1, Math.floor(width / size)), height = Math.ceil(count / columns) * size;
  const [context] = prepared(canvas, height), colour = colours(), gap = size > 12 ? 2 : size > 6 ? 1 : 0;
  context.textAlign = "center";
  names.forEach((name, number) => {
    const x = (number % columns) * size, y = Math.floor(number / columns) * size, now = state(number);
    const isOff = now.power === "off", side = size - gap;
    context.fillStyle = isOff ? colour.off : now.power === "booting" || now.power === "stopping" ? colour.boot : colour.idle;
    context.fillRect(x, y, side, side);
    if (!isOff && now.share > 0) {
      const part = Math.min(1, now.share) * side;
      context.fillStyle = colour.busy;
      context.fillRect(x, y + side - part, side, part);
    }
    if (isOff && size > 8) {
      context.strokeStyle = colour.line;
      context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    }
    if (size >= 44) {
      context.fillStyle = isOff ? "#ffffff" : now.share > 0.6 ? "#ffffff" : colour.ink;
      context.font = "11px system-ui, sans-serif";
      context.fillText(name, x + side / 2, y + side / 2 - 2, side - 4);
      context.fillText(isOff ? "off" : now.power !== "on" ? now.power : now.jobs ? `${now.jobs} job${now.jobs > 1 ? "s" : ""}` : "", x + side / 2, y + side / 2 + 12, side - 4);
    }
    if (name === chosen) {
      context.strokeStyle = colour.link;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, side - 2, side - 2);
      context.lineWidth = 1;
    }
  });
  return { size, columns };
}

/* A colour of the page, #rrggbb, or of a job, as a pixel of a canvas. */
function pixelOf(colour) {
  const number = parseInt(colour.slice(1), 16);
  return (255 << 24) | ((number & 255) << 16) | (number & 0xff00) | (number >> 16);
}

const DENSE = 3, SHADES = 64;

/* Jobs on nodes whose rows are too thin for labels: written pixel by pixel, which takes a tenth of the time of rectangles. */
function drawDense(context, rows, jobs, outages, from, to, colour) {
  const canvas = context.canvas, width = canvas.width, height = Math.round(canvas.height * (1 - AXIS / parseFloat(canvas.style.height)));
  const image = context.createImageData(width, height), pixels = new Uint32Array(image.data.buffer), step = height / rows, span = Math.max(1e-9, to - from);
  const x = (at) => Math.max(0, Math.min(width, Math.round(((at - from) / span) * width)));
  const fill = (first, last, start, end, pixel) => {
    const left = x(start), right = Math.max(left + 1, x(end));
    const top = Math.floor(first * step), bottom = Math.min(height, Math.max(top + 1, Math.floor((last + 1) * step)));
    for (let line = top; line < bottom; line += 1) pixels.fill(pixel, line * width + left, line * width + Math.min(width, right));
  };
  pixels.fill(pixelOf(colour.stripe));
  for (const outage of outages) fill(outage.node, outage.node, outage.start, outage.end ?? to, pixelOf(colour.off));
  const shades = Array.from({ length: SHADES }, (_, shade) => shadeOf((shade * 360) / SHADES));
  for (const job of jobs) {
    const pixel = shades[hashOf(job.key) % SHADES], nodes = job.nodes;
    for (let first = 0, place = 1; place <= nodes.length; place += 1) {
      if (place < nodes.length && nodes[place] === nodes[place - 1] + 1) continue;
      fill(nodes[first], nodes[place - 1], job.start, job.end ?? to, pixel);
      first = place;
    }
  }
  context.putImageData(image, 0, 0);
}

/* hsl(hue 55% 52%) as a pixel. */
function shadeOf(hue) {
  const part = (place) => {
    const turn = (place + hue / 30) % 12;
    return Math.round(255 * (0.52 - 0.264 * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))));
  };
  return (255 << 24) | (part(4) << 16) | (part(8) << 8) | part(0);
}

/* Jobs on nodes: `jobs` have {key, start, end, nodes: numbers}; drawn from `from` to `to` seconds. */
function drawGantt(canvas, rows, jobs, outages, from, to, label) {
  const height = Math.max(GANTT_LEAST, Math.min(GANTT_MOST, rows * ROW_MOST)), [context, width] = prepared(canvas, height + AXIS), colour = colours();
  const step = height / Math.max(1, rows), span = Math.max(1e-9, to - from), x = (at) => ((at - from) / span) * width;
  const isDense = step < DENSE;
  if (isDense) drawDense(context, rows, jobs, outages, from, to, colour);
  else { context.fillStyle = colour.stripe; context.fillRect(0, 0, width, height); }
  for (const outage of isDense ? [] : outages) {
    const left = Math.max(0, x(outage.start)), right = Math.min(width, x(outage.end ?? to));
    context.fillStyle = colour.off;
    if (right > left) context.fillRect(left, outage.node * step, right - left, Math.max(1, step - 1));
  }
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "left";
  for (const job of isDense ? [] : jobs) {
    const left = Math.max(0, x(job.start)), right = Math.min(width, x(job.end ?? to));
    if (right <= 0 || left >= width) continue;
    context.fillStyle = jobColour(job.key);
    let first = null, before = null;
    const rectangle = () => {
      context.fillRect(left, first * step, Math.max(1, right - left - 0.5), Math.max(1, (before - first + 1) * step - (step > 3 ? 1 : 0)));
      if (right - left > 46 && (before - first + 1) * step > 13) {
        const before_ = context.fillStyle;
        context.fillStyle = "#ffffff";
        context.fillText(label(job), left + 4, ((first + before + 1) * step) / 2 + 4, right - left - 8);
        context.fillStyle = before_;
      }
    };
    for (const node of job.nodes) {
      if (first === null) first = node;
      else if (node !== before + 1) { rectangle(); first = node; }
      before = node;
    }
    if (first !== null) rectangle();
  }
  context.fillStyle = colour.quiet;
  const ticks = Math.max(2, Math.floor(width / 130));
  for (let tick = 0; tick <= ticks; tick += 1) {
    context.textAlign = tick === 0 ? "left" : tick === ticks ? "right" : "center";
    context.fillText(clockOf(from + (span * tick) / ticks), (width * tick) / ticks, height + 14);
  }
  return { step, height, at: (px) => from + (px / width) * span };
}

/* A virtual time as people read it: 1 d 02:03:04. */
function clockOf(seconds) {
  const whole = Math.floor(seconds + 1e-9), days = Math.floor(whole / 86400), two = (number) => String(number).padStart(2, "0");
  return `${days ? `${days} d ` : ""}${two(Math.floor(whole / 3600) % 24)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

/* How many jobs wait, and how many cores are busy, as steps: [moments, waiting, cores]. */
function queueCurve(jobs, from, to) {
  const changes = [];
  for (const job of jobs) {
    if (job.submitted === null || (job.end !== null && job.end <= from)) continue; // what ended before adds nothing
    const left = job.start ?? job.end;
    changes.push([job.submitted, 1, 0]);
    if (left !== null) changes.push([left, -1, 0]);
    if (job.start !== null) changes.push([job.start, 0, job.cores || 0]);
    if (job.start !== null && job.end !== null) changes.push([job.end, 0, -(job.cores || 0)]);
  }
  changes.sort((one, other) => one[0] - other[0]);
  const found = [[from], [0], [0]];
  let waiting = 0, cores = 0;
  for (const [at, more, busy] of changes) {
    if (at > to) break;
    waiting += more;
    cores += busy;
    if (at <= from) { found[1][0] = waiting; found[2][0] = cores; continue; }
    if (found[0][found[0].length - 1] === at) found.forEach((one) => one.pop());
    found[0].push(at); found[1].push(waiting); found[2].push(cores);
  }
  found[0].push(Math.max(to, found[0][found[0].length - 1] + 1e-6)); found[1].push(waiting); found[2].push(cores);
  return thinned(found);
}

/* At most POINTS_MOST points: of each group of neighbours the one with most waiting jobs. */
function thinned([moments, waiting, cores]) {
  const group = Math.ceil(moments.length / POINTS_MOST);
  if (group === 1) return [moments, waiting, cores];
  const kept = [];
  for (let start = 0; start < moments.length; start += group) {
    let best = start;
    for (let place = start; place < Math.min(start + group, moments.length); place += 1) if (waiting[place] > waiting[best]) best = place;
    kept.push(best);
  }
  return [moments, waiting, cores].map((one) => kept.map((place) => one[place]));
}

function queueChart(element) {
  const colour = colours(), step = uPlot.paths.stepped({ align: 1 });
  const axis = { stroke: colour.quiet, grid: { stroke: colour.line, width: 1 }, ticks: { stroke: colour.line } };
  return new uPlot({
    width: element.clientWidth, height: 180, cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false }, jobs: { range: (_, low, high) => [0, Math.max(1, high)] }, cores: { range: (_, low, high) => [0, Math.max(1, high)] } },
    series: [{ label: "time", value: (_, at) => (at === null ? "–" : clockOf(at)) },
      { label: "jobs that wait", scale: "jobs", stroke: "#d1661f", width: 1.5, paths: step, points: { show: false } },
      { label: "busy cores", scale: "cores", stroke: colour.busy, width: 1.5, paths: step, points: { show: false } }],
    axes: [{ ...axis, values: (_, ticks) => ticks.map(clockOf), space: 90, incrs: STEPS_S }, { ...axis, scale: "jobs", size: 48, incrs: WHOLE }, { ...axis, scale: "cores", side: 1, grid: { show: false }, size: 56, incrs: WHOLE }],
  }, [[0, 1], [0, 0], [0, 0]], element);
}
