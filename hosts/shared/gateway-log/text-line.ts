import { stripVTControlCharacters } from 'node:util';
import type { JsonObject, JsonValue, LOG_NAMES } from '@toolmgr/core';
import { harmless, type Terminal } from '../terminal.ts';

/** A level of the log. */
export type LogName = (typeof LOG_NAMES)[number];

/** What one line for people is made of. */
export interface LogEntry {
  readonly atMs: number;
  readonly level: Exclude<LogName, 'silent'>;
  readonly message: string;
  readonly fields?: JsonObject | undefined;
}

/** Colours of a terminal. */
export type Style = Pick<Terminal, 'bold' | 'dim' | 'red' | 'green' | 'yellow'>;

/** Characters of one sentence; the JSON line has the rest. */
const MAX_SENTENCE = 2_000;
/** Fields that complete the message: the reason follows a colon. */
const REASONS = ['how', 'cause', 'reason', 'warning'] as const;
/** Fields with lines of their own, or shown elsewhere in the line. */
const NOT_INLINE: ReadonlySet<string> = new Set(['backend', 'stack', 'stderr', ...REASONS]);
const INDENT = '         ';

/**
 * One line for people: `14:02:11 warn  github  backend process ended: ended with exit code 1`. The time is local. `more` are
 * lines below it, e.g. the end of stderr.
 */
export function textLine({ atMs, level, message, fields = {} }: LogEntry, style: Style, more: readonly string[] = []) {
  const { backend, stack } = fields;
  const colour = { debug: style.dim, info: style.green, warn: style.yellow, error: style.red }[level];
  const name = typeof backend === 'string' ? `${style.bold(oneLine(backend))}  ` : '';
  const rest = detailsOf(fields);
  const details = rest === '' ? '' : `  ${style.dim(rest)}`;
  const below = [...(typeof stack === 'string' ? stack.split('\n') : []), ...more].map((line) => {
    return `\n${INDENT}${style.dim(oneLine(line))}`;
  });
  return `${style.dim(clock(atMs))} ${colour(level.padEnd(5))} ${name}${sentenceOf(message, fields)}${details}${below.join('')}`;
}

/** The message and its reason on one line. */
export function sentenceOf(message: string, fields: JsonObject = {}): string {
  return oneLine([message, ...reasons(fields)].join(': '));
}

/** The reason on one line: `ended with exit code 1`. */
export function reasonsOf(fields: JsonObject = {}): string {
  return oneLine(reasons(fields).join(': '));
}

function reasons(fields: JsonObject): readonly string[] {
  const named = `backend "${String(fields.backend)}" `; // the line names it already
  return REASONS.flatMap((key) => (fields[key] === undefined ? [] : [plain(fields[key]).replace(named, '')]));
}

/** `tools=13 revision=2025-11-25` */
function detailsOf(fields: JsonObject): string {
  const shown = Object.entries(fields).filter(
    ([key, value]) => !(NOT_INLINE.has(key) || (key === 'malformed' && value === 0)),
  );
  return oneLine(shown.map(([key, value]) => `${key}=${plain(value)}`).join(' '));
}

/** Foreign text on one line, without anything that changes a terminal. */
export function oneLine(text: string): string {
  const cut = text.length > MAX_SENTENCE ? `${text.slice(0, MAX_SENTENCE)}…` : text;
  return harmless(stripVTControlCharacters(cut))
    .trim()
    .replace(/\s*[\r\n\t]+\s*/g, ' ');
}

function plain(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Local time, `HH:MM:SS`. */
function clock(atMs: number): string {
  const at = new Date(atMs);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
