import { isAbsolute } from 'node:path';
import { present } from '@toolmgr/core';
import { type RunConfig, runConfig, withoutLogin } from '@toolmgr/plugins/kit/workloads';
import { UsageError } from '../../shared/usage-error.ts';
import { readRequestedFile } from '../../workloads/config/option-file.ts';
import { API_FIELDS, placeOf } from '../../workloads/fields/member-schemas.ts';
import type { BodyProblems } from './body-problems.ts';
import { restore } from './redaction.ts';
import type { WorkloadBody } from './workload-body.ts';

// Each function converts one section of a body to members of a run configuration; the result is empty when the body says
// nothing. `base` is the configuration that is edited.

export function overridesOf(given: WorkloadBody['tools_override'], base: RunConfig | undefined) {
  const entries = Object.entries(given ?? {}).map(([tool, { name, description }]) => {
    const annotations = base?.tools_override?.[tool]?.annotations;
    return [tool, present({ name: name || undefined, description: description || undefined, annotations })];
  });
  return entries.length === 0 ? {} : { tools_override: Object.fromEntries(entries) };
}

/** The file is read now; an unchanged path keeps what it contained. */
export async function authorizationOf(path: string | undefined, base: RunConfig | undefined) {
  if (path === (base?.authz_config_path ?? '') || !path) {
    return base?.authz_config === undefined || (path === undefined && base.authz_config_path !== undefined)
      ? {}
      : present({ authz_config: base.authz_config, authz_config_path: base.authz_config_path });
  }
  if (!isAbsolute(path)) throw new UsageError('authz_config: expected the absolute path of an authorization file');
  const schema = runConfig.shape.authz_config.unwrap();
  return { authz_config: await readRequestedFile('authz_config', path, schema), authz_config_path: path };
}

/** What the members of a section, or of none, decide one each. `stored` is what the section of the edited configuration has. */
export function fieldsOf(
  section: string,
  given: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>>,
  { restored }: BodyProblems,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const { body, hidden, as, name, place } of membersOf(section)) {
    const value = given[name];
    const before = stored[place];
    // a switch is off by default: it is stored only where it was
    if (isEmpty(value) && !(value === false && before !== undefined)) continue;
    if (hidden !== undefined) fields[place] = restored(body.name, restore(hidden, value, before));
    else fields[place] = as === 'secret' ? referenceOf(value, place, before) : value;
  }
  return fields;
}

/** The same for every section but the login; a body without its members removes one, and what has no member in a body is kept. */
export function sectionsOf(
  body: WorkloadBody,
  base: RunConfig | undefined,
  problems: BodyProblems,
): Partial<RunConfig> {
  const names = new Set(API_FIELDS.map((field) => placeOf(field.body.name)[0]));
  const plain = [...names].filter((name) => name !== '' && name !== LOGIN);
  return Object.assign({}, ...plain.map((name) => sectionOf(name, body, base, problems)));
}

const LOGIN = 'oauth_config';

function sectionOf(section: string, body: WorkloadBody, base: RunConfig | undefined, problems: BodyProblems) {
  const [field] = placeOf(membersOf(section)[0]?.stored ?? '');
  const { [field]: stored = {} } = (base ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const { [section]: given = {} } = body as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const fields = fieldsOf(section, given, stored, problems);
  return Object.keys(fields).length === 0 ? {} : { [field]: { ...keptMembers(section, stored), ...fields } };
}

function keptMembers(section: string, stored: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const places = new Set(membersOf(section).map(({ place }) => place));
  return Object.fromEntries(Object.entries(stored).filter(([place]) => !places.has(place)));
}

function membersOf(section: string) {
  return API_FIELDS.flatMap((field) => {
    const [own, name] = placeOf(field.body.name);
    return own !== section || field.body.own === true
      ? []
      : [{ ...field, name, place: placeOf(field.stored ?? '')[1] }];
  });
}

/** A reference to a secret of the user; the stored one while it names the same secret. */
function referenceOf(given: unknown, target: string, stored: unknown): string {
  const name = typeof given === 'string' ? given : (given as { name: string }).name;
  return typeof stored === 'string' && stored.startsWith(`${name},`) ? stored : `${name},target=${target}`;
}

export function isEmpty(value: unknown): boolean {
  return !value || (typeof value === 'object' && Object.keys(value).length === 0);
}

type RemoteAuth = NonNullable<RunConfig['remote_auth_config']>;

/** Settings of the login. What the last login left is kept while they are the same. */
export function loginOf(given: NonNullable<WorkloadBody['oauth_config']>, base: RemoteAuth, problems: BodyProblems) {
  const settings = withoutLogin(base) ?? {};
  const next = { ...keptMembers(LOGIN, settings), ...fieldsOf(LOGIN, given, base, problems) };
  const isSame = JSON.stringify(sorted(next)) === JSON.stringify(sorted(settings));
  const kept = isSame ? base : next;
  return Object.keys(kept).length === 0 ? {} : { remote_auth_config: kept };
}

function sorted(value: object): unknown {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** An object of a body without its empty texts, lists and objects, which `GET` writes for what is not set. */
export function withoutEmpty<T extends object>(value: T | undefined): Partial<T> {
  const given = Object.entries(value ?? {}).filter(
    ([, member]) => !isEmpty(member) || member === false || member === 0,
  );
  return Object.fromEntries(given) as Partial<T>;
}
