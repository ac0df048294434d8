import * as z from 'zod'
import { brand, DEFAULT_BRAND } from '../brand.ts'
import { modelPrices } from '../model-prices.ts'
import { address, flag, oneOf, schemes, seconds, secretArn, share, whole } from './values.ts'

/** Group in the list of settings (`npm run settings`, docs/deploy.md). */
export type SettingsGroup =
  | 'address'
  | 'rollout'
  | 'traffic'
  | 'watching'
  | 'data'
  | 'providers'
  | 'protocol'
  | 'development'

/** Documentation of a setting. `cost` is omitted if the setting adds no cost. */
export interface SettingDoc {
  group: SettingsGroup
  description: string
  cost?: string
}

interface Declaration extends SettingDoc {
  /** Environment variable that passes the setting to functions. */
  variable: string
  /** Capability that a function needs to get the variable. Default: none. */
  capability?: 'bot' | 'model'
  /** Thunk, so that a cold start builds no schemas until the environment is read. */
  takes: () => z.ZodType
  default?: unknown
}

/**
 * Settings of a stage that functions read. The deployment option, the functions' environment, the field in
 * {@link FunctionSettings} and the row in the docs derive from each entry. Settings that only the stack reads are in
 * infra/settings.ts.
 */
export const FUNCTION_SETTINGS = {
  brand: {
    variable: 'BRAND',
    takes: brand,
    default: DEFAULT_BRAND,
    group: 'address',
    description:
      'Name, mark, accent colour and help address of the platform, on all pages, in the documentation, e-mail and messages of the bot. The logo is an SVG path in a box of 24 × 24. Pages use shades of the accent that are readable in both themes. What you leave out has its default.',
  },
  edge: {
    variable: 'EDGE',
    takes: flag,
    default: false,
    group: 'address',
    description:
      'Put CloudFront in front of the API. It restores the name of the `WWW-Authenticate` header for OAuth clients that read the error from it, and gives the API a root URL. The API then accepts only requests that come through CloudFront.',
    cost: 'two secrets; per million requests $1.00 (https), $0.10 (viewer function) and $0.60 (Lambda@Edge); transfer unchanged',
  },
  addressRateLimits: {
    variable: 'ADDRESS_RATE_LIMITS',
    takes: flag,
    default: true,
    group: 'traffic',
    description:
      'Limit failed authentications per source address, and requests without credentials per source address and per stage.',
  },
  sandboxBudgets: {
    variable: 'SANDBOX_BUDGETS',
    takes: flag,
    default: true,
    group: 'traffic',
    description:
      'Limit the requests that leave a developer’s sandbox, and those of all sandboxes to one host. Turn it off only where you trust every developer, or to measure.',
  },
  staffSecondFactor: {
    variable: 'STAFF_SECOND_FACTOR',
    takes: () => oneOf(['superadmins', 'everyone', 'optional']),
    default: 'superadmins',
    group: 'traffic',
    description:
      'Admins who must have a passkey. Others may add one, and then need it at each sign-in. `optional` asks accounts without a passkey for their password only, once at sign-in.',
  },
  directoryShards: {
    variable: 'DIRECTORY_SHARDS',
    takes: () => whole(1, 256),
    default: 8,
    group: 'traffic',
    description:
      'Shards of the cross-tenant lists. Never lower it: readers read only the shards they know, and each page of the staff’s lists reads all of them.',
  },
  dueShards: {
    variable: 'DUE_SHARDS',
    takes: () => whole(1, 256),
    default: 16,
    group: 'traffic',
    description:
      'Shards of the index of overdue work, at least as many as `directoryShards`. Each run writes the index six times. Never lower it.',
    cost: 'the sweep reads each shard twice a minute',
  },
  counterShards: {
    variable: 'COUNTER_SHARDS',
    takes: () => whole(1, 256),
    group: 'traffic',
    description:
      'Shards of the platform’s counters. As many as `directoryShards` unless set, and never fewer. Never lower it.',
    cost: 'the staff’s overview reads each shard',
  },
  logLevel: {
    variable: 'LOG_LEVEL',
    takes: () => oneOf(['debug', 'info', 'warn', 'error']),
    default: 'info',
    group: 'watching',
    description: 'Lowest level that functions log.',
    cost: '$0.50 per GB',
  },
  tracesEndpoint: {
    variable: 'TRACES_ENDPOINT',
    takes: address,
    group: 'watching',
    description:
      'Address of an OpenTelemetry collector (OTLP over HTTP, without `/v1/traces`) to which functions send spans. With `tracesLayer`, the collector of the layer: `http://localhost:4318`. Without it, functions send none, but still pass a caller’s trace on.',
    cost: 'each invocation waits until the collector has taken its spans, at most a second',
  },
  tracesSecret: {
    variable: 'TRACES_SECRET_ARN',
    takes: secretArn,
    group: 'watching',
    description:
      'Secret of yours with the headers that `tracesEndpoint` wants, such as a key: a JSON object of names and values. Functions read it again every five minutes.',
    cost: '$0.40 a month for the secret, and its reads: $0.05 per 10,000',
  },
  tracesShare: {
    variable: 'TRACES_SHARE',
    takes: share,
    default: 1,
    group: 'watching',
    description: 'Share of traces to export, from 0 to 1. All functions decide alike for one trace.',
  },
  payloadRetentionDays: {
    variable: 'PAYLOAD_RETENTION_DAYS',
    // Below a week, a run could outlive its payloads. An approval alone can wait for a day.
    takes: () => whole(7, 3650),
    default: 90,
    group: 'data',
    description:
      'Days to keep runs with their steps, inputs and outputs, in the table and the bucket. A longer period applies to new runs. A shorter period hides older runs at once. Their objects are deleted within two days, their records at the end of the previous period.',
    cost: '$0.023 per GB-month in the bucket, $0.25 in the table',
  },
  telegramApiUrl: {
    variable: 'TELEGRAM_API_URL',
    capability: 'bot',
    takes: address,
    default: 'https://api.telegram.org',
    group: 'providers',
    description: 'URL of the Bot API (https; in the stages local and emulator a fake server on this machine).',
  },
  telegramLinkUrl: {
    variable: 'TELEGRAM_LINK_URL',
    capability: 'bot',
    takes: address,
    default: 'https://t.me',
    group: 'providers',
    description: 'Start of links into the messaging app. A bot’s name follows.',
  },
  modelApiUrl: {
    variable: 'MODEL_API_URL',
    capability: 'model',
    takes: address,
    group: 'providers',
    description:
      'URL of the OpenAI-compatible API that inline agents run on. Without it, inline agents are off. Its key is a secret.',
    cost: 'the provider’s price',
  },
  modelName: {
    variable: 'MODEL_NAME',
    capability: 'model',
    takes: () => z.string().min(1).max(200).meta({ value: 'a name' }),
    group: 'providers',
    description: 'Default model for agents whose manifest names none.',
  },
  modelPrices: {
    variable: 'MODEL_PRICES',
    capability: 'model',
    takes: modelPrices,
    default: {},
    group: 'providers',
    description:
      'US dollars for a million tokens of each model: input, input from the provider’s cache (`cached`; as other input by default), and output. Runs of models with a price show what they cost.',
  },
  modelStreaming: {
    variable: 'MODEL_STREAMING',
    capability: 'model',
    takes: flag,
    default: true,
    group: 'providers',
    description:
      'The model’s answers are streamed, and shown while they are written. Turn it off for a server that streams wrongly; one that refuses to stream is asked for whole answers anyway.',
  },
  developerProof: {
    variable: 'DEVELOPER_PROOF',
    takes: flag,
    default: true,
    group: 'protocol',
    description:
      'Developers confirm their e-mail address before they submit an app, and claim their vendor name before they publish. Needs `mailFrom`.',
  },
  mailFrom: {
    variable: 'MAIL_FROM',
    takes: () => z.email({ error: 'use an e-mail address' }).meta({ value: 'an e-mail address' }),
    group: 'providers',
    description:
      'Sender of e-mail to developers, and of notifications to people: an address or domain that is verified in Amazon SES, in the stage’s region. Without it, no e-mail is sent.',
    cost: '$0.10 a thousand e-mails',
  },
  webhookRetryDelaysSeconds: {
    variable: 'WEBHOOK_RETRY_DELAYS_SECONDS',
    takes: () => seconds(86_400, 20),
    default: [10, 60, 300, 1800, 2, 6],
    group: 'protocol',
    description:
      'Seconds to wait after the n-th failed attempt of a webhook delivery. The last two of the default are seconds, too; for production, set `webhookRetryPreset` instead.',
  },
  runLifetimeDays: {
    variable: 'RUN_LIFETIME_DAYS',
    takes: () => whole(1, 90),
    default: 7,
    group: 'protocol',
    description: 'Days after which a run that is still active fails, however often its callback token was renewed.',
  },
  refreshReuseWindowSeconds: {
    variable: 'REFRESH_REUSE_WINDOW_SECONDS',
    takes: () => whole(0, 30),
    default: 0,
    group: 'protocol',
    description: 'Seconds in which a reused refresh token returns the same token pair.',
  },
  appEndpointAudience: {
    variable: 'APP_ENDPOINT_AUDIENCE',
    takes: flag,
    default: false,
    group: 'protocol',
    description:
      'Let apps address a `client_assertion` to `{base}/connect/token` at that endpoint, as older libraries do by default. RFC 10070 allows the issuer alone. Turn it on only for a transition. Assistants never may.',
  },
  hostRegistration: {
    variable: 'HOST_REGISTRATION',
    takes: flag,
    default: true,
    group: 'protocol',
    description:
      'Let assistants register themselves at `/connect/register`. Those with a client id metadata document don’t need it.',
  },
  hostRedirectSchemes: {
    variable: 'HOST_REDIRECT_SCHEMES',
    takes: schemes,
    default: ['cursor', 'vscode', 'vscode-insiders'],
    group: 'protocol',
    description: 'Schemes of addresses that assistants may return to, besides https and the person’s own machine.',
  },
  publicAgents: {
    variable: 'PUBLIC_AGENTS',
    takes: flag,
    default: false,
    group: 'protocol',
    description:
      'Name the agents of the marketplace in the public catalogue `/.well-known/ard.json`, each with a card of its MCP server. By default, only people with an account see which agents there are.',
  },
  consoleAutoProvision: {
    variable: 'CONSOLE_AUTO_PROVISION',
    takes: flag,
    default: false,
    group: 'development',
    description: 'Let anyone open a console session (stages local and emulator).',
  },
  allowLoopbackTargets: {
    variable: 'ALLOW_LOOPBACK_TARGETS',
    takes: flag,
    default: false,
    group: 'development',
    description: 'Allow webhooks and agents on this machine (stages local and emulator).',
  },
  localAdmin: {
    variable: 'LOCAL_ADMIN',
    takes: flag,
    default: false,
    group: 'development',
    description: 'Create a fixed admin and admin key (stages local and emulator).',
  },
} as const satisfies Record<string, Declaration>

type Declared = typeof FUNCTION_SETTINGS
type Taken<D> = D extends { takes: () => z.ZodType<infer T> }
  ? D extends { default: unknown }
    ? T
    : T | undefined
  : never

/** Values of the declared settings by name. */
export type FunctionSettings = { -readonly [N in keyof Declared]: Taken<Declared[N]> }

export const FUNCTION_SETTING_NAMES = Object.keys(FUNCTION_SETTINGS) as (keyof Declared)[]

/** Returns a declared setting's schema, including its default. */
export const settingSchema = (name: keyof Declared): z.ZodType => {
  const { takes, default: byDefault }: Declaration = FUNCTION_SETTINGS[name]
  return byDefault === undefined ? takes().optional() : takes().default(byDefault)
}
