// Imported before a program: during a recording it notes each call of a function of core, plugins and hosts with its
// caller. A function that resumes after `await` is not noted again.
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';

/** One call of a function. `from` is absent where Node made the call, e.g. for an event of a socket. */
export interface NotedCall {
  /** Path of the file from the root, with the line of the function. */
  readonly to: string;
  readonly from: string | undefined;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OWN = /^(core|plugins|hosts)\/(?!testing\/|node_modules\/|dist\/).*\.ts$/;
const STACK_FRAMES = 40;

let noted: NotedCall[] | undefined;

/** Notes every call until the function that it returns is called. */
export function recordCalls(): () => readonly NotedCall[] {
  const calls: NotedCall[] = [];
  noted = calls;
  return () => {
    noted = undefined;
    return calls;
  };
}

/** Path from the root of a file of this repository; `undefined` for other files. */
function pathOf(url: string | null | undefined): string | undefined {
  if (!url?.startsWith('file:')) return undefined;
  const file = fileURLToPath(url);
  const path = file.startsWith(ROOT) ? file.slice(ROOT.length) : '';
  return OWN.test(path) ? path : undefined;
}

function note(): void {
  if (noted === undefined) return;
  const calls = noted;
  noted = undefined; // the code here is not part of the call
  const frames = framesOf();
  const [callee, ...callers] = frames;
  const to = callee && placeOf(callee);
  if (to !== undefined) calls.push({ to, from: callerAmong(callers) });
  noted = calls;
}

/** The stack also has frames that await the frame above; they did not make this call. */
function callerAmong(frames: readonly NodeJS.CallSite[]): string | undefined {
  for (const frame of frames) {
    if (isAwaiting(frame)) return undefined;
    const place = placeOf(frame);
    if (place !== undefined) return place;
  }
  return undefined;
}

/** `isAsync` is missing in the types of Node. */
function isAwaiting(frame: NodeJS.CallSite): boolean {
  return (frame as NodeJS.CallSite & { isAsync(): boolean }).isAsync();
}

function placeOf(frame: NodeJS.CallSite): string | undefined {
  const path = pathOf(frame.getFileName());
  return path === undefined ? undefined : `${path}:${frame.getFunctionName() ?? frame.getLineNumber()}`;
}

function framesOf(): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = STACK_FRAMES;
  Error.prepareStackTrace = (_error, frames) => frames;
  const at: { stack?: unknown } = {};
  Error.captureStackTrace(at, note);
  const frames = at.stack as readonly NodeJS.CallSite[];
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return frames;
}

Object.assign(globalThis, { noteCall: note });

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (pathOf(url) === undefined) return loaded;
    const source = withNotes(stripTypeScriptTypes(String(loaded.source)));
    return { ...loaded, format: 'module', source };
  },
});

/** The source with a call of {@link note} at the start of each function. */
export function withNotes(source: string): string {
  const inserts: { readonly at: number; readonly text: string }[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk);
    if (typeof node !== 'object' || node === null) return;
    const { type, body } = node as { readonly type?: string; readonly body?: Body };
    if (body && FUNCTIONS.has(type ?? '')) {
      if (body.type === 'BlockStatement') inserts.push({ at: body.start + 1, text: 'noteCall();' });
      else inserts.push({ at: body.start, text: '(noteCall(),' }, { at: body.end, text: ')' });
    }
    Object.values(node).forEach(walk);
  };
  walk(parseAst(source));
  inserts.sort((one, other) => other.at - one.at);
  return inserts.reduce((text, { at, text: more }) => text.slice(0, at) + more + text.slice(at), source);
}

interface Body {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
