import type { ComponentType } from 'preact';
import type { Offer } from './offer.ts';
import type { ViewProps } from './view-props.ts';

/** A view: its title, and its module, which is loaded when the view is first opened. */
export interface View {
  readonly title: string;
  readonly load: () => Promise<{ readonly view: ComponentType<ViewProps> }>;
}

/** Every view of the page itself; the host says which ones it offers. */
const VIEWS: Readonly<Record<string, View>> = {
  workloads: { title: 'Workloads', load: () => import('../views/workloads/view.tsx') },
  playground: { title: 'Playground', load: () => import('../views/playground/view.tsx') },
  calls: { title: 'Calls', load: () => import('../views/calls/view.tsx') },
  endpoint: { title: 'Endpoint', load: () => import('../views/endpoint/view.tsx') },
  browse: { title: 'Browse', load: () => import('../views/browse/view.tsx') },
  clients: { title: 'Clients', load: () => import('../views/clients/view.tsx') },
  secrets: { title: 'Secrets', load: () => import('../views/secrets/view.tsx') },
  skills: { title: 'Skills', load: () => import('../views/skills/view.tsx') },
  pins: { title: 'Pins', load: () => import('../views/pins/view.tsx') },
};

/** A view that the host offers: one of the page, or one of a plugin. */
export function viewOf(name: string, { added }: Offer): View | undefined {
  const own = added?.[name];
  if (own === undefined) return VIEWS[name];
  return {
    title: own.title,
    load: async () => {
      const { addedView } = await import('./added-view.tsx');
      return { view: await addedView(own.module) };
    },
  };
}
