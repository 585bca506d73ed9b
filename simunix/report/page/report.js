// Draws what report.html carries in its data element: charts with uPlot, Gantt charts on uPlot's canvas, the jobs with Tabulator.
"use strict";
(async () => {
  const PALETTE = ["#4488cc", "#ee6677", "#228833", "#ccaa22", "#66ccee", "#aa3377", "#999999", "#ee7733"];
  const JOB_COLOURS = ["#4477aa", "#66aadd", "#88ccee", "#44aa99", "#117733", "#999933", "#ddcc77", "#ee9966", "#cc6677", "#aa4499", "#7755aa", "#888899"];
  const STATE_COLOURS = { COMPLETED: "#4477aa", TIMEOUT: "#ddaa33", CANCELLED: "#999999", FAILED: "#cc3311", NODE_FAIL: "#882255", PREEMPTED: "#ee7733" };
  const NARROW = 600;
  const tip = document.getElementById("tip");
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const runColour = (run) => PALETTE[run % PALETTE.length];
  document.querySelectorAll(".swatch").forEach((one) => { one.style.background = runColour(+one.dataset.run); });

  const holder = document.getElementById("data");
  const bytes = Uint8Array.from(atob(holder.textContent.trim()), (letter) => letter.charCodeAt(0));
  const data = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  holder.remove();
  const charts = [], many = data.runs.length > 1;

  // Words

  const two = (number) => String(number).padStart(2, "0");
  function duration(seconds) {
    if (seconds == null) return "–";
    if (Math.abs(seconds) < 60) return `${+seconds.toFixed(3)} s`;
    const sign = seconds < 0 ? "−" : "", whole = Math.round(Math.abs(seconds));
    const days = Math.floor(whole / 86400), clock = `${two(Math.floor(whole / 3600) % 24)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
    return sign + (days ? `${days} d ` : "") + clock;
  }
  function moment(seconds, step) {
    if (seconds == null) return "";
    const days = Math.floor(seconds / 86400), rest = seconds - days * 86400;
    if (step >= 86400) return `${days} d`;
    const day = days ? `${days} d ` : "";
    if (step >= 60) return `${day}${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}`;
    return step >= 1 ? `${day}${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(Math.floor(rest % 60))}` : `${+seconds.toFixed(6)} s`;
  }
  const number = (value, digits = 2) => value == null ? "–" : value.toLocaleString("en", { maximumFractionDigits: digits });

  // Charts

  const TIME_STEPS = [0.001, 0.01, 0.1, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000, 2592000, 8640000, 86400000, 864000000];
  const ink = () => variable("--ink"), grid = () => variable("--line");
  const axis = (more) => Object.assign({ stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid }, font: "12px system-ui, 'DejaVu Sans', sans-serif" }, more);
  const timeAxis = () => axis({ incrs: TIME_STEPS, space: innerWidth < NARROW ? 80 : 95, values: (_, splits, __, ___, step) => splits.map((one) => moment(one, step)) });
  const sync = uPlot.sync("time");
  // Figures over time stand below each other: the same moment is at the same place in all of them.
  const NAME_MAX = 14;
  const names = data.runs.flatMap((run) => run.gantt && run.gantt.hosts ? run.gantt.hosts : []);
  const leftSize = Math.max(60, 16 + 7.5 * names.reduce((widest, name) => Math.max(widest, Math.min(NAME_MAX, name.length)), 0));

  function add(id, options, columns, height) {
    const target = document.getElementById(id);
    const size = () => ({ width: Math.max(200, target.clientWidth), height: target.clientWidth < NARROW ? Math.round(height * 0.8) : height });
    const chart = new uPlot({ ...size(), ...options }, columns, target);
    let width = target.clientWidth;
    new ResizeObserver(() => { if (target.clientWidth !== width) { width = target.clientWidth; chart.setSize(size()); } }).observe(target);
    charts.push(chart);
    return chart;
  }

  const series = (curves, value) => [null, ...data.runs].map((run, index) => index === 0 ? null : ({
    label: run.label, stroke: runColour(index - 1), width: 1.5, dash: index > PALETTE.length ? [6, 3] : undefined,
    points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }), value: (_, one) => value(one), show: curves.y[index - 1].some((one) => one != null),
  })).slice(1);

  const curvesOverTime = (id, curves, unit, top) => add(id, {
    scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(top, (high || 0) * 1.05)] } },
    axes: [timeAxis(), axis({ size: leftSize, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000] })],
    cursor: { sync: { key: sync.key, scales: ["x", null] }, drag: { x: true, y: false } },
    series: [{ label: "time", value: (_, one) => one == null ? "–" : duration(one) }, ...series(curves, (one) => one == null ? "–" : number(one) + unit)],
  }, [curves.x, ...curves.y], 240);

  // A curve for each storage or link of a run. The first ones are the widest, so that curves upon each other are seen.
  const namedCurves = (id, names, x, y, unit, top, height = 240) => add(id, {
    scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(top, (high || 0) * 1.02) || 1] } },
    axes: [timeAxis(), axis({ size: leftSize })],
    cursor: { sync: { key: sync.key, scales: ["x", null] }, drag: { x: true, y: false } },
    series: [{ label: "time", value: (_, one) => one == null ? "–" : duration(one) }, ...names.map((name, index) => ({
      label: name, stroke: runColour(index), width: names.length > 1 ? 4 - 3 * index / (names.length - 1) : 1.5, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }), value: (_, one) => one == null ? "–" : number(one, 3) + unit,
    }))],
  }, [x, ...y], height);
  data.storages.forEach((use, run) => {
    if (!use) return;
    namedCurves(`storages-${run}`, use.names, use.x, use.y, " %", 100);
    for (const side of ["read", "written"]) namedCurves(`${side}-${run}`, use.names, use.x, use[side], " MB/s", 0, 200);
  });
  data.links.forEach((use, run) => use && namedCurves(`links-${run}`, use.names, use.x, use.y, " %", 0));
  window.reportCharts = charts;
  if (!data.table) { document.documentElement.dataset.ready = "yes"; return; }
  // Watts of each run, and dashed above them its caps.
  function powerOverTime(id, watts, caps) {
    const told = data.runs.map((_, run) => run).filter((run) => caps.y[run].some((one) => one != null));
    const kilowatts = (ys) => ys.map((one) => one == null ? null : one / 1000);
    const say = (one) => one == null ? "–" : `${number(one, 3)} kW`;
    add(id, {
      scales: { x: { time: false }, y: { range: (_, low, high) => [0, (high || 0) * 1.05 || 1] } },
      axes: [timeAxis(), axis({ size: leftSize })],
      cursor: { sync: { key: sync.key, scales: ["x", null] }, drag: { x: true, y: false } },
      series: [{ label: "time", value: (_, one) => one == null ? "–" : duration(one) }, ...series(watts, say), ...told.map((run) => ({
        label: many ? `cap of ${data.runs[run].label}` : "cap", stroke: runColour(run), width: 2, dash: [8, 5], points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }), value: (_, one) => say(one),
      }))],
    }, [watts.x, ...watts.y.map(kilowatts), ...told.map((run) => kilowatts(caps.y[run]))], 260);
  }
  // Cores by what they do, one band upon the other.
  const BANDS = [["compute", "#4477aa"], ["idle", "#bbccdd"], ["switch", "#ccaa22"], ["off", "#444455"]];
  function bandsOverTime(id, curves) {
    const [computing, idle, on, off, asleep] = curves.y, parts = [computing, idle, on.map((one, at) => one + off[at]), asleep];
    const sums = parts.map((_, place) => curves.x.map((_, at) => parts.slice(0, place + 1).reduce((sum, one) => sum + one[at], 0)));
    const value = (place) => (plot, _, __, at) => at == null ? "–" : number(parts[place][at]);
    const shown = BANDS.map(([label, colour], place) => ({ label, fill: colour, stroke: colour, width: 0, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }), value: value(place) })).reverse();
    add(id, {
      scales: { x: { time: false, range: (_, low, high) => [low ?? 0, high ?? data.end] }, y: { range: (_, low, high) => [0, high || 1] } },
      axes: [timeAxis(), axis({ size: leftSize })],
      cursor: { sync: { key: sync.key, scales: ["x", null] }, drag: { x: true, y: false }, points: { show: false } },
      series: [{ label: "time", value: (_, one) => one == null ? "–" : duration(one) }, ...shown],
    }, [curves.x, ...sums.reverse()], 170);
  }

  const WAITS = [1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000, 31536000], SIGNED = [...WAITS.map((one) => -one).reverse(), 0, ...WAITS];
  const SPANS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  function span(seconds) {
    const [unit, name] = SPANS.find(([unit]) => Math.abs(seconds) >= unit) || SPANS[3];
    return `${+(seconds / unit).toFixed(2)} ${name}`.replace("-", "−");
  }

  function distribution(id, curves, scale, label, tickLabel, ticks) {
    const last = curves.x.length ? curves.x[curves.x.length - 1] : 1, first = curves.x.length ? curves.x[0] : 0;
    const least = ticks.findIndex((tick) => tick >= 0), low = Math.min(first, ticks[least]), high = Math.max(last, ticks[least + 1]);
    const shown = ticks.filter((tick) => tick >= low && tick <= high);
    add(id, {
      scales: { x: { time: false, ...scale, range: (_, from, to) => from === first && to === last || from == null || from === to ? [low, high] : [from, to] }, y: { range: [0, 102] } },
      axes: [axis({ splits: () => shown, values: (plot, splits) => apart(plot, splits, tickLabel), grid: { show: true, stroke: grid, width: 1 }, filter: (_, splits) => splits }), axis({ size: 46 })],
      cursor: { drag: { x: true, y: false } },
      series: [{ label: "at most", value: (_, one) => one == null ? "–" : label(one) }, ...series(curves, (one) => one == null ? "–" : `${number(one)} %`)],
    }, [curves.x, ...curves.y], 280);
  }
  // A point for each job: how much later than elsewhere it started, over the moment of its submission.
  function points(id, curves) {
    const known = curves.y.flat(), low = known.reduce((least, one) => Math.min(least, one ?? 0), 0), high = known.reduce((most, one) => Math.max(most, one ?? 0), 0);
    const edge = (from, to) => to + Math.sign(to - from) * Math.max(1, Math.abs(to) * 0.2);
    const [bottom, top] = [low < 0 ? edge(0, low) : -1, high > 0 ? edge(0, high) : 1];
    const signed = (one) => one > 0 ? "+" + span(one) : span(one);
    // Labels that would run into those nearer to 0 are left out.
    const some = (plot, splits) => {
      const kept = [];
      for (const one of [...splits].sort((a, b) => Math.abs(a) - Math.abs(b)))
        if (kept.every((other) => Math.abs(plot.valToPos(one, "y") - plot.valToPos(other, "y")) >= 16)) kept.push(one);
      return splits.map((one) => kept.includes(one) ? signed(one) : "");
    };
    add(id, {
      scales: { x: { time: false }, y: { distr: 4, asinh: 1, range: (_, from, to) => from == null || from === low && to === high ? [bottom, top] : [from, to] } },
      axes: [timeAxis(), axis({ size: leftSize + 10, splits: (_, __, from, to) => SIGNED.filter((one) => one >= from && one <= to), values: some, filter: (_, splits) => splits })],
      cursor: { sync: { key: sync.key, scales: ["x", null] }, drag: { x: true, y: false } },
      series: [{ label: "submitted", value: (_, one) => one == null ? "–" : duration(one) }, ...series(curves, (one) => one == null ? "–" : (one > 0 ? "+" : "") + duration(one)).map((one) => ({ ...one, paths: () => null, points: { show: true, size: 5, width: 0, fill: one.stroke } }))],
    }, [curves.x, ...curves.y], 280);
  }
  // Labels that would run into the one before them are left out.
  function apart(plot, splits, label) {
    let free = -Infinity;
    return splits.map((one) => {
      const place = plot.valToPos(one, "x"), text = label(one), half = text.length * 3.6;
      if (place - half < free) return "";
      free = place + half + 8;
      return text;
    });
  }

  // Gantt charts

  let colourBy = "job";
  const colourOf = (run, job) => {
    if (colourBy === "job") return JOB_COLOURS[(job * 7) % JOB_COLOURS.length];
    return STATE_COLOURS[data.states[data.table.runs[run].state[job]].split(" ")[0]] || "#aa3377";
  };

  const isLight = (colour) => parseInt(colour.slice(1, 3), 16) * 0.3 + parseInt(colour.slice(3, 5), 16) * 0.59 + parseInt(colour.slice(5, 7), 16) * 0.11 > 150;

  // More rectangles than this are drawn as the share of cores that is busy.
  const DRAWN_MAX = 60000;
  const rasters = new Map();
  function raster(gantt, run) {
    if (!rasters.has(run)) {
      const canvas = document.createElement("canvas"), { width, height } = gantt.density, shares = Uint8Array.from(atob(gantt.density.shares), (letter) => letter.charCodeAt(0));
      canvas.width = width; canvas.height = height;
      const image = new ImageData(width, height);
      shares.forEach((share, index) => image.data.set([0x22, 0x66, 0xaa, share], index * 4));
      canvas.getContext("2d").putImageData(image, 0, 0);
      rasters.set(run, canvas);
    }
    return rasters.get(run);
  }
  function paintDensity(plot, run, gantt, kx, ky, strength) {
    const { left, top } = plot.bbox, sx = plot.scales.x, sy = plot.scales.y;
    plot.ctx.imageSmoothingEnabled = false;
    plot.ctx.globalAlpha = strength;
    plot.ctx.drawImage(raster(gantt, run), left - sx.min * kx, top - sy.min * ky, data.end * kx, gantt.cores * ky);
    plot.ctx.globalAlpha = 1;
  }

  function paint(plot, run, gantt) {
    const { start, finish } = data.table.runs[run], { left, top, width, height } = plot.bbox, context = plot.ctx;
    const sx = plot.scales.x, sy = plot.scales.y;
    const kx = width / (sx.max - sx.min), ky = height / (sy.max - sy.min);
    context.save();
    context.beginPath(); context.rect(left, top, width, height); context.clip();
    const groups = new Map();
    let count = 0;
    for (let index = 0; index < gantt.job.length; index++) {
      const job = gantt.job[index];
      if (finish[job] < sx.min || start[job] > sx.max || gantt.high[index] + 1 < sy.min || gantt.low[index] > sy.max) continue;
      const colour = colourOf(run, job);
      if (!groups.has(colour)) groups.set(colour, []);
      groups.get(colour).push(index);
      count++;
    }
    if (gantt.density && count > DRAWN_MAX) { paintDensity(plot, run, gantt, kx, ky, 1); groups.clear(); }
    else if (gantt.density) paintDensity(plot, run, gantt, kx, ky, 0.3); // stands for the jobs that are too small to be here
    plot.root.dataset.drawn = groups.size ? "jobs" : "density";
    const crowded = gantt.job.length > 5000, edge = crowded ? 0 : devicePixelRatio * 0.5, labels = [];
    for (const [colour, indices] of groups) {
      context.fillStyle = colour;
      for (const index of indices) {
        const job = gantt.job[index];
        const x = left + (start[job] - sx.min) * kx, y = top + (gantt.low[index] - sy.min) * ky;
        const w = Math.max((finish[job] - start[job]) * kx - edge, devicePixelRatio * 0.6), h = Math.max((gantt.high[index] + 1 - gantt.low[index]) * ky - edge, devicePixelRatio * 0.6);
        context.fillRect(x, y, w, h);
        if (w > 34 * devicePixelRatio && h > 11 * devicePixelRatio) labels.push([job, Math.max(x, left), y, Math.min(x + w, left + width) - Math.max(x, left), h]);
      }
    }
    context.textAlign = "center"; context.textBaseline = "middle";
    context.font = `${11 * devicePixelRatio}px system-ui, 'DejaVu Sans', sans-serif`;
    for (const [job, x, y, w, h] of labels.slice(0, 3000)) {
      const text = data.table.job[job];
      context.fillStyle = isLight(colourOf(run, job)) ? "#111111" : "#ffffff";
      if (context.measureText(text).width < w - 4) context.fillText(text, x + w / 2, y + h / 2);
    }
    context.restore();
  }

  function hostAxis(gantt) {
    const names = gantt.hosts, firsts = gantt.first;
    if (!names) return axis({ size: leftSize });
    const centre = (index) => (firsts[index] + (index + 1 < firsts.length ? firsts[index + 1] : gantt.cores)) / 2;
    const short = (name) => name.length > NAME_MAX ? "…" + name.slice(1 - NAME_MAX) : name;
    return axis({
      size: leftSize, grid: { show: false },
      splits: (plot, _, low, high) => {
        const inside = names.map((_, index) => index).filter((index) => centre(index) >= low && centre(index) <= high);
        const tall = plot.bbox.height / devicePixelRatio, step = inside.length * 13 <= tall ? 1 : Math.ceil(inside.length * 22 / tall);
        return inside.filter((_, place) => place % step === 0).map(centre);
      },
      values: (_, splits) => splits.map((place) => short(names[nearest(firsts, place)])),
      filter: (_, splits) => splits,
    });
  }
  // Index of the last of the rising numbers that is not above `value`.
  function nearest(rising, value) {
    let low = 0, high = rising.length - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (rising[middle] <= value) low = middle; else high = middle - 1; }
    return low;
  }

  function ganttChart(run) {
    const gantt = data.runs[run].gantt;
    if (!gantt) return;
    const whole = { min: 0, max: gantt.cores };
    const chart = add(`gantt-${run}`, {
      scales: { x: { time: false, range: (_, low, high) => [low ?? 0, high ?? data.end] }, y: { auto: false, dir: -1, range: (_, low, high) => low == null ? [0, gantt.cores] : [low, high] } },
      axes: [timeAxis(), hostAxis(gantt)],
      legend: { show: false },
      cursor: { sync: { key: sync.key, scales: ["x", null] }, drag: { x: true, y: true, uni: 25 }, points: { show: false } },
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [(plot) => paint(plot, run, gantt)] },
    }, [[0, data.end], [null, null]], Math.min(420, Math.max(170, 60 + 18 * (gantt.hosts ? gantt.hosts.length : gantt.cores))));
    chart.setScale("y", whole);
    chart.over.addEventListener("dblclick", () => setTimeout(() => chart.setScale("y", whole)));
    chart.over.addEventListener("mousemove", (event) => show(event, found(chart, run, gantt), run, gantt));
    chart.over.addEventListener("mouseleave", () => { tip.hidden = true; });
  }
  function found(chart, run, gantt) {
    const time = chart.posToVal(chart.cursor.left, "x"), core = chart.posToVal(chart.cursor.top, "y"), { start, finish } = data.table.runs[run];
    for (let index = gantt.job.length - 1; index >= 0; index--) {
      const job = gantt.job[index];
      if (gantt.low[index] <= core && core < gantt.high[index] + 1 && start[job] <= time && time < finish[job]) return index;
    }
    return -1;
  }
  function show(event, index, run, gantt) {
    tip.hidden = index < 0;
    if (index < 0) return;
    const job = gantt.job[index], side = data.table.runs[run];
    const host = gantt.hosts ? ` · ${gantt.hosts[nearest(gantt.first, gantt.low[index])]}` : "";
    tip.textContent = `job ${data.table.job[job]} · ${data.workloads[data.table.workload[job]]}\n${data.states[side.state[job]]} · ${data.table.cores[job]} cores${host}\n`
      + `submitted ${duration(side.submit[job])}\nstarted ${duration(side.start[job])}, waited ${duration(side.wait[job])}\nended ${duration(side.finish[job])}`;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
  }

  // Jobs

  const escaped = (text) => { const node = document.createElement("i"); node.textContent = text; return node.innerHTML.replaceAll('"', "&quot;"); };
  const COMPARE = { ">": (a, b) => a > b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, "!=": (a, b) => a !== b, "=": (a, b) => a === b };
  function matches(wanted, value) {
    const parts = /^\s*(>=|<=|!=|>|<|=)\s*(-?[\d.]+)\s*$/.exec(wanted);
    if (parts) return value != null && COMPARE[parts[1]](+value, +parts[2]);
    return value != null && String(value).toLowerCase().includes(wanted.trim().toLowerCase());
  }
  const column = (title, field, more = {}) => ({ title: escaped(title), field, headerFilter: "input", headerFilterPlaceholder: " ", headerFilterFunc: matches, minWidth: 84, ...more });
  const numeric = (title, field, show, more = {}) => column(title, field, { sorter: "number", sorterParams: { alignEmptyValues: "bottom" }, hozAlign: "right", formatter: (cell) => escaped(show(cell.getValue())), ...more });

  function jobTable() {
    const table = data.table, rows = table.job.map((job, index) => {
      const row = { place: index, job, workload: data.workloads[table.workload[index]], cores: table.cores[index] };
      table.runs.forEach((side, run) => {
        if (!side) return;
        row[`wait${run}`] = side.wait[index]; row[`slowdown${run}`] = side.slowdown[index]; row[`start${run}`] = side.start[index];
        if (side.energy) row[`energy${run}`] = side.energy[index];
        row[`state${run}`] = side.state[index] == null ? null : data.states[side.state[index]];
        if (row.submit == null) row.submit = side.submit[index];
        if (table.changes[run]) row[`change${run}`] = table.changes[run][index];
      });
      return row;
    });
    const columns = [column("job", "job", { sorter: (a, b, first, second) => first.getData().place - second.getData().place, frozen: innerWidth >= NARROW, minWidth: 70 })];
    if (data.workloads.length > 1) columns.push(column("workload", "workload"));
    columns.push(numeric("cores", "cores", (one) => number(one)), numeric("submitted, s", "submit", (one) => number(one, 3)));
    data.runs.forEach((run, index) => {
      if (!table.runs[index]) return;
      const inner = [numeric("start, s", `start${index}`, (one) => number(one, 3)), numeric("wait, s", `wait${index}`, (one) => number(one, 3)), numeric("bounded slowdown", `slowdown${index}`, (one) => number(one, 3)), column("state", `state${index}`)];
      if (table.runs[index].energy) inner.splice(3, 0, numeric("energy, J", `energy${index}`, (one) => number(one, 0)));
      if (many && index) inner.splice(2, 0, numeric("wait − first run's", `change${index}`, (one) => one == null ? "–" : (one > 0 ? "+" : "") + number(one, 3)));
      columns.push(...(many ? [{ title: escaped(run.label), columns: inner }] : inner));
    });
    const count = document.getElementById("count"), say = (shown) => { count.textContent = `${number(shown)} of ${number(rows.length)} jobs`; };
    const grid = new Tabulator("#job-table", { data: rows, columns, layout: "fitDataFill", height: Math.min(520, 110 + 30 * rows.length), placeholder: "no job matches", index: "place", columnHeaderSortMulti: false });
    grid.on("dataFiltered", (_, shown) => say(shown.length));
    grid.on("tableBuilt", () => { say(rows.length); document.documentElement.dataset.table = "yes"; });
    window.jobGrid = grid;
  }

  // Everything

  curvesOverTime("utilisation", data.utilisation, " %", 100);
  curvesOverTime("queue", data.queue, "", 1);
  if (data.gpus) curvesOverTime("gpus", data.gpus, "", 1);
  if (data.power) powerOverTime("power", data.power, data.caps);
  if (data.bands) data.bands.forEach((one, run) => { if (one) bandsOverTime(`bands-${run}`, one); });
  data.runs.forEach((_, run) => ganttChart(run));
  distribution("waits", data.waits, { distr: 4, asinh: 1 }, duration, span, [0, ...WAITS]);
  if (data.changes) distribution("changes", data.changes, { distr: 4, asinh: 1 }, duration, span, SIGNED);
  distribution("slowdowns", data.slowdowns, { distr: 3 }, (one) => number(one, 3), number, [1, 2, 5, 10, 20, 50, 100, 1000, 10000, 100000, 1000000]);
  if (data.errors) distribution("errors", data.errors, { distr: 4, asinh: 1 }, duration, span, [0, 3, ...WAITS.slice(2)]);
  for (const id of ["late", "moved"]) if (data[id]) points(id, data[id]);
  document.getElementById("colour").addEventListener("change", (event) => { colourBy = event.target.value; charts.forEach((chart) => chart.redraw(false)); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((chart) => chart.redraw(false, true)));
  document.documentElement.dataset.ready = "yes";
  if ("requestIdleCallback" in window) requestIdleCallback(jobTable, { timeout: 2000 }); else setTimeout(jobTable, 50);
})();
