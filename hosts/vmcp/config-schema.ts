import { isObject, type PlanInput, planSchema } from '@toolmgr/core';
import { goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';
import { CALLERS, type Chosen, choicesOf } from './choices.ts';
import { hasKey, type KeyedSection, lastKey, type Section, STRATEGIES } from './sections.ts';
import { statusPagesSchema } from './status-pages-schema.ts';

/** A section that a plugin's schema reads: kept as written here, checked in `section-problems.ts`. */
const owned = z.unknown();

const name = z.string().min(1, 'expected a name that is not empty');

/** Keys of the host and the core. */
const ofHost = {
  name,
  groupRef: name,
  metadata: z.record(z.string(), z.string()).optional(),
  compositeToolRefs: z.array(z.strictObject({ name: z.string() })).optional(),
  passthroughHeaders: planSchema.shape.passthroughHeaders.optional(),
  // not of the contract
  plugins: z.array(z.strictObject({ use: name, with: z.unknown().optional() })).optional(),
  limits: owned.optional(),
  endpoint: planSchema.shape.endpoint.unwrap().omit({ loopback: true }).optional(),
  httpClient: planSchema.shape.httpClient.unwrap().optional(),
  maxToolNameLength: planSchema.shape.maxToolNameLength,
  statusPages: statusPagesSchema.optional(),
};

const operational = z.strictObject({
  logLevel: z.enum(['debug']).optional(),
  timeouts: z
    .strictObject({ default: goDuration.optional(), perWorkload: z.record(z.string(), goDuration).optional() })
    .optional(),
});

/**
 * The vmcp file: the contract's `spec.config` at top level, with the sections of plugins, and keys of our own.
 *
 * Shape: durations become whole milliseconds; sections of plugins stay as written.
 * Source: vmcp spec §2 `spec.config`.
 */
export function configSchema(sections: readonly Section[]): ReturnType<typeof buildSchema> {
  const key = JSON.stringify(sections.map(({ contractKey, isRequired, choice }) => [contractKey, isRequired, choice]));
  const known = built.get(key);
  if (known !== undefined) return known;
  if (built.size >= MAX_BUILT) built.clear();
  const schema = buildSchema(sections);
  built.set(key, schema);
  return schema;
}

/** By the sections: the operator reads many files, and building a schema takes longer than a check with it. */
const built = new Map<string, ReturnType<typeof buildSchema>>();
const MAX_BUILT = 16;

function buildSchema(sections: readonly Section[]) {
  const strategy = z.strictObject({
    type: typeOf(sections, STRATEGIES),
    ...keysIn(sections, STRATEGIES),
  });
  const callers = z.strictObject({ type: typeOf(sections, CALLERS), ...keysIn(sections, CALLERS) });
  return z
    .strictObject({
      ...ofHost,
      ...topLevel(sections),
      /** May only be absent when a plugin of the file authenticates callers; with `anonymous` other callers would be accepted too. */
      incomingAuth: callers.optional(),
      outgoingAuth: z.strictObject({
        source: z.enum(['inline', 'discovered']),
        default: strategy.optional(),
        backends: z.record(z.string(), strategy).optional(),
      }),
      operational: operational.extend(keysIn(sections, 'operational')).optional(),
    })
    .refine((file) => file.incomingAuth !== undefined || (file.plugins ?? []).length > 0, {
      path: [CALLERS],
      message: 'missing, expected a section; only a file with an authenticating plugin under plugins: may leave it out',
      when: ({ value }) => isObject(value),
    });
}

/** Whether the host reads the key of a section, so that its plugin does not. */
export function isOfHost({ contractKey }: KeyedSection): boolean {
  return Object.hasOwn(ofHost, contractKey);
}

/** A parsed vmcp file. Only the keys of the host are typed; the sections of plugins are present too. */
export interface VmcpConfig {
  readonly name: string;
  readonly groupRef: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly incomingAuth?: Chosen;
  readonly outgoingAuth: {
    readonly source: 'inline' | 'discovered';
    readonly default?: Chosen;
    readonly backends?: Readonly<Record<string, Chosen>>;
  };
  readonly operational?: z.output<typeof operational>;
  readonly compositeToolRefs?: readonly unknown[];
  readonly passthroughHeaders?: string[];
  readonly plugins?: { use: string; with?: unknown }[];
  readonly limits?: PlanInput['limits'];
  readonly endpoint?: z.output<NonNullable<typeof ofHost.endpoint>>;
  readonly httpClient?: 'own' | 'undici';
  readonly maxToolNameLength?: number;
  readonly statusPages?: z.output<typeof statusPagesSchema>;
}

function typeOf(sections: readonly Section[], of: string) {
  return z.enum(choicesOf(sections, of).map(({ type }) => type));
}

/** The keys of sections inside another one. */
function keysIn(sections: readonly Section[], outer: string): Record<string, z.ZodType> {
  const inner = sections.filter(hasKey).filter(({ contractKey }) => contractKey.startsWith(`${outer}.`));
  return Object.fromEntries(inner.map((section) => [lastKey(section), owned.optional()]));
}

/** The keys of sections at top level that the host does not read itself. */
function topLevel(sections: readonly Section[]): Record<string, z.ZodType> {
  return Object.fromEntries(
    sections
      .filter(hasKey)
      .filter((section) => !section.contractKey.includes('.') && !isOfHost(section))
      .map(({ contractKey, isRequired }) => [contractKey, isRequired ? owned : owned.optional()]),
  );
}
