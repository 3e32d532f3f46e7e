import {
  type ClientContext,
  callWith,
  createLog,
  decodeObject,
  definePlugin,
  encode,
  isObject,
  type JsonObject,
  type Plugin,
  present,
} from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { type WorkflowAdvanced, workflowAdvanced } from '@toolmgr/plugins/kit/extension-points';

import { z } from 'zod';
import { argumentsFrom } from '../../../shared/client/arguments.ts';
import { EXIT_CODES } from '../../../shared/exit-codes.ts';
import { printable, stderr, stdout } from '../../../shared/terminal.ts';
import { UsageError } from '../../../shared/usage-error.ts';
import { CALLERS, defaultOf } from '../../../vmcp/choices.ts';
import { leftFor, planFromConfig, type SectionedConfig } from '../../../vmcp/plan.ts';
import { readConfig, readConfigText } from '../../../vmcp/read-config.ts';
import { withStartedBackends } from '../../../vmcp/with-started-backends.ts';
import { readDefinition } from '../../../vmcp/workflow/read-definition.ts';

/** Flags of `vmcp workflow run`. */
export interface RunOptions {
  readonly config?: string;
  readonly name?: string;
  readonly params?: string;
  readonly answers?: string;
  readonly format: 'text' | 'json';
}

/**
 * Runs one composite tool against live backends as an anonymous caller, without policies and limits, and prints each step.
 *
 * Sets the exit code: 0 when the workflow completed, 5 when it failed.
 * @throws UsageError and GatewayFault with a message for the user, before anything is called
 */
export async function runWorkflowFile(file: string, pairs: readonly string[], options: RunOptions): Promise<void> {
  const found = await readDefinition(file, options.name, catalogue, { loadsPlugins: true });
  const { definition } = found;
  if (found.file === undefined && options.config === undefined) {
    throw new UsageError(`${file} has no backends; give a vmcp file that has: -c vmcp.yaml`);
  }
  const from = options.config ?? file;
  const read = options.config === undefined ? found.file : await fileAt(options.config);
  if (read === undefined) return;
  const { parameters } = definition;
  const given = argumentsFrom(options.params, pairs, isObject(parameters) ? parameters : undefined);
  const events: JsonObject[] = [];
  const watching = watcher(answersFrom(options.answers), (advanced) => {
    events.push(eventOf(advanced));
    (options.format === 'text' ? stdout : stderr).line(lineOf(advanced));
  });
  const { config, sections } = leftFor('running', read);
  const composites = { compositeTools: found.all };
  const plan = planFromConfig({
    config: {
      ...config,
      ...composites,
      incomingAuth: defaultOf(sections, CALLERS),
      plugins: [...(config.plugins ?? []), { use: watching.address }],
    },
    sections,
  });
  const log = createLog('warn', (line) => process.stderr.write(line));
  await withStartedBackends(plan, from, { plugins: [watching], log }, async (gateway) => {
    const name = String(definition.name);
    if (gateway.catalog().find('tool', name) === undefined) {
      const why = gateway.catalog().warnings.find((warning) => warning.includes(`"${name}"`));
      throw new UsageError(why ?? `composite tool "${name}" is not listed`);
    }
    const reply = await gateway.perform({ name, arguments: given });
    if ('error' in reply) throw new UsageError(reply.error.message);
    if ('refusal' in reply) throw new UsageError(reply.refusal.reason);
    printOutcome(reply.result.value, reply.result.isError, events, options.format);
  });
}

async function fileAt(file: string): Promise<SectionedConfig> {
  return readConfig(await readConfigText(file), file, catalogue, { loadsPlugins: true, alsoRead: ['compositeTools'] });
}

function printOutcome(
  result: JsonObject,
  isError: boolean,
  events: readonly JsonObject[],
  format: RunOptions['format'],
): void {
  if (isError) process.exitCode = EXIT_CODES.toolFailed.code;
  const [first] = (result.content ?? []) as readonly JsonObject[];
  const said = String(first?.text ?? '');
  if (format === 'json') {
    const outcome = isError ? { error: said } : { output: result.structuredContent ?? said };
    return stdout.line(JSON.stringify({ ok: !isError, ...outcome, events }));
  }
  if (isError) stderr.line(stderr.red(printable(said)));
  else stdout.json(result.structuredContent ?? said);
}

/** The answers of `--answers` by step id. */
function answersFrom(text: string | undefined): ReadonlyMap<string, JsonObject> {
  if (text === undefined) return new Map();
  const given = argumentsFrom(text, [], undefined);
  for (const [id, answer] of Object.entries(given)) {
    if (!isObject(answer))
      throw new UsageError(`--answers: ${id} must be an object, e.g. {"action":"accept","content":{}}`);
  }
  return new Map(Object.entries(given) as [string, JsonObject][]);
}

/** A plugin that reports workflow events and answers elicitations from `answers`. */
function watcher(answers: ReadonlyMap<string, JsonObject>, onAdvanced: (advanced: WorkflowAdvanced) => void): Plugin {
  const address = 'vmcp/workflow-run';
  return definePlugin({
    address,
    config: z.strictObject({}),
    apply({ hook, hooks }) {
      const running = new Set<string>();
      hook(workflowAdvanced).tap(address, (advanced) => {
        const { change, step } = advanced;
        if (step?.type === 'elicitation' && change === 'step_started') running.add(step.id);
        onAdvanced(advanced);
      });
      hooks.rewriteCall.tap(address, (call) =>
        call.parent === undefined ? callWith(call, { client: clientWithAnswers(call.client, answers, running) }) : call,
      );
    },
  });
}

/** A client that answers elicitations from `answers`. */
function clientWithAnswers(
  client: ClientContext,
  answers: ReadonlyMap<string, JsonObject>,
  running: Set<string>,
): ClientContext {
  return {
    ...client,
    era: '2025-11-25',
    capabilities: { elicitation: {} },
    async request(_method, params) {
      const message = printable(String(decodeObject(params)?.message ?? ''));
      const [id] = [...running].filter((each) => answers.has(each));
      stderr.line(`? ${message}`);
      if (id === undefined) {
        return {
          error: {
            code: -32601,
            message: 'no answer was given; use --answers \'{"STEP": {"action": "accept", "content": {}}}\'',
          },
        };
      }
      running.delete(id);
      return { result: encode(answers.get(id) ?? {}) };
    },
  };
}

const SIGNS: Readonly<Record<WorkflowAdvanced['change'], string>> = {
  started: '▶',
  completed: '✔',
  failed: '✘',
  timed_out: '✘',
  step_started: '  ▶',
  step_completed: '  ✔',
  step_failed: '  ✘',
  step_skipped: '  –',
};

function lineOf({ change, workflowName, step, durationMs, retryCount }: WorkflowAdvanced): string {
  const what = step === undefined ? workflowName : `${step.id}${step.tool === undefined ? '' : ` ${step.tool}`}`;
  const took = durationMs === undefined ? '' : ` ${Math.round(durationMs)} ms`;
  const again = retryCount ? `, ${retryCount} retries` : '';
  return printable(`${SIGNS[change]} ${what} ${change.replace('step_', '').replace('_', ' ')}${took}${again}`);
}

function eventOf({ change, step, atMs, durationMs, retryCount }: WorkflowAdvanced): JsonObject {
  return {
    change,
    ...(step === undefined ? {} : { step: step.id }),
    atMs,
    ...present({ durationMs, retryCount }),
  };
}
