import type { JSX } from 'preact';
import type { Json, McpAnswer } from '../../app/mcp-shapes.ts';
import { safeUrl } from '../../app/safe-url.ts';
import { CodeBlock } from '../../widgets/code-block.tsx';
import { CopyButton } from '../../widgets/copy-button.tsx';
import { StatusMark } from '../../widgets/status-mark.tsx';
import { durationText } from '../calls/duration-text.ts';

/** How a call ended. */
export function outcomeOf(answer: McpAnswer): 'ok' | 'toolError' | 'error' {
  if ('error' in answer) return 'error';
  return answer.result.isError === true ? 'toolError' : 'ok';
}

/** An answer: texts, images, sound, resources, structured content, or an error; and the whole as JSON. */
export function Result({ answer, ms }: { readonly answer: McpAnswer; readonly ms: number }): JSX.Element {
  const json = JSON.stringify('result' in answer ? answer.result : answer.error, undefined, 2);
  return (
    <section aria-label="Result">
      <h3>
        Result <StatusMark status={outcomeOf(answer)} /> <span class="muted">{durationText(ms)}</span>
      </h3>
      {'error' in answer ? (
        <p class="note failed">
          {answer.error.message} ({answer.error.code})
        </p>
      ) : (
        <Parts result={answer.result} />
      )}
      <details>
        <summary>As JSON</summary>
        <p>
          <CopyButton text={json} what="The result" />
        </p>
        <CodeBlock text={json} label="Result as JSON" />
      </details>
    </section>
  );
}

function Parts({ result }: { readonly result: Json }): JSX.Element {
  const { content, contents, messages, structuredContent } = result;
  return (
    <>
      {listOf(content).map((block, at) => (
        <Block key={at} block={block} />
      ))}
      {listOf(contents).map((resource, at) => (
        <Resource key={at} resource={resource} />
      ))}
      {listOf(messages).map(({ role, content: said }, at) => (
        <div key={at}>
          <p class="muted">{String(role)}</p>
          <Block block={(said ?? {}) as Json} />
        </div>
      ))}
      {structuredContent !== undefined && (
        <>
          <h4>Structured content</h4>
          <CodeBlock text={JSON.stringify(structuredContent, undefined, 2)} label="Structured content" />
        </>
      )}
    </>
  );
}

function Block({ block }: { readonly block: Json }): JSX.Element {
  const { type, text, data, mimeType, resource } = block;
  if (type === 'text') return <CodeBlock text={String(text)} label="Text" />;
  if (type === 'image' && isMedia(mimeType, 'image')) {
    return <img class="result" src={dataUrl(mimeType, data)} alt="Result of the call" />;
  }
  if (type === 'audio' && isMedia(mimeType, 'audio')) {
    return (
      // biome-ignore lint/a11y/useMediaCaption: a server gives no captions
      <audio controls src={dataUrl(mimeType, data)} />
    );
  }
  if (type === 'resource') return <Resource resource={(resource ?? {}) as Json} />;
  if (type === 'resource_link') return <Link resource={block} />;
  return <CodeBlock text={JSON.stringify(block, undefined, 2)} label="Content" />;
}

function Resource({ resource }: { readonly resource: Json }): JSX.Element {
  const { uri, text, blob, mimeType } = resource;
  return (
    <>
      <p class="muted">
        <code>{String(uri ?? '')}</code> {typeof mimeType === 'string' ? mimeType : ''}
      </p>
      {typeof text === 'string' && <CodeBlock text={text} label="Text of the resource" />}
      {typeof blob === 'string' &&
        (isMedia(mimeType, 'image') ? (
          <img class="result" src={dataUrl(mimeType, blob)} alt="The resource" />
        ) : (
          <p>{Math.floor((blob.length * 3) / 4)} bytes</p>
        ))}
    </>
  );
}

function Link({ resource: { uri, name, description } }: { readonly resource: Json }): JSX.Element {
  const url = safeUrl(typeof uri === 'string' ? uri : undefined);
  return (
    <p>
      {url === undefined ? (
        <code>{String(uri)}</code>
      ) : (
        <a href={url} target="_blank" rel="noreferrer noopener">
          {String(name ?? uri)}
        </a>
      )}{' '}
      <span class="muted">{String(description ?? '')}</span>
    </p>
  );
}

/** Types that browsers show as an image or sound without scripts. */
function isMedia(mimeType: unknown, kind: 'image' | 'audio'): mimeType is string {
  return typeof mimeType === 'string' && MEDIA[kind].test(mimeType);
}

const MEDIA = {
  image: /^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/,
  audio: /^audio\/(wav|x-wav|mpeg|ogg|webm|mp4|flac|aac)$/,
} as const;

function dataUrl(mimeType: string, data: unknown): string {
  return `data:${mimeType};base64,${String(data)}`;
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter((one): one is Json => typeof one === 'object' && one !== null) : [];
}
