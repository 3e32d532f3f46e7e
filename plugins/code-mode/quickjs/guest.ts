/**
 * The part of the bridge inside the sandbox: an expression that evaluates to a function.
 *
 * It runs before the script is parsed, so it keeps the engine's original `stringify`, `parse` and `Promise`. The gateway's
 * security does not depend on it: a script can only cause calls of `send` with texts and numbers, and the host validates them.
 *
 * Shape: `(send, functions, data, concurrency, resultChars) => { start(body), answer(call, kind, json) }`; messages of `send`:
 * `call` (number, tool, arguments), `log` (line), `done` (result), `fail` (kind, message). Texts are passed as JSON: the engine
 * cuts plain texts at a NUL and replaces lone surrogates.
 */
export const GUEST = `(function (send, functionsText, dataText, concurrency, resultChars) {
  'use strict';
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { defineProperty } = Object;
  const OwnProxy = Proxy, OwnPromise = Promise, OwnError = Error, OwnTypeError = TypeError, text = String;
  const MAX_LINE = 8192, MAX_MESSAGE = 4096;
  const pending = { __proto__: null };
  let calls = 0;

  const failed = (name, message, stack) => {
    const error = new OwnError(message);
    defineProperty(error, 'name', { __proto__: null, value: name, writable: true, configurable: true });
    defineProperty(error, 'stack', { __proto__: null, value: stack, writable: true, configurable: true });
    return error;
  };

  const callTool = async (name, given) => {
    if (typeof name !== 'string') throw new OwnTypeError('callTool(name, args): name must be a string');
    if (given === undefined || given === null) given = {};
    if (typeof given !== 'object' || isArray(given)) {
      throw new OwnTypeError('tool "' + name + '" takes one object of arguments, got ' + (isArray(given) ? 'an array' : typeof given));
    }
    const args = stringify(given);
    if (typeof args !== 'string' || args[0] !== '{') throw new OwnTypeError('the arguments of tool "' + name + '" are not a JSON object');
    const call = ++calls;
    const { stack } = new OwnError(); // the stack of the calling line, not of the code that receives the answer
    const answered = new OwnPromise((resolve, reject) => { pending[call] = { resolve, reject, stack }; });
    const refused = send('call', call, stringify(name), args);
    if (typeof refused === 'string') {
      delete pending[call];
      throw failed('ToolError', refused, stack);
    }
    return answered;
  };

  const valueOf = (received) => {
    try {
      const value = parse(received);
      // keeps a number as text when parsing would lose digits
      return typeof value === 'number' && text(value) !== received ? received : value;
    } catch {
      return received;
    }
  };

  const answer = (call, kind, json) => {
    const waiting = pending[call];
    if (waiting === undefined) return;
    delete pending[call];
    let received;
    try {
      received = parse(json);
    } catch (error) {
      return waiting.reject(error);
    }
    if (kind === 'json') waiting.resolve(received);
    else if (kind === 'text') waiting.resolve(valueOf(received));
    else waiting.reject(failed(kind, received, waiting.stack));
  };

  const parallel = async (tasks) => {
    if (!isArray(tasks)) throw new OwnTypeError('parallel(list) takes an array of functions');
    const { length } = tasks;
    const results = [];
    let next = 0, error, hasFailed = false;
    const work = async () => {
      while (next < length) {
        const at = next++;
        try {
          const task = tasks[at];
          results[at] = await (typeof task === 'function' ? task() : task);
        } catch (thrown) {
          if (!hasFailed) { hasFailed = true; error = thrown; }
        }
      }
    };
    const workers = [];
    for (let n = 0; n < concurrency && n < length; n++) workers[n] = work();
    for (let n = 0; n < workers.length; n++) await workers[n];
    if (hasFailed) throw error;
    return results;
  };

  const display = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'symbol' || typeof value === 'function') return text(value);
    if (value instanceof OwnError) return describe(value);
    try {
      const json = stringify(value);
      return typeof json === 'string' ? json : text(value);
    } catch {
      try { return text(value); } catch { return '(cannot be shown)'; }
    }
  };

  const log = (...values) => {
    let line = '';
    for (let n = 0; n < values.length && line.length < MAX_LINE; n++) line += (n > 0 ? ' ' : '') + display(values[n]);
    send('log', stringify(line.length > MAX_LINE ? line.slice(0, MAX_LINE) + '…' : line));
  };

  const describe = (thrown) => {
    try {
      if (typeof thrown !== 'object' || thrown === null) return 'threw ' + text(display(thrown));
      const { name, message, stack } = thrown;
      const line = typeof stack === 'string' ? stack.match(/script\\.js:(\\d+)/) : null;
      return (typeof name === 'string' ? name : 'Error') + ': ' + text(message) + (line ? ' (line ' + line[1] + ')' : '');
    } catch {
      return 'threw something that cannot be shown';
    }
  };

  const bind = (target, key, tool) => {
    defineProperty(target, key, { value: (given) => callTool(tool, given), enumerable: true, writable: true, configurable: true });
  };

  // The prototype of a group: an unknown name is a function that throws when it is called. Symbols, then, toJSON and members
  // of Object.prototype behave as on any object; 'x' in group is true only for tools of the group.
  const unknownOf = (group) => new OwnProxy({}, {
    __proto__: null, // a trap that a script adds to Object.prototype has no effect
    get: (plain, key) => typeof key !== 'string' || key === 'then' || key === 'toJSON' || key in plain
      ? plain[key]
      : (given) => callTool(group + '.' + key, given),
  });

  const scope = globalThis;
  defineProperty(scope, 'callTool', { value: callTool, writable: true, configurable: true });
  defineProperty(scope, 'parallel', { value: parallel, writable: true, configurable: true });
  defineProperty(scope, 'data', { value: parse(dataText), writable: true, configurable: true });
  defineProperty(scope, 'console', { value: { log, info: log, warn: log, error: log, debug: log }, writable: true, configurable: true });
  delete scope.SharedArrayBuffer;
  const groups = { __proto__: null };
  for (const { member, flat, tool } of parse(functionsText)) {
    if (member !== undefined) {
      if (groups[member.group] === undefined) {
        groups[member.group] = { __proto__: unknownOf(member.group) };
        defineProperty(scope, member.group, { value: groups[member.group], writable: true, configurable: true });
      }
      bind(groups[member.group], member.name, tool);
    }
    if (flat !== undefined) bind(scope, flat, tool);
  }

  const start = async (body) => {
    let json;
    try {
      const value = await body();
      json = value === undefined ? 'null' : stringify(value);
      if (typeof json !== 'string') throw new OwnTypeError('the result is not JSON: ' + typeof value);
    } catch (thrown) {
      const received = describe(thrown);
      return send('fail', 'error', stringify(received.length > MAX_MESSAGE ? received.slice(0, MAX_MESSAGE) + '…' : received));
    }
    if (json.length > resultChars) send('fail', 'result', text(json.length));
    else send('done', json);
  };

  return { start, answer };
})`;
