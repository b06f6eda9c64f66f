import type { Metric } from '../protocol/metrics';

/** Metrics in Prometheus's text format, under the names that its own receiver of OTLP gives them. */
export function prometheusText(metrics: readonly Metric[]): string {
  return metrics.map(metricText).join('');
}

function metricText({ name: dotted, unit, description, kind, points }: Metric): string {
  const name = `${nameOf(dotted)}${unit === 'By' ? '_bytes' : ''}${kind === 'counter' ? '_total' : ''}`;
  const lines = points.map(({ value, attributes }) => {
    const labels = Object.entries(attributes).map(([key, text]) => `${nameOf(key)}="${escaped(String(text))}"`);
    return `${name}{${labels.join(',')}} ${value}\n`;
  });
  return `# HELP ${name} ${description}\n# TYPE ${name} ${kind === 'counter' ? kind : 'gauge'}\n${lines.join('')}`;
}

const nameOf = (dotted: string): string => dotted.replace(/\W/g, '_');
const escaped = (text: string): string => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
