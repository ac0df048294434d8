import { t } from '../../ui/messages.ts'
import type { Schemas } from './api.ts'

type Scope = NonNullable<Schemas['CreateApp']['requested_scopes']>[number]

/** An app to start from. */
export interface Template {
  name: string
  title: string
  words: string
  type: Schemas['CreateApp']['type']
  scopes: readonly Scope[]
  /** Runtime of the first manifest. Integrations have none until they bring an agent. */
  runtime?: Record<string, unknown>
}

const SCOPES: readonly Scope[] = ['workspace:read', 'runs:read', 'runs:write', 'tools:invoke', 'webhooks:manage']

const WEBHOOK = { type: 'webhook', endpoint: 'https://agent.example.com/run' }

export const TEMPLATES: readonly Template[] = [
  {
    name: 'webhook',
    title: t('Agent on your server'),
    words: t('The platform sends each run to your address, signed. Your code answers, in any language.'),
    type: 'agent',
    scopes: SCOPES,
    runtime: WEBHOOK,
  },
  {
    name: 'inline',
    title: t('Agent without a server'),
    words: t('You write instructions. The platform runs them with a language model.'),
    type: 'agent',
    scopes: SCOPES,
    runtime: { type: 'inline', instructions: 'Answer the question in one short paragraph.' },
  },
  {
    name: 'a2a',
    title: t('A2A agent that you run'),
    words: t('Your agent speaks the Agent2Agent protocol. You register its card, and runs reach it as messages.'),
    type: 'agent',
    scopes: SCOPES,
    runtime: { type: 'a2a', card_url: 'https://agent.example.com/.well-known/agent-card.json' },
  },
  {
    name: 'integration',
    title: t('Integration'),
    words: t('Connects your service to customers’ workspaces: it starts runs, reads results and gets events.'),
    type: 'integration',
    scopes: SCOPES,
  },
]

export const MANIFEST_SCOPES: readonly Scope[] = [
  'workspace:read',
  'members:read',
  'agents:read',
  'agents:write',
  'runs:read',
  'runs:write',
  'tools:invoke',
  'files:read',
  'files:write',
  'webhooks:manage',
  'chat:read',
  'chat:write',
  'tasks:read',
  'tasks:write',
]

const DRAFTS = 'manifest-draft '

/** Keeps an unpublished manifest in this tab. */
export const draftKey = (app: string): string => DRAFTS + app

/** Makes a name usable as a slug or vendor name. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40)

/** Stands for a vendor name that can't be guessed. The platform refuses it (`shared/kernel/vendor-names.ts`). */
const PLACEHOLDER = 'your-vendor'

/** Returns the text of an app's first manifest. Its vendor is the developer's, or a proposal until they have one. */
export const firstManifest = (
  { slug, name, summary }: { slug: string; name: string; summary: string },
  developer: { vendor: string | null; company?: string | null; name: string } | undefined,
  runtime: Record<string, unknown> = WEBHOOK,
): string => {
  const proposed = slugOf(developer?.company ?? developer?.name ?? '')
  const vendor = developer?.vendor ?? (proposed.length > 1 ? proposed : PLACEHOLDER)
  return JSON.stringify({ id: `${vendor}.${slug}`, version: '1.0.0', name, summary, runtime }, null, 2)
}
