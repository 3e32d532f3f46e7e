import { GatewayFault } from '@toolmgr/core';
import { type FieldProblem, type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { redactedText } from '@toolmgr/plugins/kit/secrets';
import { readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { UsageError } from '../../shared/usage-error.ts';
import { API_FIELDS } from '../../workloads/fields/member-schemas.ts';
import { unknownWorkload } from '../../workloads/planning/select.ts';
import type { FailedStart } from '../../workloads/planning/start.ts';
import { conflictProblem } from './body-problems.ts';
import { SourceNotFound } from './resolve-image.ts';

/** Options of the command line and the members of a body that mean the same. The first that matches names the field. */
const IN_BODY: readonly (readonly [RegExp, string])[] = [
  [/--env (\w+)=VALUE/g, 'env_vars.$1'],
  [/--secret NAME,target=(\w+) or the variable \w+/g, 'secrets with the target $1'],
  [/--secret (\S+),target=(\S+)/g, 'secrets with the name $1 and the target $2'],
  [/--remote-forward-headers-secret (\S+)=SECRET_NAME/g, 'header_forward.add_headers_from_secret.$1'],
  [/--remote-forward-headers (\S+)=VALUE/g, 'header_forward.add_plaintext_headers.$1'],
  [/(?:choose )?another --proxy-port/g, 'choose another proxy_port'],
  [/--oidc options/g, 'oidc'],
  [/--remote-auth-client-secret-file/g, 'oauth_config'],
  ...API_FIELDS.flatMap(({ flags = '', body }): [RegExp, string][] => {
    const [option] = /--[\w-]+/.exec(flags) ?? [];
    return option === undefined ? [] : [[new RegExp(`${option}(?![\\w-])`, 'g'), body.name]];
  }),
  [/--(network|label)\b/g, '$1s'],
  [/--(\w+)-(\w+)-(\w+)/g, '$1_$2_$3'],
  [/--(\w+)-(\w+)/g, '$1_$2'],
  [/--(\w+)/g, '$1'],
  [
    /: start it with toolmgr start \S+, remove it with toolmgr rm \S+, or choose another name/g,
    ': choose another name',
  ],
];

/** A sentence of the command line in the words of the API. */
export function inApiWords(text: string): string {
  return IN_BODY.reduce((words, [option, member]) => words.replace(option, member), text);
}

/** The refusal for a thrown fault of the user; other faults are thrown again. */
export function refusalOf(cause: unknown): Problem {
  if (cause instanceof SourceNotFound) {
    const isUnread = /was not looked up in a registry/.test(cause.message);
    return problem(isUnread ? 'registry_unavailable' : 'not_found', inApiWords(cause.message));
  }
  if (cause instanceof UsageError) {
    const detail = inApiWords(cause.message);
    if (/^there is a workload .* already|^port \d+ on .* is taken/.test(detail)) return problem('conflict', detail);
    const field = /^([a-z_]+(?:\.[\w.-]+)?): /.exec(detail)?.[1];
    return problem(
      'bad_request',
      detail,
      field === undefined ? [] : [{ in: 'body', path: field, detail: detail.slice(field.length + 2) }],
    );
  }
  if (cause instanceof GatewayFault) {
    if (cause.code === 'SECRET_MISSING') return problem('bad_request', cause.message);
    if (/no container engine/.test(cause.message)) return problem('engine_unavailable', cause.message);
    return problem('unprocessable', cause.message);
  }
  throw cause;
}

/** The refusal of a workload that does not answer. `more`: what happened to it. */
export function startRefusal({ reason, lines }: FailedStart, more = ''): Problem {
  const output =
    lines.length === 0 ? '' : `; its last lines: ${lines.slice(-SHOWN_LINES).map(redactedText).join(' | ')}`;
  if (/^port \d+ on .* is taken/.test(reason)) {
    const [why = reason] = reason.split(' <- '); // the causes and the output say nothing more
    return problem('conflict', inApiWords(`it did not start: ${why}${more}`));
  }
  const detail = `it did not start: ${reason}${more}${output}`;
  if (/no container engine/.test(reason)) return problem('engine_unavailable', detail);
  if (/there is no image/.test(reason)) return problem('not_found', detail);
  return problem('unprocessable', detail);
}

const SHOWN_LINES = 5;

/** The refusal of a body with wrong fields. */
export function fieldRefusal(errors: readonly FieldProblem[]): Problem {
  const [first] = errors;
  const detail =
    first === undefined ? 'the body is not valid' : `${first.path === '' ? 'the body' : first.path}: ${first.detail}`;
  return problem('bad_request', detail, errors);
}

/** The refusal of fields that cannot be meant together. */
export function conflictRefusal(conflict: string): Problem {
  return fieldRefusal([conflictProblem(conflict)]);
}

/** The refusal of a name that no workload has. */
export async function noWorkload(state: string, name: string): Promise<Problem> {
  const records = await readWorkloads(state);
  return problem(
    'not_found',
    records.length > LISTED ? `there is no workload ${name}` : await unknownWorkload(state, name),
  );
}

const LISTED = 20;
