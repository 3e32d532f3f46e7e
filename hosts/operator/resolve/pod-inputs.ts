import { fieldPath } from '@toolmgr/core';
import { stringify } from 'yaml';
import type { VmcpConfig } from '../../vmcp/config-schema.ts';
import { contentHash } from '../objects/content-hash.ts';
import { documentOf, mountListed } from './backend-files.ts';
import type { BaseFile } from './base-file.ts';
import { checkFile, tellProblems } from './check-file.ts';
import type { Context, Section } from './context.ts';
import type { CheckedBackends } from './group-backends.ts';
import type { PodInputs } from './resolution.ts';
import { sorted } from './sorted.ts';

/** Bytes of one file: a config map holds 1 MiB with its keys. */
const MAX_BYTES = 1024 * 1024 - 4096;

/** What the pods need. `undefined`: a file is invalid or too large, which is told. */
export async function podInputsOf(
  base: BaseFile,
  backends: CheckedBackends,
  context: Context,
): Promise<PodInputs | undefined> {
  const { name, spec, pod } = context;
  const isInline = spec.outgoingAuth?.source === 'inline';
  const kubernetes = { ...(isInline ? {} : { backends: `${name}-vmcp-backends` }), report: `${name}-vmcp-report` };
  const file: Section = isInline
    ? { ...backends.file, kubernetes }
    : { ...base.file, outgoingAuth: { source: 'discovered' }, kubernetes };
  const examined = await checkFile(file);
  if (examined.problems !== undefined) {
    await tellProblems(examined.problems, base, context);
    return undefined;
  }
  tellWarnings([...backends.warnings, ...examined.warnings], context);
  if (isInline) await mountListed(backends.served, context);
  const discovered = isInline ? undefined : await documentOf(backends.served, context);
  const config = sorted(file);
  const configYaml = stringify(config, { lineWidth: 0, aliasDuplicateObjects: false });
  const documentJson = discovered === undefined ? undefined : JSON.stringify(discovered.document);
  if (isTooLarge('the vmcp file', configYaml, context)) return undefined;
  if (isTooLarge('the list of backends', documentJson ?? '', context)) return undefined;
  const parts = pod.result();
  return {
    config: config as VmcpConfig,
    configYaml,
    ...(discovered === undefined ? {} : { document: discovered.document }),
    ...(documentJson === undefined ? {} : { documentJson }),
    ...parts,
    secretNames: discovered?.secretNames ?? [],
    checksum: contentHash({ configYaml, parts, contents: pod.contents() }),
  };
}

function tellWarnings(warnings: CheckedBackends['warnings'], { findings }: Context): void {
  const texts = warnings.map(({ path, message }) => `${fieldPath(path)}: ${message}`);
  const different = [...new Set(texts)];
  if (different.length === 0) return;
  findings.tell('ConfigWarnings', 'True', 'ProbableMistakes', different.join('; '));
}

function isTooLarge(what: string, text: string, { findings }: Context): boolean {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_BYTES) return false;
  const message = `${what} has ${bytes} bytes; a config map holds at most ${MAX_BYTES}. Use several VirtualMCPServers`;
  findings.fail('Valid', 'ConfigTooLarge', message);
  return true;
}
