/** One sample of a Prometheus page. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Parses the text format 0.0.4.
 * @throws Error naming an invalid line, or a sample whose metric has no type
 */
export function prometheusSamples(text: string): readonly Sample[] {
  const typed = new Set<string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (?:counter|gauge|histogram|summary|untyped)$/.exec(line);
    if (type?.[1] !== undefined) typed.add(type[1]);
    if (line === '' || line.startsWith('#')) continue;
    const [, name, , labels = '', value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`not a sample: ${line}`);
    if (!typed.has(name) && !typed.has(name.replace(/_(?:bucket|sum|count)$/, ''))) {
      throw new Error(`no type before: ${line}`);
    }
    samples.push({
      name,
      labels: labelsIn(labels),
      value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
    });
  }
  return samples;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (\S+)$/;

function labelsIn(text: string): Record<string, string> {
  const found = text.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}
