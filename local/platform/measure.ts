import { FAILED_INVOCATIONS } from '#shared/kernel/metrics.ts'
import type { Metrics } from '../aws/cloudwatch/metrics.ts'
import { AwsError } from '../aws/error.ts'
import type { AwsHook } from '../aws/server.ts'
import type { Sqs } from '../aws/sqs.ts'
import type { InvokeResult } from '../functions.ts'
import type { AccessEntry } from '../gateway.ts'
import type { AlarmModel, FunctionModel, QueueModel, RuleModel } from '../template/model.ts'

/** Measures each queue under the metric names that SQS uses in CloudWatch. */
export const measureQueues = (metrics: Metrics, queues: readonly QueueModel[], sqs: Sqs): void => {
  for (const { name, arn } of queues) {
    const queue = sqs.byArn(arn)
    if (!queue) continue
    const own = { QueueName: name }
    metrics.gauge('AWS/SQS', 'ApproximateAgeOfOldestMessage', own, () => Math.floor(queue.oldestMs() / 1_000))
    metrics.gauge('AWS/SQS', 'ApproximateNumberOfMessagesVisible', own, () => queue.counts().visible)
  }
}

interface StreamRecord {
  dynamodb?: { ApproximateCreationDateTime?: number }
}

/** Measures each invocation like Lambda. A throttled call is not an invocation. */
export const measureFunctions =
  (metrics: Metrics, alarms: readonly AlarmModel[], now: () => number) =>
  ({ model, event, result }: { model: FunctionModel; event: unknown; result: InvokeResult }): void => {
    const own = { FunctionName: model.functionName }
    const throttled = result.kind === 'error' && result.error.errorType === THROTTLED
    for (const dimensions of [own, {}]) metrics.put('AWS/Lambda', 'Throttles', dimensions, throttled ? 1 : 0)
    if (throttled) return
    metrics.put('AWS/Lambda', 'Invocations', own, 1)
    metrics.put('AWS/Lambda', 'Errors', own, result.kind === 'error' ? 1 : 0)
    // On AWS, a filter of each function's log counts them.
    const counted = alarms.find(({ metricName }) => metricName === FAILED_INVOCATIONS)
    if (counted && result.kind === 'error') metrics.put(counted.namespace, FAILED_INVOCATIONS, {}, 1)
    const [rule] = (event as { resources?: string[] } | null)?.resources ?? []
    if (rule) metrics.put('AWS/Events', 'Invocations', { RuleName: rule.split('/').at(-1) ?? '' }, 1)
    const written = ((event as { Records?: StreamRecord[] } | null)?.Records ?? []).flatMap(({ dynamodb }) =>
      dynamodb?.ApproximateCreationDateTime === undefined ? [] : [dynamodb.ApproximateCreationDateTime * 1_000],
    )
    if (written.length > 0) metrics.put('AWS/Lambda', 'IteratorAge', own, Math.max(0, now() - Math.max(...written)))
  }

const THROTTLED = 'TooManyRequestsException'

interface EmbeddedMetrics {
  _aws?: { CloudWatchMetrics?: { Namespace: string; Dimensions?: string[][]; Metrics?: { Name: string }[] }[] }
  [field: string]: unknown
}

/** Extracts metrics from a line in the embedded metric format, like CloudWatch Logs. */
export const measureLine = (metrics: Metrics, line: string): void => {
  if (!line.startsWith('{"_aws"')) return
  const entry = JSON.parse(line) as EmbeddedMetrics
  for (const { Namespace, Dimensions = [], Metrics: named = [] } of entry._aws?.CloudWatchMetrics ?? []) {
    for (const names of Dimensions) {
      const dimensions = Object.fromEntries(names.map((name) => [name, String(entry[name])]))
      for (const { Name } of named) metrics.put(Namespace, Name, dimensions, Number(entry[Name]))
    }
  }
}

const READS = /^(GetItem|BatchGetItem|Query|TransactGetItems)$/
const TOO_MUCH = /^(ProvisionedThroughputExceeded|Throttling)Exception$/

/** Measures the DynamoDB calls that a hook throttles. The local DynamoDB itself never throttles. */
export const measureThrottles =
  (metrics: Metrics, table: string, hook: AwsHook): AwsHook =>
  async (call) => {
    try {
      return await hook(call)
    } catch (error) {
      if (call.service === 'dynamodb' && error instanceof AwsError && TOO_MUCH.test(error.code)) {
        const name = READS.test(call.operation) ? 'ReadThrottleEvents' : 'WriteThrottleEvents'
        metrics.put('AWS/DynamoDB', name, { TableName: table }, 1)
      }
      throw error
    }
  }

/** Measures a rule with an unreachable target, for which EventBridge reports a retry. */
export const measureRule = (metrics: Metrics, { name, bus }: RuleModel): void =>
  metrics.put('AWS/Events', 'RetryInvocationAttempts', { EventBusName: bus, RuleName: name }, 1)

/** Measures each request like API Gateway, under the dimensions that the alarms use. */
export const measureApi = (metrics: Metrics, alarms: readonly AlarmModel[]): ((entry: AccessEntry) => void) => {
  const watched = alarms.find(({ metricName }) => metricName === '5XXError')
  return ({ status }) => {
    if (!watched) return
    metrics.put(watched.namespace, 'Count', watched.dimensions, 1)
    metrics.put(watched.namespace, '5XXError', watched.dimensions, status >= 500 ? 1 : 0)
  }
}
