import { megabytes } from './sizes.ts';

/** One thing that a release makes. */
export interface Outcome {
  readonly name: string;
  readonly state: 'made' | 'skipped' | 'failed';
  /** Bytes of what was made. */
  readonly size?: number;
  /** What it is; for other states the reason. */
  readonly detail: string;
}

/** Outcomes as a table of text. */
export function outcomeTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ name, state, size, detail }) => [
    name,
    state,
    size === undefined ? '' : size < 100_000 ? `${(size / 1000).toFixed(1)} kB` : megabytes(size),
    detail,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, column) => (column === 2 ? cell.padStart : cell.padEnd).call(cell, widths[column] ?? 0)),
    )
    .map((cells) => cells.join('  ').trimEnd())
    .join('\n');
}

/** Values of the environment that no output may contain. */
const SECRET = /TOKEN|PASSWORD|SECRET|_KEY$|_AUTH/i;
const SHORTEST = 8; // a shorter value would be found in ordinary text

/** A text without the secrets of the environment: tools may print what they were given. */
export function withoutSecrets(text: string, env: Readonly<Record<string, string | undefined>> = process.env): string {
  return Object.entries(env)
    .filter(([name, value]) => SECRET.test(name) && (value?.length ?? 0) >= SHORTEST)
    .reduce((left, [, value]) => left.replaceAll(value ?? '', '***'), text);
}
