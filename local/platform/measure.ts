import type { Metrics } from '../aws/cloudwatch/metrics.ts'
import type { Sqs } from '../aws/sqs.ts'
import type { AccessEntry } from '../gateway.ts'
import type { AlarmModel, FunctionModel, QueueModel } from '../template/model.ts'

/** What each queue is now, under the names that SQS gives it in CloudWatch. */
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

/** What Lambda reports of each invocation; nothing is ever throttled here. */
export const measureFunctions =
  (metrics: Metrics) =>
  ({ model, event, failed }: { model: FunctionModel; event: unknown; failed: boolean }): void => {
    const own = { FunctionName: model.functionName }
    metrics.put('AWS/Lambda', 'Invocations', own, 1)
    metrics.put('AWS/Lambda', 'Errors', own, failed ? 1 : 0)
    metrics.put('AWS/Lambda', 'Throttles', own, 0)
    const written = ((event as { Records?: StreamRecord[] } | null)?.Records ?? []).flatMap(({ dynamodb }) =>
      dynamodb?.ApproximateCreationDateTime === undefined ? [] : [dynamodb.ApproximateCreationDateTime * 1_000],
    )
    if (written.length > 0)
      metrics.put('AWS/Lambda', 'IteratorAge', own, Math.max(0, Date.now() - Math.max(...written)))
  }

/** What API Gateway reports of each request, under the dimensions that the alarm asks for. */
export const measureApi = (metrics: Metrics, alarms: readonly AlarmModel[]): ((entry: AccessEntry) => void) => {
  const watched = alarms.find(({ metricName }) => metricName === '5XXError')
  return ({ status }) => {
    if (watched) metrics.put(watched.namespace, watched.metricName, watched.dimensions, status >= 500 ? 1 : 0)
  }
}
