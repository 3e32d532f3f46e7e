import { type JsonObject, type JsonValue, RawObject } from '@toolmgr/core';
import { rawElements } from '../../../core/json/raw-elements.ts';
import { exampleArguments } from './example-value.ts';
import type { WireAnswer, WirePeer } from './wire-peer.ts';

/** Requests in addition to the listed items. */
export interface SurveyPlan {
  /** Arguments of tools for which generated ones are unsuitable. */
  readonly arguments?: Readonly<Record<string, JsonObject>>;
  /** Invalid arguments for tools for which the common ones would do harm. */
  readonly wrong?: Readonly<Record<string, JsonObject>>;
  /** Tools that are not called, each with its reason. */
  readonly notCalled?: Readonly<Record<string, string>>;
  /** URIs to read in addition to listed ones: of templates, and unknown ones. */
  readonly read?: readonly string[];
  readonly complete?: readonly JsonObject[];
  /** Other requests, by label. */
  readonly more?: readonly (readonly [method: string, params: JsonObject])[];
}

/** Answers by request; each list is one answer. */
export type Survey = ReadonlyMap<string, WireAnswer>;

/** The lists, and which member holds their items and which member of an item is its key. */
export const LISTS = {
  'tools/list': ['tools', 'name'],
  'prompts/list': ['prompts', 'name'],
  'resources/list': ['resources', 'uri'],
  'resources/templates/list': ['resourceTemplates', 'uriTemplate'],
} as const;

const MAX_PAGES = 50;

/** Requests everything of a server: all lists, every tool, prompt and resource, and the additions of the plan. */
export async function survey(peer: WirePeer, plan: SurveyPlan): Promise<Survey> {
  const answers = new Map<string, WireAnswer>();
  const ask = async (method: string, params: JsonObject, label = JSON.stringify(params)): Promise<void> => {
    answers.set(`${method} ${label}`, await peer.request(method, params));
  };
  const listed = new Map<string, readonly RawObject[]>();
  for (const [method, [member]] of Object.entries(LISTS)) {
    const { items, last } = await allPages(peer, method, member);
    listed.set(method, items);
    answers.set(method, last);
  }
  for (const tool of sorted(listed.get('tools/list') ?? [], 'name')) {
    const name = tool.string('name') ?? '';
    if (plan.notCalled?.[name] !== undefined) continue;
    const given = plan.arguments?.[name] ?? exampleArguments(tool.value('inputSchema') as JsonObject);
    await ask('tools/call', { name, arguments: given, _meta: { progressToken: 'mine' } }, name);
    await ask('tools/call', { name, arguments: plan.wrong?.[name] ?? WRONG }, `${name} with wrong arguments`);
  }
  for (const prompt of sorted(listed.get('prompts/list') ?? [], 'name')) {
    const name = prompt.string('name') ?? '';
    const wanted = (prompt.value('arguments') ?? []) as readonly JsonObject[];
    const given = Object.fromEntries(wanted.map((argument) => [String(argument.name), '1']));
    await ask('prompts/get', { name, arguments: plan.arguments?.[name] ?? given }, name);
    await ask('prompts/get', { name, arguments: {} }, `${name} without arguments`);
  }
  const uris = sorted(listed.get('resources/list') ?? [], 'uri').map((resource) => resource.string('uri') ?? '');
  for (const uri of [...uris, ...(plan.read ?? [])]) await ask('resources/read', { uri });
  for (const params of plan.complete ?? []) await ask('completion/complete', params);
  for (const [method, params] of plan.more ?? []) await ask(method, params);
  return answers;
}

/** Invalid for every schema of the servers. */
const WRONG: JsonObject = { '': { wrong: [null] } };

/** All items of a list in one answer, as if it had one page. */
async function allPages(peer: WirePeer, method: string, member: string) {
  const items: RawObject[] = [];
  let cursor: JsonValue | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await peer.request(method, cursor === undefined ? {} : { cursor });
    const raw = answer.result?.get(member);
    if (answer.result === undefined || raw === undefined) return { items, last: answer };
    items.push(...rawElements(raw, 50_000).map((item) => RawObject.parse(item)));
    cursor = answer.result.value('nextCursor');
    if (cursor === undefined) {
      const whole = Buffer.from(`[${items.map((item) => item.toBytes()).join()}]`);
      return { items, last: { ...answer, result: answer.result.with(member, whole) } };
    }
  }
  throw new Error(`${method} has more than ${MAX_PAGES} pages`);
}

export function sorted(items: readonly RawObject[], key: string): readonly RawObject[] {
  return [...items].sort((a, b) => ((a.string(key) ?? '') < (b.string(key) ?? '') ? -1 : 1));
}
