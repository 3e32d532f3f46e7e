import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const auditEvent = z.looseObject({
  type: z.string(),
  outcome: z.string(),
  subjects: z.looseObject({ user: z.string() }),
  target: z.looseObject({ name: z.string().optional() }),
  metadata: z.looseObject({ extra: z.looseObject({ refusal: z.string().optional() }) }),
});

/** The audit file in short form, one entry per line: `caller | target | outcome`. */
export async function auditTrail(file: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => {
    const { type, outcome, subjects, target, metadata } = auditEvent.parse(JSON.parse(line));
    const { refusal } = metadata.extra;
    const end = refusal === undefined ? outcome : `${outcome}: ${refusal}`;
    return [subjects.user, target.name ?? type, end].join(' | ');
  });
}

/** Samples of some counters from the Prometheus page, by name and labels: `name | label=value | …`. */
export async function counters(url: URL, names: readonly string[]): Promise<Record<string, number>> {
  const samples = (await (await fetch(url)).text()).split('\n').flatMap((line) => {
    const [, name = '', labels = '', value] = /^(\w+)\{(.*)\} (\d+)$/.exec(line) ?? [];
    if (!names.includes(name)) return [];
    const shown = [...labels.matchAll(/(\w+)="([^"]*)"/g)].filter(([, label]) => label !== 'server');
    return [[[name, ...shown.map(([, label, text]) => `${label}=${text}`)].join(' | '), Number(value)] as const];
  });
  return Object.fromEntries(samples);
}
