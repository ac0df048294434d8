import * as z from 'zod'
import { QUEUES } from '#shared/foundation/queues/index.ts'
import { QUEUE_NAMES } from '#shared/kernel/queue-names.ts'
import {
  FUNCTION_SETTING_NAMES,
  FUNCTION_SETTINGS,
  type FunctionSettings,
  type SettingDoc,
  type SettingsGroup,
  settingSchema,
} from '#shared/kernel/settings/declared.ts'
import { RETRY_PRESET_NAMES } from '#shared/kernel/settings/retry-presets.ts'
import { address, flag, oneOf, whole } from '#shared/kernel/settings/values.ts'
import { PACES } from './rollout/pace.ts'
import { json, logPeriod, text } from './settings/values.ts'

export const SETTINGS_GROUPS = [
  'address',
  'rollout',
  'traffic',
  'watching',
  'data',
  'providers',
  'protocol',
  'development',
] as const satisfies readonly SettingsGroup[]

const describe = (group: SettingsGroup, description: string, cost?: string) => ({
  group,
  description,
  ...(cost !== undefined && { cost }),
})

/** Settings that functions also read, with their documentation. */
const declared = () =>
  Object.fromEntries(
    FUNCTION_SETTING_NAMES.map((name) => {
      const { group, description, cost }: SettingDoc = FUNCTION_SETTINGS[name]
      return [name, settingSchema(name).meta(describe(group, description, cost))]
    }),
  ) as unknown as { [N in keyof FunctionSettings]: z.ZodType<FunctionSettings[N]> }

const Range = z
  .strictObject({ min: whole(1, 1_000_000), max: whole(1, 1_000_000) })
  .refine(({ min, max }) => min <= max, {
    error: 'use a min that is not above max',
  })

/** Warm throughput begins at what every table on demand has: 12,000 reads and 4,000 writes a second. */
const warm = { warmReads: whole(12_000, 10_000_000).optional(), warmWrites: whole(4_000, 10_000_000).optional() }

const TableCapacity = z.union([
  z.strictObject({ maxReads: whole(1, 10_000_000).optional(), maxWrites: whole(1, 10_000_000).optional(), ...warm }),
  z.strictObject({
    provisioned: z.strictObject({ reads: Range, writes: Range, utilization: whole(20, 90).default(70) }),
    ...warm,
  }),
])

