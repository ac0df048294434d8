import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import * as z from 'zod'

// What stands on the command line (`-c key=value`) arrives as text, what stands in cdk.json as JSON; both are taken.
const flag = z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })], {
  error: 'use true or false',
})
const fromText = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value)
const json = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value, context) => {
    try {
      return fromText(value)
    } catch {
      context.issues.push({ code: 'custom', message: 'is not JSON', input: value })
      return z.NEVER
    }
  }, schema)
const whole = (least: number, most: number) =>
  z.coerce
    .number({ error: `use a whole number from ${least} to ${most}` })
    .int()
    .min(least)
    .max(most)
const text = (pattern: RegExp, message: string) => z.string().regex(pattern, message)
/** An absolute address without a trailing slash, to which paths are appended. */
const address = z
  .url({ protocol: /^https?$/, error: 'use an absolute address' })
  .transform((url) => url.replace(/\/+$/, ''))

const logDays = Object.values(RetentionDays).filter(
  (days) => typeof days === 'number' && days !== RetentionDays.INFINITE,
)

/** The settings of a stage, each with its default. Unknown names are refused. */
export const Settings = z.strictObject({
  /** The address that the platform hands out; derived from the domain, the edge or the API unless given. */
  baseUrl: address.optional(),
  /** A domain of your own, for example `api.example.com`. */
  domainName: text(/^(?=.{4,253}$)([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/, 'use a host name in lower case').optional(),
  /** The certificate for it: in the stack's region, or in us-east-1 with `edge`. */
  certificateArn: text(
    /^arn:[a-z-]+:acm:[a-z0-9-]+:\d{12}:certificate\/.+$/,
    'use the ARN of a certificate in ACM',
  ).optional(),
  /** The Route 53 zone in which the domain's record is made; without it, make the record yourself. */
  hostedZone: json(z.strictObject({ id: z.string(), name: z.string() })).optional(),
  /** A CloudFront distribution before the API, which gives `WWW-Authenticate` its name back. Deployed from us-east-1. */
  edge: flag.default(false),
  /** Answer calls that wait on an agent as a stream. False for emulators that cannot. */
  streaming: flag.default(true),
  /** Anybody may open a console session (stages local and emulator). */
  consoleAutoProvision: flag.default(false),
  /** The Bot API's server (https; a stand-in on this machine in the stages local and emulator). */
  telegramApiUrl: address.default('https://api.telegram.org'),
  /** What links into the messaging app begin with; a bot's name follows. */
  telegramLinkUrl: address.default('https://t.me'),
  /** The OpenAI-compatible API of the language model that inline agents run on; without it there are none. Its key is a secret. */
  modelApiUrl: address.optional(),
  /** The model of agents whose manifest names none. */
  modelName: z.string().min(1).max(200).optional(),
  /** Webhooks and agents may live on this machine (stages local and emulator). */
  allowLoopbackTargets: flag.default(false),
  /** The fixed admin and admin key exist (stages local and emulator). */
  localAdmin: flag.default(false),
  /** Seconds after the n-th failed attempt of a webhook delivery. */
  webhookRetryDelaysSeconds: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(',').map(Number) : value),
      z.array(z.number().int().min(0).max(86_400)).min(1).max(20),
    )
    .default([10, 60, 300, 1800, 2, 6]),
  /** Seconds in which a repeated refresh token gets its pair again. */
  refreshReuseWindowSeconds: whole(0, 30).default(0),
  /** Limit failed authentications by source address. */
  addressRateLimits: flag.default(true),
  /** Shards of the cross-tenant lists and of the index of what is due. Only ever raise it: a list reads the shards that it knows. */
  directoryShards: whole(1, 64).default(8),
  /** Requests a second, and at once, that the whole stage takes before the gateway answers 429. */
  throttle: json(z.strictObject({ rate: whole(1, 100_000), burst: whole(1, 50_000) })).default({
    rate: 1000,
    burst: 2000,
  }),
  /** Executions reserved for a function, by its name: a ceiling, and taken from the account's pool. */
  reservedConcurrency: json(z.record(z.string(), whole(0, 10_000))).default({}),
  /** Who is told of alarms. */
  alarmEmail: z.email({ error: 'use an e-mail address' }).optional(),
  logLevel: z.enum(['debug', 'info', 'warn', 'error'], { error: 'use debug, info, warn or error' }).default('info'),
  logRetentionDays: z.coerce
    .number()
    .refine((days) => logDays.includes(days), `use one of the periods that CloudWatch Logs has: ${logDays.join(', ')}`)
    .default(30),
  /** Days that inputs and outputs of runs are kept in the bucket. */
  payloadRetentionDays: whole(1, 3650).default(90),
  /** Keep table, bucket and secrets when the stack is deleted, and protect the table from deletion. */
  retainData: flag.default(true),
})

export type Settings = z.infer<typeof Settings>
