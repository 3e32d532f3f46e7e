import type { Attributes, ObservableCounter } from '@opentelemetry/api';

/** Series of one counter; what comes after that is one series more. */
const MAX_SERIES = 2_000; // as many as the SDK keeps of every other instrument
const OVERFLOW: Attributes = { 'otel.metric.overflow': true }; // OpenTelemetry metrics SDK, cardinality limits

/** Counts by labels. */
export interface Tally<L extends string> {
  /** Every label must have a value; the object may be kept. */
  add(labels: Readonly<Record<L, string>>): void;
}

/**
 * Counts here and tells the counter when somebody looks: the SDK would sort and encode all labels for every call.
 * `names` are the labels in a fixed order.
 */
export function createTally<L extends string>(counter: ObservableCounter, names: readonly L[]): Tally<L> {
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
