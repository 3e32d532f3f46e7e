import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Json } from '../../app/mcp-shapes.ts';
import { safeUrl } from '../../app/safe-url.ts';
import { Form } from '../../widgets/form.tsx';
import type { FormSchema } from '../../widgets/form-schema.ts';

interface InputRequestsProps {
  /** `elicitation/create` requests by key. */
  readonly requests: Json;
  readonly answer: (responses: Json) => void;
}

/** Asks the person what a server asks for, one request after another. */
export function InputRequests({ requests, answer }: InputRequestsProps): JSX.Element {
  const given = useSignal<Json>({});
  const [next] = Object.entries(requests).filter(([key]) => !Object.hasOwn(given.value, key));
  if (next === undefined) return <p>The answers are sent.</p>;
  const [key, request] = next;
  const { params = {} } = request as { readonly params?: Json };
  const take = (response: Json): void => {
    given.value = { ...given.value, [key]: response };
    if (Object.keys(requests).every((one) => Object.hasOwn(given.value, one))) answer(given.value);
  };
  const url = typeof params.url === 'string' ? params.url : undefined;
  return (
    <section class="note" aria-label="The server asks">
      <p class="lines">
        <strong>The server asks:</strong> {String(params.message ?? '')}
      </p>
      {url === undefined ? (
        <Form
          key={key}
          schema={(params.requestedSchema ?? {}) as FormSchema}
          submit="Answer"
          onSubmit={(content) => take({ action: 'accept', content })}
          onCancel={() => take({ action: 'cancel' })}
        />
      ) : (
        <LinkRequest url={url} take={take} />
      )}
      <button type="button" onClick={() => take({ action: 'decline' })}>
        Decline
      </button>
    </section>
  );
}

function LinkRequest({ url, take }: { readonly url: string; readonly take: (response: Json) => void }): JSX.Element {
  const safe = safeUrl(url);
  return (
    <p>
      {safe === undefined ? (
        <code>{url}</code>
      ) : (
        <a href={safe} target="_blank" rel="noreferrer noopener">
          {safe}
        </a>
      )}{' '}
      <button type="button" class="primary" onClick={() => take({ action: 'accept' })}>
        I have opened it
      </button>
    </p>
  );
}
