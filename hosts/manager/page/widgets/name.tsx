import { Fragment, type JSX } from 'preact';

/** A name, address or path: a line may end after its separators, so that its words stay whole. */
export function Name({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {text.split(PLACES).map((part, at) => (
        <Fragment key={at}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </>
  );
}

const PLACES = /(?<=[_/.:@=])(?=[^_/.:@=])|(?<=[a-z])(?=[A-Z])/;
