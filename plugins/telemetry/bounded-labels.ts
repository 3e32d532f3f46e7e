import { createHash } from 'node:crypto';

/** Maximum distinct values of one label; later values become {@link OTHER}. */
export const MAX_LABEL_VALUES = 1_000;
/** Maximum bytes of a label value. */
const MAX_LABEL_BYTES = 128; // reference: telemetry, mcp_resource_id
/** Replaces values above the bound and unknown values from clients. */
export const OTHER = '_OTHER';

/**
 * Creates a function that returns label values up to a bound. Known values keep their series; changing lists cannot create
 * an unlimited number.
 */
export function boundedLabels(maxValues = MAX_LABEL_VALUES): (value: string) => string {
  const known = new Map<string, string>();
  return (value) => {
    const label = known.get(value);
    if (label !== undefined) return label;
    if (known.size >= maxValues) return OTHER;
    const short = shortenedLabel(value);
    known.set(value, short);
    return short;
  };
}

/** Cuts a long value and appends a hash, so that values with the same beginning stay distinct. */
function shortenedLabel(value: string): string {
  if (Buffer.byteLength(value) <= MAX_LABEL_BYTES) return value;
  const hash = createHash('sha256').update(value).digest('hex').slice(0, 8);
  const head = Buffer.from(value).subarray(0, MAX_LABEL_BYTES - 12);
  return `${head.toString('utf8').replace(/\ufffd+$/, '')}…${hash}`;
}
