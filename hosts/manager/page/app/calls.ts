import { CALLS, type CallName } from './call-table.ts';
import { ApiProblem } from './problem.ts';
import { sendRequest } from './request.ts';
import type * as shape from './shapes.ts';

/** Bodies of the answers; operations that are not listed have none that the page reads. */
interface Answers {
  listWorkloads: { readonly workloads?: readonly shape.Workload[] | null };
  createWorkload: { readonly name?: string; readonly port?: number };
  getWorkload: Readonly<Record<string, unknown>>;
  exportWorkload: Readonly<Record<string, unknown>>;
  updateWorkload: { readonly name?: string; readonly port?: number };
  checkUpgrades: { readonly results?: readonly shape.UpgradeCheck[] | null };
  applyUpgrade: { readonly result?: shape.UpgradeCheck };
  listGroups: { readonly groups?: readonly { readonly name: string }[] | null };
  listRegistries: { readonly registries?: readonly shape.RegistrySummary[] | null };
  listRegistryServers: {
    readonly servers?: readonly shape.RegistryServer[] | null;
    readonly remote_servers?: readonly shape.RegistryServer[] | null;
    readonly total?: number;
    readonly notes?: readonly string[];
  };
  logInToRegistry: { readonly url?: string };
  getRegistryServer: {
    readonly is_remote?: boolean;
    readonly server?: shape.RegistryServer;
    readonly remote_server?: shape.RegistryServer;
  };
  listClients: { readonly clients?: readonly shape.ClientStatus[] | null };
  previewClients: readonly shape.ClientChange[];
  getSecretProvider: shape.SecretProvider;
  setUpSecretProvider: { readonly message?: string };
  listSecrets: { readonly keys?: readonly shape.SecretKey[] | null };
  listSkills: { readonly skills?: readonly shape.InstalledSkill[] | null };
  getSkillContent: shape.SkillContent;
  syncSkills: shape.SyncResult;
  upgradeSkills: { readonly outcomes?: readonly shape.UpgradeOutcome[] | null };
  listRegistrySkills: { readonly skills?: readonly shape.SkillRecord[] | null };
  listPins: { readonly pins?: readonly shape.HeldDefinition[] | null; readonly notes?: readonly string[] };
  getPin: shape.ShownDefinition;
  getOperation: shape.Operation;
}

/** What a call has beside its name. */
export interface CallParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | boolean | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

type AnswerOf<Name extends CallName> = Name extends keyof Answers ? Answers[Name] : unknown;

/** Calls an operation and reads its JSON body. */
export async function call<Name extends CallName>(name: Name, parts: CallParts = {}): Promise<AnswerOf<Name>> {
  const { answer } = await started(name, parts);
  return answer as AnswerOf<Name>;
}

/** Calls an operation that may answer 202; `operation` is then the id of the long work. */
export async function started(
  name: CallName,
  parts: CallParts = {},
): Promise<{ readonly answer: unknown; readonly operation: string | undefined }> {
  const [method] = CALLS[name];
  const response = await sendRequest(addressOf(name, parts), {
    method,
    body: parts.body,
    signal: parts.signal,
    ...(parts.headers === undefined ? {} : { headers: parts.headers }),
  });
  const location = response.status === 202 ? response.headers.get('location') : null;
  return { answer: await bodyOf(response), operation: location?.split('/').pop() };
}

/** The address of a call. Members of the path are escaped. */
export function addressOf(name: CallName, { path = {}, query = {} }: CallParts): string {
  const filled = CALLS[name][1].replace(/\{(\w+)\}/g, (_, member: string) => encodeURIComponent(path[member] ?? ''));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return text === '' ? filled : `${filled}?${text}`;
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiProblem('The host sent a body that is no JSON.', response.status, '');
  }
}
