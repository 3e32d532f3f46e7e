import type { JSX } from 'preact';
import type { McpTarget } from '../../app/mcp.ts';
import type { Json } from '../../app/mcp-shapes.ts';
import { CodeBlock } from '../../widgets/code-block.tsx';
import { CopyButton } from '../../widgets/copy-button.tsx';

interface AsRequestProps {
  readonly target: McpTarget;
  readonly method: string;
  readonly params: Json;
}

/** The request as JSON, and a tool call as a command line. */
export function AsRequest({ target, method, params }: AsRequestProps): JSX.Element {
  const json = JSON.stringify({ method, params }, undefined, 2);
  const line = method === 'tools/call' ? commandLine(new URL(target.path, location.href).href, params) : undefined;
  return (
    <details>
      <summary>The same request as JSON{line === undefined ? '' : ' and as a command'}</summary>
      <p>
        <CopyButton text={json} what="The request" />
      </p>
      <CodeBlock text={json} label="Request" />
      {line !== undefined && (
        <>
          <p>
            <CopyButton text={line} what="The command" />
          </p>
          <CodeBlock text={line} label="Command" />
        </>
      )}
    </details>
  );
}

function commandLine(url: string, { name, arguments: given }: Json): string {
  const words = ['toolmgr', 'call', String(name), '--args', JSON.stringify(given ?? {}), '--url', url];
  return words.map(quoted).join(' ');
}

/** For a POSIX shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
