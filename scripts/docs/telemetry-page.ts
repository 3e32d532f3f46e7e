import { ATTRIBUTES, type AttributeRow } from '../../plugins/telemetry/attribute-table.ts';
import { DURATION_BOUNDS, METRICS, type MetricRow } from '../../plugins/telemetry/metric-table.ts';
import { page, table } from './markdown.ts';

/** docs/reference/telemetry.md */
export function telemetryPage(): string {
  const metrics = Object.entries<MetricRow>(METRICS).map(([name, row]) => [
    `\`${name}\``,
    `\`${prometheusName(name, row)}\``,
    row.kind === 'upDownCounter' ? 'up-down counter' : row.kind,
    row.labels.length === 0 ? '' : row.labels.map((label) => `\`${label}\``).join(', '),
    row.means,
  ]);
  const others = Object.entries<MetricRow>(METRICS).flatMap(([name, { bounds }]) =>
    bounds === undefined ? [] : [`of \`${name}\` at ${bounds.join(', ')}`],
  );
  const attributes = Object.values<AttributeRow>(ATTRIBUTES).map(({ name, legacy = [], on, means }) => [
    name === undefined ? '' : `\`${name}\``,
    legacy.map((old) => `\`${old}\``).join(', '),
    on === 'both' ? 'request, call' : on,
    means,
  ]);
  return page('Telemetry', '`plugins/telemetry/metric-table.ts` and `plugins/telemetry/attribute-table.ts`', [
    'Metrics and attributes of the plugin `telemetry`. How to enable and use it: [observability](../guides/observability.md).',
    '## Metrics',
    `Prometheus writes dots as underscores. Buckets of durations end at ${DURATION_BOUNDS.join(', ')} seconds; ${others.join(', ')}.`,
    table(['metric (OTLP)', 'at `/metrics`', 'kind', 'labels', 'meaning'], metrics),
    '## Attributes of spans',
    'Spans have the old names in addition to the current ones while `useLegacyAttributes` is true, its default. Every span also has `environment.NAME` for each of `environmentVariables` that is set.',
    table(['attribute', 'old names', 'on spans of', 'meaning'], attributes),
  ]);
}

function prometheusName(name: string, { kind, unit }: MetricRow): string {
  const base = name.replaceAll('.', '_');
  if (kind === 'counter') return `${base}_total`;
  return unit === 's' ? `${base}_seconds` : base;
}
