// The part of ECharts that the analytics page draws with. In Korean: init(element, null, {locale: "KO"}).
import { registerLocale, use } from "echarts/core";
import { BarChart, HeatmapChart, LineChart, PieChart } from "echarts/charts";
import {
  AriaComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  TooltipComponent,
  VisualMapComponent,
} from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";
import korean from "echarts/i18n/langKO-obj.js";

use([
  AriaComponent,
  BarChart,
  CanvasRenderer,
  DataZoomComponent,
  GridComponent,
  HeatmapChart,
  LegendComponent,
  LineChart,
  PieChart,
  TooltipComponent,
  VisualMapComponent,
]);
registerLocale("KO", korean);

export { connect, dispose, getInstanceByDom, init, registerTheme, version } from "echarts/core";
