// The charts of analytics, drawn by ECharts from the data of an attribute, in the colours of the page.
"use strict";
(() => {
  const drawn = new Map();
  const colour = (name) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(--${name})`;
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const TONES = { good: "bar-good", bad: "bar-bad", idle: "soft" };
  const option = ({ kind, x, lines, unit, digits }, width) => {
    const [ink, soft, line, card] = ["ink", "soft", "line", "card"].map(colour);
    const shown = (value) => value === null || value === undefined ? "–" : `${Number(value).toLocaleString(undefined, { maximumFractionDigits: digits })}${unit ? ` ${unit}` : ""}`;
    const places = { type: "category", data: x, axisLine: { lineStyle: { color: line } }, axisTick: { show: false }, axisLabel: { color: soft, hideOverlap: true } };
    const values = { type: "value", minInterval: digits ? 0 : 1, splitLine: { lineStyle: { color: line } }, axisLabel: { color: soft } };
    const lying = kind === "lying";
    const named = lines.reduce((sum, one) => sum + 34 + [...one.name].reduce((wide, letter) => wide + (letter > "\u1100" ? 12 : 7), 0), 0);
    const top = 18 + 20 * Math.ceil(named / Math.max(width, 1)); // so many lines of names stand above
    return {
      animation: !matchMedia("(prefers-reduced-motion: reduce)").matches,
      animationDuration: 300,
      color: [1, 2, 3, 4, 5].map((at) => colour(`line-${at}`)),
      grid: { left: 8, right: 16, top, bottom: 8, containLabel: true },
      legend: { top: 0, left: 0, type: "plain", icon: "roundRect", itemWidth: 12, itemHeight: 8, textStyle: { color: ink } },
      tooltip: { trigger: "axis", renderMode: "richText", confine: true, axisPointer: { type: kind === "line" ? "line" : "shadow" }, backgroundColor: card, borderColor: line, textStyle: { color: ink }, valueFormatter: shown },
      xAxis: lying ? values : places,
      yAxis: lying ? { ...places, inverse: true, axisLabel: { color: ink } } : values,
      series: lines.map((one) => ({
        name: one.name,
        data: one.values,
        type: kind === "line" ? "line" : "bar",
        stack: kind === "stack" ? "all" : undefined,
        barMaxWidth: 28,
        showSymbol: x.length < 3,
        connectNulls: true,
        smooth: 0.2,
        lineStyle: { width: one.dashed ? 1.5 : 2, type: one.dashed ? "dashed" : "solid" },
        areaStyle: kind === "line" && !one.dashed ? { opacity: 0.08 } : undefined,
        ...(one.tone ? { itemStyle: { color: colour(TONES[one.tone]) } } : {}),
      })),
    };
  };
  const draw = (again = false) => {
    for (const [place, chart] of drawn) if (!place.isConnected) { chart.dispose(); drawn.delete(place); }
    for (const place of document.querySelectorAll("[data-chart]")) {
      if (!again && drawn.has(place) && place.dataset.drawn === place.dataset.chart) continue;
      place.dataset.drawn = place.dataset.chart;
      const chart = drawn.get(place) ?? echarts.init(place, null, { locale: document.documentElement.lang === "ko" ? "KO" : "EN", height: 260 });
      drawn.set(place, chart);
      chart.setOption(option(JSON.parse(place.dataset.chart), place.clientWidth), true);
      place.dataset.ready = "1";
    }
  };
  addEventListener("resize", () => { for (const chart of drawn.values()) chart.resize(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(true));
  document.addEventListener("htmx:after:swap", () => draw());
  draw();
})();
