import * as z from 'zod'
import { QUEUES } from '#shared/events/queues.ts'
import { QUEUE_NAMES } from '#shared/kernel/queue-names.ts'
import { PAYLOAD_DAYS } from '#shared/kernel/settings.ts'
import { PACES } from './rollout/pace.ts'
import { address, flag, json, logPeriod, oneOf, seconds, text, whole } from './settings/values.ts'

/** What is told of a setting (`npm run settings`, docs/deploy.md). Its cost is left out where it has none of its own. */
export type Told = { group: SettingsGroup; description: string; cost?: string }

export const SETTINGS_GROUPS = [
  'address',
  'rollout',
  'traffic',
  'watching',
  'data',
  'providers',
  'protocol',
  'development',
] as const

export type SettingsGroup = (typeof SETTINGS_GROUPS)[number]

const said = (group: SettingsGroup, description: string, cost?: string): Told => ({
  group,
  description,
  ...(cost !== undefined && { cost }),
})

/** The settings of a stage, each with its default. Unknown names are refused. */
export const Settings = z.strictObject({
  baseUrl: address
    .optional()
    .meta(
      said(
        'address',
        'The address that the platform hands out; derived from the domain, the edge or the API unless given.',
      ),
    ),
  domainName: text(/^(?=.{4,253}$)([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/, 'use a host name in lower case', 'api.example.com')
    .optional()
    .meta(
      said(
        'address',
        'A domain of your own. Without one the base address is the API’s stage address, and RFC 8414’s well-known path, which belongs at a host’s root, cannot exist there.',
        'nothing here; its registration and its zone elsewhere',
      ),
    ),
  certificateArn: text(
    /^arn:[a-z-]+:acm:[a-z0-9-]+:\d{12}:certificate\/.+$/,
    'use the ARN of a certificate in ACM',
    'an ARN in ACM',
  )
    .optional()
    .meta(said('address', 'The certificate for the domain: in the stack’s region, or in us-east-1 with `edge`.')),
  hostedZone: json(z.strictObject({ id: z.string(), name: z.string() }), '{"id": …, "name": …}')
    .optional()
    .meta(
      said(
        'address',
        'The Route 53 zone in which the domain’s record is made; without it, make the record yourself.',
        '$0.50 a month for the zone; an alias record is free',
      ),
    ),
  stageName: text(/^[A-Za-z0-9_-]{1,128}$/, 'use letters, digits, hyphens and underscores', 'a name')
    .optional()
    .meta(
      said(
        'address',
        'The API’s stage, which is in the address where there is no domain; named as the stage of the deployment unless given. Changing it changes that address.',
      ),
    ),
  edge: flag
    .default(false)
    .meta(
      said(
        'address',
        'CloudFront before the API, which gives `WWW-Authenticate` its name back for OAuth clients that read the error from it, and the API a root address. The API then takes nothing that did not come through it.',
        'two secrets; a million requests: $1.00 (https), $0.10 (viewer function) and $0.60 (Lambda@Edge); transfer as without it',
      ),
    ),
  edgeKey: whole(1, 1_000_000)
    .default(1)
    .meta(
      said(
        'address',
        'Which key the edge sends to the API. Raise it by one to rotate the key: the API takes the next one already, and lets go of the one before.',
        'one more secret from 2 on',
      ),
    ),
  deployment: oneOf(PACES)
    .default('canary10Percent5Minutes')
    .meta(
      said(
        'rollout',
        'How fast traffic goes to new versions of the functions. All but `allAtOnce` check each version first, and take it back when it fails.',
        'an alarm ($0.10 a month) for each function and one for the API; CodeDeploy is free for Lambda',
      ),
    ),
  provisionedConcurrency: json(z.record(z.string(), whole(1, 10_000)), '{"function": number}')
    .default({})
    .meta(
      said(
        'traffic',
        'Executions of a function that are kept warm, by its name: no cold starts up to so many at once.',
        '$0.0000033334 a GB-second: $8.76 a month for one of 1 GB',
      ),
    ),
  reservedConcurrency: json(z.record(z.string(), whole(0, 10_000)), '{"function": number}')
    .default({})
    .meta(
      said('traffic', 'Executions reserved for a function, by its name: a ceiling, and taken from the account’s pool.'),
    ),
  queueConcurrency: json(z.partialRecord(z.enum(QUEUE_NAMES), whole(2, 1_000)), '{"queue": number}')
    .default({})
    .meta(
      said(
        'traffic',
        'Executions at once that take from a queue, by its name; over what `shared/events/queues.ts` gives it.',
      ),
    ),
  statisticsDelaySeconds: whole(1, 20)
    .default(QUEUES.statistics.windowSeconds ?? 1)
    .meta(
      said(
        'traffic',
        'Seconds for which events are gathered before they are counted: what they add to one counter is then one write. Figures and logs are so much later.',
        'the shorter, the more writes, as long as there is little to gather',
      ),
    ),
  throttle: json(
    z.strictObject({ rate: whole(1, 100_000), burst: whole(1, 50_000) }),
    '{"rate": number, "burst": number}',
  )
    .default({ rate: 1000, burst: 2000 })
    .meta(
      said('traffic', 'Requests a second, and at once, that the whole stage takes before the gateway answers 429.'),
    ),
  addressRateLimits: flag.default(true).meta(said('traffic', 'Limit failed authentications by source address.')),
  waf: flag
    .default(false)
    .meta(
      said(
        'traffic',
        'A web ACL before the API, or before the edge where there is one: AWS’s managed rules and a limit for each address.',
        '$5.00 a month, $1.00 for each of 4 rules, and $0.60 a million requests',
      ),
    ),
  wafRequestsPerAddress: whole(10, 2_000_000_000)
    .default(10_000)
    .meta(said('traffic', 'Requests in five minutes that the web ACL takes from one address.')),
  directoryShards: whole(1, 256)
    .default(8)
    .meta(
      said(
        'traffic',
        'Shards of the cross-tenant lists, of the index of what is due and of the platform’s counters. Only ever raise it: readers read the shards that they know.',
        'each is read by the sweep, twice a minute',
      ),
    ),
  alarmEmail: z
    .email({ error: 'use an e-mail address' })
    .meta({ value: 'an e-mail address' })
    .optional()
    .meta(
      said(
        'watching',
        'Who is told of alarms. AWS asks that address to confirm.',
        '$0.10 a month for each alarm, whoever is told',
      ),
    ),
  alarmTopicArn: text(/^arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[\w-]+$/, 'use the ARN of a topic in SNS', 'an ARN in SNS')
    .optional()
    .meta(
      said(
        'watching',
        'A topic of yours that is told, too: a pager, a chat. Its policy must let CloudWatch publish; in the stage’s region.',
      ),
    ),
  logLevel: oneOf(['debug', 'info', 'warn', 'error'])
    .default('info')
    .meta(said('watching', 'The least that functions log.', '$0.50 a GB')),
  logRetentionDays: logPeriod
    .default(30)
    .meta(said('watching', 'How long logs of functions and requests are kept.', '$0.03 a GB and month')),
  tracing: flag
    .default(true)
    .meta(said('watching', 'X-Ray traces, of which AWS samples one a second and 5 %.', '$5.00 a million traces')),
  methodMetrics: flag
    .default(false)
    .meta(
      said(
        'watching',
        'Metrics of each route beside those of the whole API.',
        '$0.30 a month for each metric, and five for each route that is called',
      ),
    ),
  tags: json(
    z
      .record(z.string(), z.string())
      .refine(
        (tags) => Object.keys(tags).every((key) => /^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+@-]{1,128}$/iu.test(key)),
        'use keys of up to 128 letters, digits, spaces and _.:/=+-@, not aws:',
      )
      .refine(
        (tags) => Object.values(tags).every((value) => /^[\p{L}\p{Z}\p{N}_.:/=+@-]{0,256}$/u.test(value)),
        'use values of up to 256 letters, digits, spaces and _.:/=+-@',
      ),
    '{"team": "agents"}',
  )
    .default({})
    .meta(said('watching', 'Tags of everything that can have one, for the cost reports; `stage` is always there.')),
  payloadRetentionDays: whole(7, 3650)
    .default(PAYLOAD_DAYS)
    .meta(
      said(
        'data',
        'Days that runs are kept, with their steps, inputs and outputs, in the table and in the bucket. A longer time counts for runs from then on. A shorter one hides older runs at once; what the bucket has of them goes within two days, their records when the time set before is over.',
        '$0.023 a GB and month in the bucket, $0.25 in the table',
      ),
    ),
  retainData: flag
    .default(true)
    .meta(
      said('data', 'Keep table, bucket and secrets when the stack is deleted, and protect the table from deletion.'),
    ),
  backup: flag
    .default(false)
    .meta(
      said(
        'data',
        'Back the table up each night, apart from it and for 35 days, beside the recovery to any second that it has (docs/backup.md).',
        '$0.10 a GB and month of each backup that is kept',
      ),
    ),
  restoredTableStreamArn: text(
    /^arn:[a-z-]+:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]+\/stream\/[\w:.-]+$/,
    'use the ARN of a table’s stream',
    'the ARN of a stream in DynamoDB',
  )
    .optional()
    .meta(
      said(
        'data',
        'The stream of a table restored from a backup: the stage uses that table instead of its own (docs/backup.md).',
      ),
    ),
  telegramApiUrl: address
    .default('https://api.telegram.org')
    .meta(
      said('providers', 'The Bot API’s server (https; a stand-in on this machine in the stages local and emulator).'),
    ),
  telegramLinkUrl: address
    .default('https://t.me')
    .meta(said('providers', 'What links into the messaging app begin with; a bot’s name follows.')),
  modelApiUrl: address
    .optional()
    .meta(
      said(
        'providers',
        'The OpenAI-compatible API of the language model that inline agents run on; without it there are none. Its key is a secret.',
        'what the provider takes',
      ),
    ),
  modelName: z
    .string()
    .min(1)
    .max(200)
    .meta({ value: 'a name' })
    .optional()
    .meta(said('providers', 'The model of agents whose manifest names none.')),
  webhookRetryDelaysSeconds: seconds(86_400, 20)
    .default([10, 60, 300, 1800, 2, 6])
    .meta(said('protocol', 'Seconds after the n-th failed attempt of a webhook delivery.')),
  refreshReuseWindowSeconds: whole(0, 30)
    .default(0)
    .meta(said('protocol', 'Seconds in which a repeated refresh token gets its pair again.')),
  streaming: flag
    .default(true)
    .meta(said('development', 'Answer calls that wait on an agent as a stream. False for emulators that cannot.')),
  alarmFormulas: flag
    .default(true)
    .meta(
      said('development', 'Make the alarms that stand on a formula over metrics. False for emulators that have none.'),
    ),
  consoleAutoProvision: flag
    .default(false)
    .meta(said('development', 'Anybody may open a console session (stages local and emulator).')),
  allowLoopbackTargets: flag
    .default(false)
    .meta(said('development', 'Webhooks and agents may live on this machine (stages local and emulator).')),
  localAdmin: flag
    .default(false)
    .meta(said('development', 'The fixed admin and admin key exist (stages local and emulator).')),
})

export type Settings = z.infer<typeof Settings>
