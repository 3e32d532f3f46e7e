import type { JSX } from 'preact';
import type { ViewProps } from '../../app/view-props.ts';
import { CustomRun } from './custom-run.tsx';
import { EntryPage } from './entry-page.tsx';
import { RegistrySearch } from './registry-search.tsx';

/** The registry: a search, and the page of one server with the form that runs it. */
export function view({ parts, query, offer }: ViewProps): JSX.Element {
  if (query.has('custom')) return <CustomRun />;
  return parts.length === 0 ? (
    <RegistrySearch />
  ) : (
    <EntryPage key={parts.join('/')} name={parts.join('/')} offer={offer} />
  );
}
