import { readdirSync } from 'node:fs'

/** A Lambda function. */
export interface Unit {
  /**
   * For request units: resources (`<group>/<resource>`), or a group, for all of its resources that no other unit names. For
   * worker units: files of `workers/`.
   */
  serves: readonly string[]
  /** Reason for a separate function. */
  why: string
}

/**
 * The functions that serve requests. Each group has one. A group gets another one only for a difference in kind: calls that
 * wait for external servers, response streams, a secret that no other function may read, or untrusted content.
 */
export const REQUEST_UNITS: Record<string, Unit> = {
  oauth: { serves: ['oauth', 'connect'], why: 'The groups /oauth and /connect. Issues tokens; every app calls it.' },
  api: { serves: ['api'], why: 'The group /api/v1. Agents call it far more often than all other groups.' },
  'api-calls': {
    serves: [
      'api/run-start',
      'api/tool-calls',
      'api/webhook-tests',
      'developer/app-test-runs',
      'developer/app-versions',
      'mcp',
      'a2a',
    ],
    why: 'Waits for agents and receivers, up to minutes, and sends requests to addresses that they choose.',
  },
  streams: {
    serves: ['api/run-stream', 'console/run-stream', 'developer/listen'],
    why: 'Keeps responses open for minutes. A limit on its concurrency doesn’t affect other requests.',
  },
  files: {
    serves: ['api/files', 'console/files'],
    why: 'Reads and writes the content of customers’ files. Of the other request functions, only api-calls reads it, for MCP.',
  },
  developer: { serves: ['developer'], why: 'The group /api/v1/dev. Validates manifests.' },
  console: { serves: ['console'], why: 'The group /console. People call it from a browser.' },
  decisions: {
    serves: ['console/decisions'],
    why: 'Signs receipts of people’s decisions: the only function that reads the keyring of receipts.',
  },
  messengers: {
    serves: [
      'console/bot-sign-in',
      'console/bot-webhook',
      'console/messenger-accounts',
      'console/messenger-chats',
      'console/messenger-updates',
    ],
    why: 'Reads the secret of the platform’s bot, calls the Bot API, and receives untrusted messages from messengers.',
  },
  admin: { serves: ['admin'], why: 'The group /admin. Reads the keyring of admin tokens.' },
  'admin-calls': {
    serves: ['admin/app-checks', 'admin/app-test-install', 'admin/export'],
    why: 'Waits for external servers: visits the addresses of apps in review, test-runs agents, streams exports.',
  },
  packages: {
    serves: ['docs/packages'],
    why: 'Serves built packages without credentials. They are bytes, which the gateway passes on only in a stream.',
  },
  pages: {
    serves: ['docs', 'pages', 'developer/sdk-examples'],
    why: 'Serves built files without credentials: documentation and page shells. Has no access to the table or the bucket.',
  },
}

/** The functions that queues, the table's stream and schedules invoke. */
export const WORKER_UNITS: Record<string, Unit> = {
  relay: { serves: ['relay'], why: 'Reads the table’s stream. The only function that publishes events.' },
  audit: {
    serves: ['audit', 'audit-anchors'],
    why: 'The only function that may add entries to the audit, and that has no other permission to write.',
  },
  'fan-out': { serves: ['fan-out'], why: 'Customers wait for events, so no other work may use its concurrency.' },
  dispatch: { serves: ['dispatch'], why: 'Waits for agents. Signs callback tokens.' },
  delivery: { serves: ['delivery'], why: 'Waits for the receivers of webhooks.' },
  'approved-tools': { serves: ['approved-tools'], why: 'Waits for the servers that tools call.' },
  'inline-agents': {
    serves: ['inline-agents'],
    why: 'Bundles the language model’s library, reads its key, and runs for up to 15 minutes.',
  },
  statistics: { serves: ['statistics'], why: 'Processes batches of hundreds of events, and may lag.' },
  sweeper: {
    serves: ['sweeper', 'overdue-shards'],
    why: 'Completes overdue work of every kind, so it must run even if other workers fail.',
  },
  notifications: {
    serves: ['notifications', 'messenger'],
    why: 'Both send messages to people through the Bot API, with the bot’s secret.',
  },
  logos: {
    serves: ['logos'],
    why: 'Waits for servers that developers choose, and handles the files that they answer with.',
  },
  live: {
    serves: ['live-pages', 'live-pushes'],
    why: 'Keeps live connections to open pages. The only function that may send to them.',
  },
  removals: {
    serves: ['removals', 'workspace-removal'],
    why: 'Both delete leftover records in the background.',
  },
}

const named = new Set(Object.values(REQUEST_UNITS).flatMap(({ serves }) => serves))

/** Returns the modules of a unit's resources or workers, as paths below `functions/` without `.ts`. */
export const modulesOf = (unit: string): string[] =>
  WORKER_UNITS[unit]?.serves.map((worker) => `workers/${worker}`) ??
  (REQUEST_UNITS[unit]?.serves ?? []).flatMap((name) =>
    name.includes('/') ? [name] : resourcesOf(name).filter((resource) => !named.has(resource)),
  )

const resourcesOf = (group: string): string[] =>
  readdirSync(new URL(`${group}/`, import.meta.url))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${group}/${file.slice(0, -'.ts'.length)}`)
    .sort()

/** Names of all functions. */
export const unitNames = (): string[] => [...Object.keys(REQUEST_UNITS), ...Object.keys(WORKER_UNITS)].sort()
