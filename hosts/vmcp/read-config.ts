import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  type Catalogue,
  explainCause,
  findPlugin,
  GatewayFault,
  isObject,
  limitsSchema,
  nearest,
  type Plugin,
  type PluginPlaces,
} from '@toolmgr/core';
import { LineCounter, parseDocument, type YAMLError } from 'yaml';
import { z } from 'zod';
import { unknownStepTypes } from './composite-tools.ts';
import { configSchema, type VmcpConfig } from './config-schema.ts';
import { unavailable, unknownWorkloads } from './not-yet.ts';
import { longProbes, silentTelemetry } from './odd-settings.ts';
import { credentialsOfPrograms, openSecrets, ownedOptions, strategyUse, widePassthrough } from './outgoing-auth.ts';
import { planFromConfig } from './plan.ts';
import { pluginProblems, whyAbsent } from './plugin-problems.ts';
import type { Problem } from './problem.ts';
import { check, problemLines, problemsFrom } from './problem-lines.ts';
import { anonymousUsers, unusedStorage } from './storage-and-limits.ts';
import { unknownTools } from './unknown-tools.ts';

/** A file that was read, and what is odd about it but not wrong. */
export interface ReadConfig {
  readonly config: VmcpConfig;
  readonly warnings: readonly string[];
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_ALIASES = 100; // of YAML anchors; more is a bomb, not a configuration

/**
 * The text of a file.
 * @throws GatewayFault PLAN_INVALID saying why it cannot be read
 */
export async function readConfigText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code ?? 'unknown error'})`;
    throw new GatewayFault('PLAN_INVALID', `${file}: ${why}`, { cause });
  }
}

/**
 * Reads the text of a vmcp file strictly.
 *
 * Sections of plugins are read by the plugin's own schema, so the file, `validate` and the start agree.
 * @throws GatewayFault PLAN_INVALID with one `file:line: path: what is wrong` per problem
 */
export async function readConfig(text: string, file: string, catalogue: Catalogue): Promise<ReadConfig> {
  const places = { catalogue, baseDir: dirname(resolve(file)) };
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) {
    throw new GatewayFault('PLAN_INVALID', `${file}: larger than ${MAX_FILE_BYTES} bytes`);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fail = (problems: readonly Problem[]): never => {
    throw new GatewayFault('PLAN_INVALID', problemLines(file, document, lines, problems).join('\n'));
  };
  if (document.errors.length > 0) {
    const sentences = document.errors.map(
      (error) => `${file}:${lines.linePos(error.pos[0]).line}: ${yamlProblem(error, text)}`,
    );
    throw new GatewayFault('PLAN_INVALID', sentences.join('\n'));
  }
  let given: unknown;
  try {
    given = withoutNulls(document.toJS({ maxAliasCount: MAX_ALIASES }));
  } catch (cause) {
    throw new GatewayFault('PLAN_INVALID', `${file}:1: ${explainCause(cause)}`, { cause });
  }
  if (given === null || given === undefined) throw new GatewayFault('PLAN_INVALID', `${file}:1: the file is empty`);
  const read = configSchema.safeParse(given);
  const problems = read.success ? [] : problemsFrom(configSchema, read.error, given);
  problems.push(...(await ownedProblems(given, places)));
  if (!read.success) return fail(problems);
  const config = read.data as VmcpConfig;
  problems.push(...(await strategyProblems(config, catalogue)));
  problems.push(...(await authzProblems(config, catalogue)));
  problems.push(...unavailable(config));
  if (!problems.some(({ path }) => path[0] === 'compositeTools')) problems.push(...unknownStepTypes(config));
  // names and users can only be compared when the sections themselves are sound
  const isSound = (section: string): boolean => !problems.some(({ path }) => path[0] === section);
  if (isSound('backends')) problems.push(...credentialsOfPrograms(config));
  if (isSound('rateLimiting')) problems.push(...anonymousUsers(config));
  if (problems.length === 0) problems.push(...unknownWorkloads(config), ...(await absentPlugins(config, catalogue)));
  if (problems.length > 0) return fail(problems);
  return {
    config,
    warnings: problemLines(file, document, lines, [
      ...odd(config),
      ...unusedStorage(config),
      ...silentTelemetry(config),
      ...longProbes(config),
      ...openSecrets(config),
      ...widePassthrough(config),
      ...unknownTools(config),
    ]),
  };
}

function yamlProblem({ code, pos: [begin], message }: YAMLError, text: string): string {
  if (code !== 'DUPLICATE_KEY') return message;
  return `the key ${/^[^\s:]+/.exec(text.slice(begin, begin + 100))?.[0] ?? ''} stands twice in one section`;
}

/** A section that is there but empty reads as absent, as in other YAML readers. */
function withoutNulls(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

/** Sections that plugins own, by the address whose schema reads them. A dot leads into a section. */
export const OWNERS = {
  aggregation: 'aggregation',
  audit: 'audit',
  backends: 'backend-sources/static',
  codeMode: 'code-mode/execute-script',
  compositeTools: 'composite/engine',
  optimizer: 'optimizer/tools',
  rateLimiting: 'rate-limit',
  sessionStorage: 'stores/redis', // the memory store takes nothing from the file
  telemetry: 'telemetry',
  'operational.failureHandling': 'health',
  'incomingAuth.oidc': 'incoming-auth/oidc',
} as const;

/** The plugin behind `incomingAuth.authz`. */
const AUTHORIZER = 'authorization/cedar';

async function ownedProblems(given: unknown, places: PluginPlaces): Promise<Problem[]> {
  const { catalogue } = places;
  if (typeof given !== 'object' || given === null) return [];
  const sections = given as Readonly<Record<string, unknown>>;
  const problems: Problem[] = [];
  for (const [place, address] of Object.entries(OWNERS)) {
    const path = place.split('.');
    const section = sectionAt(given, path);
    if (section === undefined) continue;
    const plugin = await load(catalogue, address).catch(whyAbsent);
    if (plugin === undefined) problems.push({ path, message: `the plugin ${address} is not installed` });
    else if (typeof plugin === 'string') problems.push({ path, message: `needs the plugin ${address}: ${plugin}` });
    else problems.push(...sectionProblems(path, plugin, section));
  }
  if (sections.limits !== undefined) problems.push(...check(limitsSchema, sections.limits, ['limits']));
  problems.push(...(await pluginProblems(sections.plugins, places)));
  return problems;
}

function sectionAt(given: unknown, path: readonly string[]): unknown {
  return path.reduce((at, key) => (isObject(at) ? at[key] : undefined), given);
}

/** A plugin reads its section as its whole configuration, or as the one member that has the section's name. */
function sectionProblems(path: readonly string[], plugin: Plugin, section: unknown): Problem[] {
  const { config } = plugin;
  const [key = ''] = path;
  if (!(config instanceof z.ZodObject)) return check(config, section, path);
  if (Object.hasOwn(config.shape, key)) return check(config, { [key]: section }, []);
  return check(hosted(key, config, section), section, path);
}

/** The plugin's schema with the host's words in it: what says whether a plugin is loaded, and which. */
function hosted(key: string, config: z.ZodObject, section: unknown): z.ZodType {
  if (key === 'audit' || key === 'codeMode') return config.safeExtend({ enabled: z.boolean().default(false) });
  if (key !== 'sessionStorage') return config;
  const needed = isObject(section) && section.provider === 'redis' ? config : config.partial();
  return needed.safeExtend({ provider: z.enum(['memory', 'redis']) });
}

async function strategyProblems(config: VmcpConfig, catalogue: Catalogue): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { path, use, plugin } of ownedOptions(config)) {
    const schema = (await load(catalogue, plugin))?.slotOptions?.[use.type];
    const given = strategyUse(use).options;
    problems.push(...(schema === undefined ? [{ path, message: 'is not installed' }] : check(schema, given, path)));
  }
  return problems;
}

/** With `type: none` nothing is decided, so policies would only seem to protect. */
async function authzProblems({ incomingAuth }: VmcpConfig, catalogue: Catalogue): Promise<Problem[]> {
  const { authz } = incomingAuth ?? {};
  if (authz === undefined) return [];
  const path = ['incomingAuth', 'authz'];
  const plugin = await load(catalogue, AUTHORIZER).catch(whyAbsent);
  if (typeof plugin === 'string') return [{ path, message: `needs the plugin ${AUTHORIZER}: ${plugin}` }];
  const schema = plugin?.config;
  if (!(schema instanceof z.ZodObject)) return [{ path, message: `the plugin ${AUTHORIZER} is not installed` }];
  const { type, ...settings } = authz;
  const hosted = schema.safeExtend({ type: z.literal(type) }); // so that a slip in `type` is compared with it too
  if (type === 'cedar') return check(hosted, authz, path);
  const { policies, ...rest } = settings;
  const open = Array.isArray(policies) && policies.length === 0 ? undefined : policies;
  if (open !== undefined) {
    return [{ path: [...path, 'policies'], message: 'would not be decided with type none; remove them' }];
  }
  return check(hosted, { ...rest, type, policies: ['permit(principal, action, resource);'] }, path);
}

/** Plugins of the plan that no section of the file names, such as the one that runs scripts. */
async function absentPlugins(config: VmcpConfig, catalogue: Catalogue): Promise<Problem[]> {
  const planned = planFromConfig(config).plugins.filter(({ use }) => Object.hasOwn(catalogue, use));
  const found = await Promise.all(planned.map(({ use }) => load(catalogue, use).catch(whyAbsent)));
  return found.flatMap((plugin, at) =>
    typeof plugin === 'string' ? [{ path: [], message: `needs the plugin ${planned[at]?.use}: ${plugin}` }] : [],
  );
}

/** @throws GatewayFault PLUGIN_UNKNOWN when a package that it needs is not installed */
async function load(catalogue: Catalogue, address: string): Promise<Plugin | undefined> {
  return Object.hasOwn(catalogue, address) ? findPlugin(address, { catalogue, baseDir: '' }) : undefined;
}

/** Names in the aggregation that no static backend has: only odd, since the group may get one. */
function odd(config: VmcpConfig): Problem[] {
  const names = config.backends?.map((backend) => backend.name) ?? [];
  if (names.length === 0) return [];
  const { tools = [], conflictResolutionConfig } = config.aggregation as {
    readonly tools?: readonly { readonly workload: string }[];
    readonly conflictResolutionConfig?: { readonly priorityOrder?: readonly string[] };
  };
  const given = [
    ...tools.map(({ workload }, index) => ({ path: ['aggregation', 'tools', index, 'workload'], workload })),
    ...(conflictResolutionConfig?.priorityOrder ?? []).map((workload, index) => ({
      path: ['aggregation', 'conflictResolutionConfig', 'priorityOrder', index],
      workload,
    })),
  ];
  return given
    .filter(({ workload }) => !names.includes(workload))
    .map(({ path, workload }) => {
      const hint = nearest(workload, names);
      return {
        path,
        message: `no backend is named "${workload}"${hint === undefined ? '' : `, did you mean "${hint}"?`}`,
      };
    });
}
