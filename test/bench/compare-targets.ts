import { setTimeout } from 'node:timers/promises';
import { legacyEcho } from './checked-load.ts';
import { type Answers, checkAnswers, toolAt } from './peers/answers.ts';
import { BACKEND_URLS } from './peers/backend-urls.ts';
import type { Backends, Peer } from './peers/peer.ts';
import { PEERS, TOOLMGR } from './peers/peers.ts';
import { installPeer, startPeer } from './peers/start-peer.ts';
import { MEASURED_CORE, processTree, startProcess } from './processes.ts';

/** What is compared. */
export interface TargetOptions {
  /** Names of gateways in the table of peers; they are installed and started. */
  readonly peers: readonly string[];
  /** `NAME=URL` of running gateways. */
  readonly gateways: readonly string[];
  /** Their process ids, in the same order; without one neither CPU nor memory is measured. */
  readonly pids: readonly string[];
  /** Name of the echo tool at these gateways; by default the listed tool whose name ends with `echo`. */
  readonly tool: string | undefined;
}

/** A gateway that lists the echo tool. */
export interface Target {
  readonly name: string;
  readonly backends: Backends;
  readonly url: string;
  /** Without one neither CPU nor memory is measured. */
  readonly pid: number | undefined;
  /** Its name of the echo tool. */
  readonly tool: string;
  readonly about: Pick<Peer, 'language' | 'version' | 'source' | 'settings'> | undefined;
  /** Before the load. */
  readonly idleBytes: number | undefined;
  readonly answers: Answers | undefined;
}

const WAIT_MS = 60_000; // until a gateway lists the echo tool

/** Installs and starts peers; a peer that does not start is left out. The other targets are required. */
export async function startTargets(
  options: TargetOptions,
  running: AsyncDisposableStack,
): Promise<{
  readonly targets: readonly Target[];
  readonly failed: readonly { readonly name: string; readonly why: string }[];
}> {
  const peers = Object.entries({ toolmgr: TOOLMGR, ...chosen(options.peers) });
  for (const [name, peer] of peers) await installPeer(name, peer);
  const forwarder = running.use(await startProcess(MEASURED_CORE, 'forwarder.ts', [BACKEND_URLS.one.far]));
  const targets = [await listed({ name: 'bare forwarder', backends: 'one', url: forwarder.url, pid: forwarder.pid })];
  const failed: { name: string; why: string }[] = [];
  for (const backends of options.peers.length > 0 ? (['one', 'three'] as const) : (['one'] as const)) {
    for (const [name, peer] of peers) {
      try {
        const { url, pid } = running.use(await startPeer(name, peer, backends));
        targets.push(await listed({ name, backends, url, pid, peer }));
      } catch (cause) {
        if (peer === TOOLMGR) throw cause;
        failed.push({ name: `${name}, ${backends}`, why: cause instanceof Error ? cause.message : String(cause) });
      }
    }
  }
  for (const [n, given] of options.gateways.entries()) {
    targets.push(await runningGateway(given, options.pids[n], options.tool));
  }
  return { targets, failed };
}

/** The peers of the table that `--peer` names; `all` are all of them. */
function chosen(names: readonly string[]): Readonly<Record<string, Peer>> {
  if (names.includes('all')) return PEERS;
  const known = Object.keys(PEERS);
  const unknown = names.find((name) => !Object.hasOwn(PEERS, name));
  if (unknown !== undefined) throw new Error(`--peer ${unknown}: expected all, ${known.join(', ')}`);
  return Object.fromEntries(Object.entries(PEERS).filter(([name]) => names.includes(name)));
}

async function runningGateway(given: string, pid: string | undefined, tool: string | undefined): Promise<Target> {
  const at = given.indexOf('=');
  if (at < 1) throw new Error(`--gateway ${given}: expected NAME=URL`);
  const [name, url] = [given.slice(0, at), given.slice(at + 1)];
  if (pid === undefined)
    console.log(`${name} has no --pid: it is not put on the measured core, and has no CPU and memory figures`);
  else processTree(Number(pid)).moveTo(MEASURED_CORE);
  return await listed({ name, backends: 'one', url, pid: pid === undefined ? undefined : Number(pid), tool });
}

interface Started extends Pick<Target, 'name' | 'backends' | 'url' | 'pid'> {
  readonly peer?: Peer;
  readonly tool?: string | undefined;
}

/** Waits until the gateway lists the echo tool, and checks its answers. */
async function listed({ name, backends, url, pid, peer, tool: given }: Started): Promise<Target> {
  const tool = given ?? (await echoTool(name, url));
  const about =
    peer === undefined
      ? undefined
      : { language: peer.language, version: peer.version, source: peer.source, settings: peer.settings };
  const idleBytes = pid === undefined ? undefined : processTree(pid).residentBytes();
  const answers = given === undefined ? await checkAnswers(url, Object.keys(BACKEND_URLS[backends]).length) : undefined;
  const faults = Object.entries(answers ?? {}).filter(([, answer]) => answer !== 'ok');
  for (const [check, answer] of faults) console.log(`${name}, ${backends} of backends, ${check}: ${answer}`);
  return { name, backends, url, pid, tool, about, idleBytes, answers };
}

async function echoTool(name: string, url: string): Promise<string> {
  const lateMs = performance.now() + WAIT_MS;
  for (let why = ''; ; await setTimeout(500)) {
    try {
      const found = toolAt(await (await legacyEcho(url, 1)).toolNames(), 'echo');
      if (found !== undefined) return found;
      why = 'it lists no tool whose name ends with echo; --tool NAME names it';
    } catch (cause) {
      why = cause instanceof Error ? cause.message : String(cause);
    }
    if (performance.now() > lateMs) throw new Error(`${name} at ${url}: ${why}`);
  }
}
