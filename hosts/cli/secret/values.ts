import { MAX_SECRET_BYTES, type SecretStore, secretKeyProblem, secretNameProblem } from '@toolmgr/plugins/kit/secrets';
import { type EncryptedFile, isAskable } from '@toolmgr/plugins/secrets';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { ask } from '../../shared/secrets/ask.ts';
import { openEncrypted } from '../../shared/secrets/open-encrypted.ts';
import { type ChosenProvider, chooseProvider, PROVIDER_VARIABLE } from '../../shared/secrets/provider.ts';
import type { SecretsProvider } from '../../shared/secrets/providers.ts';
import { openSecretStore, SECRET_VARIABLE_PREFIX } from '../../shared/secrets/secret-store.ts';
import { openUserSecrets } from '../../shared/secrets/user-secrets.ts';
import { stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { readAll } from './read-all.ts';

/** `toolmgr secret set`. @throws UsageError for a wrong name or value; no message has the value */
export async function set(name: string): Promise<void> {
  checkName(name);
  const store = await writableStore(`set the variable ${SECRET_VARIABLE_PREFIX}${name}`);
  await store.read(name, AbortSignal.timeout(READ_MS)); // a wrong password is reported before the value is asked for
  await store.write?.(name, await readValue(name), 'any');
  stdout.line(`${name} is stored`);
}

/** `toolmgr secret get`: prints the value and a line break. */
export async function get(name: string): Promise<void> {
  checkKey(name);
  const source = await openUserSecrets();
  process.stdout.write(`${await source.read(name, AbortSignal.timeout(READ_MS))}\n`);
}

/** `toolmgr secret list`. */
export async function list({ system, format }: { system?: boolean; format: 'text' | 'json' }): Promise<void> {
  const names = system ? await systemNames() : await userNames();
  if (format === 'json') {
    stdout.json(names.map((name) => ({ name })));
    return;
  }
  if (names.length === 0)
    return stderr.line(system ? 'no secrets of workloads' : `no secrets; store one: ${ownCommand('secret set NAME')}`);
  for (const name of names) stdout.line(name);
}

async function systemNames(): Promise<readonly string[]> {
  return [...(await (await writable('it keeps nothing for workloads')).read()).system.keys()].sort();
}

async function userNames(): Promise<readonly string[]> {
  const { provider, chosenBy } = await chooseProvider();
  const store = openSecretStore(provider);
  if (store.list === undefined)
    throw notWritable(provider, chosenBy, `variables ${SECRET_VARIABLE_PREFIX}NAME are not listed`);
  return (await store.list(AbortSignal.timeout(READ_MS))).map(({ key }) => key);
}

/** `toolmgr secret rm`. Names that do not exist are reported; the others are removed. */
export async function remove(names: readonly string[], { system }: { system?: boolean }): Promise<void> {
  const removed = system ? await removeSystem(names) : await removeOwn(names);
  for (const name of new Set(names)) {
    if (removed.has(name)) stdout.line(`${name} is removed`);
    else {
      stderr.line(`${stderr.red('toolmgr:')} there is no secret ${name}`);
      process.exitCode = EXIT_CODES.failed.code;
    }
  }
}

async function removeSystem(names: readonly string[]): Promise<ReadonlySet<string>> {
  const removed = new Set<string>();
  await (await writable('it keeps nothing for workloads')).change((secrets) => {
    removed.clear();
    for (const name of names) if (secrets.system.delete(name)) removed.add(name);
  });
  return removed;
}

async function removeOwn(names: readonly string[]): Promise<ReadonlySet<string>> {
  const store = await writableStore(`unset the variable ${SECRET_VARIABLE_PREFIX}NAME`);
  const removed = new Set<string>();
  for (const name of new Set(names)) if (await store.remove?.(name)) removed.add(name);
  return removed;
}

/** The secrets of a provider that can be changed. @throws UsageError */
async function writableStore(advice: string): Promise<SecretStore> {
  const { provider, chosenBy } = await chooseProvider();
  const store = openSecretStore(provider);
  if (chosenBy !== 'default' && store.write !== undefined) return store;
  throw notWritable(provider, chosenBy, advice);
}

/** The encrypted file. @throws UsageError when the provider is another one, which has no commands to change it */
async function writable(advice: string): Promise<EncryptedFile> {
  const { provider, chosenBy } = await chooseProvider();
  if (provider === 'encrypted') return openEncrypted();
  throw notWritable(provider, chosenBy, advice);
}

function notWritable(provider: SecretsProvider, chosenBy: ChosenProvider['chosenBy'], advice: string): UsageError {
  const setup = `${ownCommand('secret setup')} makes an encrypted file of secrets`;
  if (chosenBy === 'default') return new UsageError(`no provider of secrets is set up: ${setup}`);
  const by = chosenBy === 'variable' ? ` (${PROVIDER_VARIABLE})` : '';
  if (provider === '1password')
    return new UsageError(`the provider is 1password${by}, which is read-only: use 1Password itself`);
  if (provider === 'keyring') return new UsageError(`the provider is keyring${by}: ${setup}, which this needs`);
  return new UsageError(`the provider is environment${by}, which is read-only: ${advice}; ${setup}`);
}

function checkKey(name: string): void {
  const problem = secretKeyProblem(name);
  if (problem !== undefined) throw new UsageError(problem);
}

function checkName(name: string): void {
  const problem = secretNameProblem(name);
  if (problem !== undefined) throw new UsageError(problem);
}

async function readValue(name: string): Promise<string> {
  const value = process.stdin.isTTY
    ? await ask(`Value of ${name} (not shown): `)
    : (await readAll(process.stdin, MAX_SECRET_BYTES + 2)).replace(/\r?\n$/, '');
  if (value === '') {
    throw new UsageError(
      isAskable()
        ? 'the value is empty'
        : `the value is empty: pass it on stdin, as in: ${ownCommand(`secret set ${name} < FILE`)}`,
    );
  }
  if (Buffer.byteLength(value) > MAX_SECRET_BYTES)
    throw new UsageError(`the value has more than ${MAX_SECRET_BYTES} bytes`);
  if (value.includes('\0')) throw new UsageError('the value has a NUL character, which no variable can hold');
  return value;
}

const READ_MS = 120_000; // the user may be asked for the password
