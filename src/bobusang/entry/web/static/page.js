// What pages do beyond links and forms: the live channel, charts, ticking all lines, asking before what cannot be undone.
"use strict";
(() => {
  const find = (selector, root = document) => [...root.querySelectorAll(selector)];

  // --- the live channel: one socket while the page is visible, by the topics that are on it ---
  const SLOWEST = 15000;
  let socket = null, tries = 0, timer = 0;
  const topics = () => find("[data-topic]").map((one) => one.dataset.topic);
  const mark = (state) => {
    const dot = document.getElementById("live");
    if (!dot) return;
    dot.className = `dot ${state}`;
    dot.textContent = JSON.parse(dot.dataset.liveWords)[state];
  };
  const close = () => {
    clearTimeout(timer);
    if (socket) { socket.onclose = null; socket.close(); socket = null; }
  };
  const open = () => {
    const path = document.body.dataset.live;
    if (!path || socket || document.hidden || !topics().length) return;
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`);
    socket.onopen = () => { tries = 0; mark("live"); socket.send(JSON.stringify([...new Set(topics())])); };
    socket.onmessage = (event) => show(JSON.parse(event.data));
    socket.onclose = (event) => {
      socket = null;
      if (event.code === 4401) { location.reload(); return; }
      mark("lost");
      const wait = Math.min(SLOWEST, 500 * 2 ** tries++);
      timer = setTimeout(open, wait / 2 + Math.random() * wait / 2);
    };
  };
  const show = ({ topic, parts, gone }) => {
    const place = document.querySelector(`[data-topic="${CSS.escape(topic)}"]`);
    if (!place) return;
    const stale = () => find("[data-stale]").map((one) => one.dataset.stale).join();
    const before = stale();
    for (const [id, html] of Object.entries(parts)) {
      const known = document.getElementById(id);
      if (known) htmx.swap({ text: html, target: known, swap: "outerMorph" });
      else if (place.dataset.grows) htmx.swap({ text: html, target: place, swap: place.dataset.grows });
    }
    for (const id of gone) document.getElementById(id)?.remove();
    document.dispatchEvent(new Event("live"));
    if (stale() !== before) htmx.ajax("GET", location.pathname + location.search, { target: document.body, swap: "innerMorph" });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { close(); mark("paused"); } else open();
  });

  // --- charts: canvas, drawn from the data of an attribute, in the colours of the page ---
  const plots = new Map();
  const draw = () => {
    for (const [place, plot] of plots) if (!place.isConnected) { plot.destroy(); plots.delete(place); }
    if (!window.uPlot) return;
    const colour = (name) => {
      const probe = document.body.appendChild(document.createElement("i"));
      probe.style.color = `var(${name})`;
      const found = getComputedStyle(probe).color;
      probe.remove();
      return found;
    };
    for (const place of find("[data-plot]")) {
      if (place.dataset.drawn === place.dataset.plot && plots.has(place)) continue;
      const { x, series, zero } = JSON.parse(place.dataset.plot);
      const data = [x, ...series.map((one) => one.values)];
      const known = plots.get(place);
      place.dataset.drawn = place.dataset.plot;
      if (known && known.series.length === data.length) { known.setData(data); continue; }
      known?.destroy();
      place.replaceChildren();
      const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
      const clock = (ticks, days) => { const format = new Intl.DateTimeFormat("sv-SE", { ...(days ? { month: "2-digit", day: "2-digit" } : {}), hour: "2-digit", minute: "2-digit", timeZone: place.dataset.zone }); return ticks.map((at) => format.format(at * 1000)); };
      const times = { ...axis, values: (plot, ticks) => clock(ticks, plot.scales.x.max - plot.scales.x.min > 86400) };
      const lines = series.map((one, at) => ({ label: one.label, stroke: colour(`--line-${at % 5 + 1}`), width: 2, points: { show: x.length < 3 } }));
      const first = { label: place.dataset.time, value: (_, at) => at === null ? "–" : clock([at], true)[0] };
      const scales = zero ? { y: { range: (_, low, high) => [0, high * 1.1 || 1] } } : {};
      plots.set(place, new uPlot({ width: place.clientWidth || 600, height: 220, scales, series: [first, ...lines], axes: [times, { ...axis, size: 60 }], legend: { live: true } }, data, place));
    }
  };
  addEventListener("resize", () => { for (const [place, plot] of plots) plot.setSize({ width: place.clientWidth, height: 220 }); });

  // --- lists: tick all, and filters that act when they are changed ---
  document.addEventListener("change", (event) => {
    const from = event.target;
    if (from.matches("[data-all]")) for (const box of find('input[name="ids"]', from.form)) box.checked = from.checked;
    if (from.matches("[data-filters] select")) from.form.requestSubmit();
    if (from.matches("[data-most]")) { from.setCustomValidity([...from.files].some((one) => one.size > Number(from.dataset.most)) ? from.dataset.tooLarge : ""); from.reportValidity(); }
  });

  // --- asking first; and keys ---
  document.addEventListener("click", (event) => {
    const from = event.target.closest("[data-confirm]");
    if (from && !confirm(from.dataset.confirm)) { event.preventDefault(); event.stopImmediatePropagation(); }
    for (const menu of find("details.me[open]")) if (!menu.contains(event.target)) menu.open = false;
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      const field = document.querySelector(copy.dataset.copy);
      field.select();
      navigator.clipboard?.writeText(field.value).then(() => { copy.textContent = copy.dataset.copied; }, () => {});
    }
  }, true);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, textarea, select");
    if ((event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey))) { event.preventDefault(); document.getElementById("seek")?.focus(); }
    if (event.key === "Escape") for (const menu of find("details.me[open]")) { menu.open = false; menu.querySelector("summary").focus(); }
  });

  // --- scripts of one page: they come with it, also where it takes the place of another ---
  const bring = () => {
    for (const { dataset: { script: src } } of find("[data-script]")) {
      if (document.querySelector(`script[src="${src}"]`)) continue;
      document.head.append(Object.assign(document.createElement("script"), { src, async: false }));
    }
  };

  const begin = () => {
    bring();
    draw();
    if (socket?.readyState === WebSocket.OPEN) {
      if (topics().length) socket.send(JSON.stringify([...new Set(topics())])); else { close(); mark("paused"); }
    } else open();
  };
  document.addEventListener("htmx:after:swap", begin);
  document.addEventListener("live", draw);
  begin();
})();