/** Settings of a stage, each with its default. Unknown names are refused. */
export const Settings = z.strictObject({
  baseUrl: address()
    .optional()
    .meta(
      describe(
        'address',
        'The address that the platform gives to clients. Derived from the domain, the edge or the API unless set.',
      ),
    ),
  domainName: text(/^(?=.{4,253}$)([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/, 'use a host name in lower case', 'api.example.com')
    .optional()
    .meta(
      describe(
        'address',
        'Your own domain. Without one, the base address is the API’s stage address. RFC 8414’s well-known path then can’t exist, because it belongs at the root of a host.',
        'nothing here; registration and DNS zone are billed elsewhere',
      ),
    ),
  certificateArn: text(
    /^arn:[a-z-]+:acm:[a-z0-9-]+:\d{12}:certificate\/.+$/,
    'use the ARN of a certificate in ACM',
    'an ARN in ACM',
  )
    .optional()
    .meta(describe('address', 'The certificate for the domain, in the stack’s region, or in us-east-1 with `edge`.')),
  hostedZone: json(z.strictObject({ id: z.string(), name: z.string() }), '{"id": …, "name": …}')
    .optional()
    .meta(
      describe(
        'address',
        'The Route 53 zone in which the stack creates the domain’s record. Without it, create the record yourself.',
        '$0.50 a month for the zone; an alias record is free',
      ),
    ),
  stageName: text(/^[A-Za-z0-9_-]{1,128}$/, 'use letters, digits, hyphens and underscores', 'a name')
    .optional()
    .meta(
      describe(
        'address',
        'Name of the API’s stage, which is part of the address when there is no domain. The deployment’s stage name unless set. Changing it changes the address.',
      ),
    ),
  edgeKey: whole(1, 1_000_000)
    .default(1)
    .meta(
      describe(
        'address',
        'Number of the key that the edge sends to the API. Raise it by one to rotate the key: the API already accepts the next key, and stops accepting the previous one.',
        'one more secret above 1',
      ),
    ),
  deployment: oneOf(PACES)
    .default('canary10Percent5Minutes')
    .meta(
      describe(
        'rollout',
        'Pace at which traffic moves to new versions of the functions. All values but `allAtOnce` check each version first and roll it back if it fails.',
        'an alarm ($0.10 a month) for each function and one for the API; CodeDeploy is free for Lambda',
      ),
    ),
  provisionedConcurrency: json(z.record(z.string(), whole(1, 10_000)), '{"function": number}')
    .default({})
    .meta(
      describe(
        'traffic',
        'Executions kept warm, by function name. Up to that many concurrent requests see no cold start.',
        '$0.0000033334 a GB-second: $8.76 a month for one of 1 GB',
      ),
    ),
  reservedConcurrency: json(z.record(z.string(), whole(0, 10_000)), '{"function": number}')
    .optional()
    .meta(
      describe(
        'traffic',
        'Executions reserved, by function name. They are also the function’s limit, and come out of the account’s pool. By default, production stages reserve them for requests that wait for agents, streams, the staff and workers, about 870 in all. `{}` reserves none, for accounts with a small pool.',
      ),
    ),
  queueConcurrency: json(z.partialRecord(z.enum(QUEUE_NAMES), whole(2, 1_000)), '{"queue": number}')
    .default({})
    .meta(
      describe(
        'traffic',
        'Concurrent executions that read from a queue, by queue name. Overrides `shared/foundation/queues/queues.ts`.',
      ),
    ),
  statisticsDelaySeconds: whole(1, 20)
    .default(QUEUES.statistics.windowSeconds ?? 1)
    .meta(
      describe(
        'traffic',
        'Seconds for which events are gathered before they are counted, so that each counter is written once per batch. Statistics and logs are delayed by as much.',
        'shorter delays cost more writes while traffic is low',
      ),
    ),
  throttle: json(
    z.strictObject({ rate: whole(1, 100_000), burst: whole(1, 50_000) }),
    '{"rate": number, "burst": number}',
  )
    .default({ rate: 1000, burst: 2000 })
    .meta(
      describe(
        'traffic',
        'Requests per second, and burst, that the stage accepts before the gateway answers 429. The paths of people’s pages have their own limit.',
      ),
    ),
  pagesThrottle: json(
    z.strictObject({ rate: whole(1, 100_000), burst: whole(1, 50_000) }),
    '{"rate": number, "burst": number}',
  )
    .default({ rate: 300, burst: 600 })
    .meta(
      describe(
        'traffic',
        'Requests per second, and burst, that each route below `/console` and `/admin` accepts. It is separate from `throttle`, so that open pages never take the public API’s share, and integrations never that of people.',
      ),
    ),
  tableCapacity: json(TableCapacity, '{"maxWrites": number, …}')
    .default({})
    .meta(
      describe(
        'traffic',
        'Capacity of the table and each of its indexes, on demand: `maxReads` and `maxWrites` limit units a second, and with them the bill; `warmReads` and `warmWrites` prepare it for a peak. With `provisioned` as `{"reads": {"min", "max"}, "writes": {"min", "max"}, "utilization": 70}`, it is scaled to the load instead, which is cheaper for an even load and throttles sudden peaks.',
        'on demand $0.625 a million writes and $0.125 a million reads; provisioned $0.00065 and $0.00013 for a unit a second and hour; warming once for the units added',
      ),
    ),
  liveUpdates: flag()
    .default(true)
    .meta(
      describe(
        'traffic',
        'Push changes to open pages of the console over a WebSocket API. Without it, or while a connection is lost, pages ask every 30 seconds. Set it to false for emulators without such APIs.',
        '$0.25 per million minutes of open pages, and $1.00 per million messages',
      ),
    ),
  liveThrottle: json(
    z.strictObject({ rate: whole(1, 100_000), burst: whole(1, 50_000) }),
    '{"rate": number, "burst": number}',
  )
    .default({ rate: 500, burst: 1000 })
    .meta(
      describe(
        'traffic',
        'Connections and messages of open pages per second, and burst. They are separate from `throttle`, so that open pages never take the API’s share.',
      ),
    ),
  waf: flag()
    .optional()
    .meta(
      describe(
        'traffic',
        'A web ACL in front of the API, or of the edge if there is one, with AWS’s managed rules and a rate limit per source address. By default on in production stages (`prod…`, `live…`).',
        '$5.00 a month, $1.00 for each of 4 rules, and $0.60 a million requests',
      ),
    ),
  wafRequestsPerAddress: whole(10, 2_000_000_000)
    .default(10_000)
    .meta(describe('traffic', 'Requests in five minutes that the web ACL accepts from one source address.')),
  alarmEmail: z
    .email({ error: 'use an e-mail address' })
    .meta({ value: 'an e-mail address' })
    .optional()
    .meta(
      describe(
        'watching',
        'E-mail address that receives alarms. AWS asks it to confirm.',
        '$0.10 a month for each alarm, with or without a receiver',
      ),
    ),
  alarmTopicArn: text(/^arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[\w-]+$/, 'use the ARN of a topic in SNS', 'an ARN in SNS')
    .optional()
    .meta(
      describe(
        'watching',
        'Your own topic that also receives alarms, for a pager or a chat. It must be in the stage’s region, and its policy must let CloudWatch publish.',
      ),
    ),
  monthlyBudget: whole(1, 10_000_000)
    .optional()
    .meta(
      describe(
        'watching',
        'The account’s budget in dollars a month. The alarms’ topic hears when 80 % is spent, and when the forecast exceeds it.',
        'the first two budgets of an account are free',
      ),
    ),
  costMonitorArn: text(
    /^arn:[a-z-]+:ce::\d{12}:anomalymonitor\/[\w-]+$/,
    'use the ARN of a cost anomaly monitor',
    'an ARN in Cost Explorer',
  )
    .optional()
    .meta(
      describe(
        'watching',
        'The account’s monitor of cost anomalies (`aws ce get-anomaly-monitors`). The alarms’ topic hears of anomalies above 5 % of `monthlyBudget`. An account can have one monitor of its services, so the stage uses it and creates none.',
      ),
    ),
  journey: flag()
    .default(true)
    .meta(
      describe(
        'watching',
        'A client’s journey over the platform’s address every five minutes, with an alarm.',
        'about $0.20 a month for its function, its requests and its alarm',
      ),
    ),
  journeyRun: flag()
    .default(false)
    .meta(
      describe(
        'watching',
        'End the journey with a run of your own app, which you store in a secret (see “The journey”).',
        '$0.40 a month for the secret, and 8,640 runs',
      ),
    ),
  logRetentionDays: logPeriod
    .default(30)
    .meta(describe('watching', 'Days for which logs of functions and requests are kept.', '$0.03 a GB and month')),
  tracing: flag()
    .default(false)
    .meta(
      describe(
        'watching',
        'X-Ray traces. AWS records one request a second and 5 % of the rest. Turn it on while you look for something slow.',
        '$5.00 a million traces; each request is one, and each run two',
      ),
    ),
  tracesLayer: z
    .string()
    .regex(/^arn:aws[\w-]*:lambda:[\w-]+:\d{12}:layer:[\w-]+:\d+$/, { error: 'use the ARN of a layer’s version' })
    .meta({ value: 'an ARN' })
    .optional()
    .meta(
      describe(
        'watching',
        'Layer with an OpenTelemetry collector (ADOT’s, or your own), added to each function. It keeps the credentials of your tracing service.',
        'its memory and start in each function',
      ),
    ),
  methodMetrics: flag()
    .default(false)
    .meta(
      describe(
        'watching',
        'Metrics of each route in addition to those of the whole API.',
        '$0.30 a month for each metric, with five metrics for each route that is called',
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
    .meta(
      describe('watching', 'Tags for every resource that can have them, for cost reports. `stage` is always added.'),
    ),
  retainData: flag()
    .default(true)
    .meta(
      describe(
        'data',
        'Keep the table, the bucket and the secrets when the stack is deleted, and protect the table from deletion.',
      ),
    ),
  backup: flag()
    .default(false)
    .meta(
      describe(
        'data',
        'Back up the tables and the bucket each night to a locked vault and keep each backup for 35 days. Point-in-time recovery is always on (docs/backup.md).',
        '$0.10 a GB and month of each backup of the tables that is kept; $0.05 a GB and month for the bucket, whose backups are incremental',
      ),
    ),
  backupCopyVaultArn: text(
    /^arn:[a-z-]+:backup:[a-z0-9-]+:\d{12}:backup-vault:[\w-]+$/,
    'use the ARN of a vault in AWS Backup',
    'an ARN in AWS Backup',
  )
    .optional()
    .meta(
      describe(
        'data',
        'A vault in another region, or account, to which each nightly backup is copied and kept for as long. Needs `backup`.',
        '$0.10 a GB and month of each copy, and the transfer between regions',
      ),
    ),
  kmsKeyArn: text(
    /^arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:key\/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/,
    'use the ARN of a key in KMS, and not of an alias',
    'an ARN in KMS',
  )
    .optional()
    .meta(
      describe(
        'data',
        'Your own key for tables, buckets, secrets, queues, log groups and the alarms’ topic, in the stage’s region (docs/deploy.md#your-own-key). Without it, AWS encrypts them with keys that it owns or manages.',
        '$1.00 a month for the key and each of its first two rotations, and $0.03 for 10,000 requests to it',
      ),
    ),
  auditLockDays: whole(1, 3650)
    .optional()
    .meta(
      describe(
        'data',
        'Days for which anchors of the audit are locked in a bucket of their own, against everyone (S3 object lock, compliance mode). Without it, they are in the platform’s bucket. It can’t be undone: the objects stay until their days are over.',
        '$0.023 a GB and month',
      ),
    ),
  restoredTableStreamArn: text(
    /^arn:[a-z-]+:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]+\/stream\/[\w:.-]+$/,
    'use the ARN of a table’s stream',
    'the ARN of a stream in DynamoDB',
  )
    .optional()
    .meta(
      describe(
        'data',
        'The stream of a table restored from a backup. The stage uses that table instead of its own (docs/backup.md).',
      ),
    ),
  restoredAuditTableArn: text(
    /^arn:[a-z-]+:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]+$/,
    'use the ARN of a table',
    'the ARN of a table in DynamoDB',
  )
    .optional()
    .meta(
      describe(
        'data',
        'The audit’s table restored from a backup. The stage uses it instead of its own (docs/backup.md).',
      ),
    ),
  streaming: flag()
    .default(true)
    .meta(
      describe(
        'development',
        'Stream the responses of calls that wait for an agent. Set it to false for emulators that can’t.',
      ),
    ),
  conditionKeys: flag()
    .default(true)
    .meta(
      describe(
        'development',
        'Let functions write a data key only with the header that forbids replacing one (`s3:if-none-match`). Set it to false for emulators that don’t know the condition.',
      ),
    ),
  absenceFilters: flag()
    .default(true)
    .meta(
      describe(
        'development',
        'Filter the table’s stream for items without an attribute. Set it to false for emulators that match no such item; functions then skip what the filter would.',
      ),
    ),
  alarmFormulas: flag()
    .default(true)
    .meta(describe('development', 'Create the alarms that use metric math. Set it to false for emulators without it.')),
  edgeLog: flag()
    .default(true)
    .meta(
      describe(
        'development',
        'Log CloudFront’s requests, which takes a delivery of CloudWatch Logs. Set it to false for emulators without them.',
      ),
    ),
  ...declared(),
  webhookRetryPreset: oneOf(RETRY_PRESET_NAMES)
    .optional()
    .meta(
      describe(
        'protocol',
        'A named schedule instead of `webhookRetryDelaysSeconds`. `day` is `10,60,300,1800,7200,21600` and recommended for production.',
      ),
    ),
})

export type Settings = z.infer<typeof Settings>
