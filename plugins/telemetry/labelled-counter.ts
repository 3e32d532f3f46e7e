import type { Attributes, ObservableCounter } from '@opentelemetry/api';

/** Maximum series of one counter; further ones share an overflow series. */
const MAX_SERIES = 2_000; // the same limit as in the SDK
const OVERFLOW: Attributes = { 'otel.metric.overflow': true }; // OpenTelemetry metrics SDK, cardinality limits

/** A counter with labels. */
export interface LabelledCounter<L extends string> {
  /** Every label must have a value; the object may be stored. */
  add(labels: Readonly<Record<L, string>>): void;
}

/**
 * Counts locally and reports to the SDK when it collects: the SDK would sort and encode all labels on every call.
 * `names` are the labels in a fixed order.
 */
export function createLabelledCounter<L extends string>(
  counter: ObservableCounter,
  names: readonly L[],
): LabelledCounter<L> {
  const series = new Map<string, { readonly labels: Attributes; count: number }>();
  counter.addCallback((seen) => {
    for (const { labels, count } of series.values()) seen.observe(count, labels);
  });
  const counted = (key: string, labels: Attributes) => {
    const known = series.get(key);
    if (known !== undefined) return known;
    if (series.size >= MAX_SERIES && key !== '') return counted('', OVERFLOW);
    const made = { labels, count: 0 };
    series.set(key, made);
    return made;
  };
  return {
    add(labels) {
      let key = '\0';
      for (const name of names) key += `${labels[name]}\0`;
      counted(key, labels).count++;
    },
  };
}
