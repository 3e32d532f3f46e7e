import { GatewayFault } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import fc from '../../support/fast-check.ts';
import { readText } from '../../support/vmcp-text.ts';
import { effort, mutated, PROPERTY_MS } from './effort.ts';

/** A valid file with most settings. */
const GOOD = {
  name: 'dev',
  groupRef: 'dev',
  incomingAuth: { type: 'anonymous' },
  outgoingAuth: {
    source: 'inline',
    default: { type: 'unauthenticated' },
    backends: { one: { type: 'header_injection', headerInjection: { headerName: 'X-Key', headerValue: 'v' } } },
  },
  aggregation: {
    conflictResolution: 'prefix',
    conflictResolutionConfig: { prefixFormat: '{workload}_' },
    tools: [{ workload: 'one', filter: ['a'], overrides: { a: { name: 'b', description: 'c' } } }],
  },
  backends: [
    { name: 'one', url: 'http://127.0.0.1:1/mcp', transport: 'streamable-http' },
    { name: 'two', transport: 'stdio', command: { file: 'node', args: ['x.js'] } },
  ],
  operational: {
    timeouts: { default: '30s', perWorkload: { one: '1m30s' } },
  },
  audit: { enabled: true },
  passthroughHeaders: ['X-Tenant'],
  limits: { bodyBytes: 4096 },
  plugins: [],
};

/** Reads a text. A fault with a code is a valid outcome; anything else is a bug. */
async function outcome(text: string): Promise<'read' | 'refused'> {
  try {
    const { config, warnings } = await readText(text, 'fuzz.yaml');
    expect(config).toBeTypeOf('object');
    for (const warning of warnings) expect(warning).toMatch(/^fuzz\.yaml/);
    return 'read';
  } catch (cause) {
    if (!(cause instanceof GatewayFault)) throw cause;
    expect(cause.code).toMatch(/^(PLAN|PLUGIN|SECRET)_/);
    // each line says where
    for (const line of cause.message.split('\n')) expect(line).not.toBe('');
    expect(cause.message).toMatch(/^fuzz\.yaml/);
    return 'refused';
  }
}

const yamlPiece = fc.constantFrom(
  ...[
    '&a ',
    '*a',
    '<<: *a',
    '!!binary ',
    '!!set',
    '!custom x',
    '? ',
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '|\n',
    '>-\n',
    '- ',
    ': ',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    "'",
    '"',
    '#',
    '\t',
    '\0',
    '~',
    '.inf',
    '.nan',
    '0x1f',
    '1e400',
    '__proto__: 1',
    '2026-01-01',
    '\n',
  ],
);

/** Every path of the valid file. */
const places = placesIn(GOOD, []);

function placesIn(value: unknown, at: readonly string[]): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...at, key]))];
}

/** A copy with another value at a path; `undefined` removes the value. */
function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

const odd = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    true,
    0,
    -1,
    1.5,
    1e300,
    Number.NaN,
    '',
    '0',
    '-5s',
    '1h',
    'one',
    'x'.repeat(2000),
    [],
    {},
  ),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom({ __proto__: null, constructor: 1 }, { type: 'oidc' }, { type: 'header_injection' }, [[[]]], [null], {
    '': '',
  }),
);

describe('a vmcp file', { timeout: PROPERTY_MS }, () => {
  it('that is good is read', async () => {
    expect(await outcome(stringify(GOOD))).toBe('read');
  });

  it('with any value anywhere is accepted or refused with a message', async () => {
    const changes = fc.array(fc.tuple(fc.constantFrom(...places), odd), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        const file = list.reduce<unknown>((now, [at, by]) => {
          try {
            return replaced(now, at, by);
          } catch {
            return now; // an earlier change removed the path
          }
        }, GOOD);
        await outcome(stringify(file) ?? '');
      }),
      effort(400),
    );
  });

  it('whose text was changed is accepted or refused with a message', async () => {
    const whole = Buffer.from(stringify(GOOD));
    const spliced = fc.tuple(yamlPiece, fc.nat(whole.length)).map(([piece, at]) => {
      return Buffer.concat([whole.subarray(0, at), Buffer.from(piece), whole.subarray(at)]);
    });
    const texts = fc.oneof(
      mutated(fc.constant(whole)),
      mutated(spliced),
      fc.string().map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (bytes) => {
        await outcome(bytes.toString('utf8'));
      }),
      effort(400),
    );
  });

  it('with exponential expansion is refused quickly', async () => {
    const levels = Array.from({ length: 12 }, (_, n) => `a${n}: &a${n} [${n === 0 ? 'x' : `*a${n - 1},`.repeat(9)}]`);
    for (const bomb of [
      levels.join('\n'),
      `${'['.repeat(20_000)}`,
      `${'a:\n '.repeat(3000)}`,
      `${'- '.repeat(5000)}`,
    ]) {
      const started = Date.now();
      expect(await outcome(bomb)).toBe('refused');
      expect(Date.now() - started).toBeLessThan(10_000);
    }
  });
});
