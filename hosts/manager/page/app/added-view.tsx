import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { sentenceOf } from './problem.ts';
import { sendRequest } from './request.ts';
import { notify } from './toasts.ts';
import type { ViewProps } from './view-props.ts';

type End = (() => void) | undefined;

/** What the module of a plugin's view exports. It returns what ends it, or nothing. */
interface AddedModule {
  show(element: HTMLElement, tools: { readonly request: typeof callOperation }): End | Promise<End>;
}

/** Loads a view from the module of a plugin. */
export async function addedView(path: string): Promise<ComponentType<ViewProps>> {
  const module = (await import(/* @vite-ignore */ new URL(path, document.baseURI).href)) as AddedModule;
  const shown = async (element: HTMLElement): Promise<End> => module.show(element, { request: callOperation });
  return function Added(): JSX.Element {
    const place = useRef<HTMLDivElement>(null);
    useEffect(() => {
      if (place.current === null) return;
      const showing = shown(place.current).catch((error: unknown) => {
        notify('failed', sentenceOf(error));
        return undefined;
      });
      return () => void showing.then((end) => end?.());
    }, []);
    return <div ref={place} />;
  };
}

/** Calls an operation and resolves with its body. */
async function callOperation(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await sendRequest(path, { method, body });
  const text = await answer.text();
  const isJson = /json/.test(answer.headers.get('content-type') ?? '');
  return text === '' ? undefined : isJson ? JSON.parse(text) : text;
}
