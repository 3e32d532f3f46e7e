import { z } from 'zod';

const MS_PER_UNIT = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const GROUPS = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const GROUP = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/**
 * Milliseconds of a Go duration string such as `1h30m`, `250ms`, `1.5s` or `0`; `undefined` when it is invalid.
 * Source: vmcp spec, notation; both spellings of the micro sign are read, as Go does.
 */
export function durationMs(text: string): number | undefined {
  if (text === '0') return 0;
  if (!GROUPS.test(text)) return undefined;
  let total = 0;
  for (const [, amount = '', unit = 'ms'] of text.matchAll(GROUP)) {
    total += Number(amount) * MS_PER_UNIT[unit as keyof typeof MS_PER_UNIT];
  }
  return Number.isFinite(total) && total <= Number.MAX_SAFE_INTEGER ? total : undefined;
}

const EXPECTED = 'expected a Go duration such as 30s, 250ms or 1h30m';
const UNIT = '(?:ns|us|µs|μs|ms|s|m|h)';
const ZERO_GROUP = `(?:0+(?:\\.0*)?|\\.0+)${UNIT}`;
const GROUP_ABOVE_ZERO = `(?:0*[1-9]\\d*(?:\\.\\d*)?|0*\\.0*[1-9]\\d*)${UNIT}`;
const ANY_GROUP = `(?:\\d+(?:\\.\\d*)?|\\.\\d+)${UNIT}`;
/** Written so that it takes linear time; schemas that are made of it have it too. */
const ABOVE_ZERO = new RegExp(`^(?:${ZERO_GROUP})*${GROUP_ABOVE_ZERO}(?:${ANY_GROUP})*$`);

/** Parses a Go duration above zero to whole milliseconds, rounded up. */
export const goDuration = z
  .string({ error: ({ input }) => (typeof input === 'number' ? EXPECTED : undefined) })
  .regex(ABOVE_ZERO, {
    error: ({ input }) => (durationMs(String(input)) === 0 ? 'expected a duration above zero' : EXPECTED),
  })
  .transform((text, context) => {
    const ms = durationMs(text);
    if (ms !== undefined && ms > 0) return Math.ceil(ms);
    context.addIssue({ code: 'custom', message: EXPECTED });
    return z.NEVER;
  });
