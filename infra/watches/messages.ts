import { Duration } from 'aws-cdk-lib'
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { Rule } from 'aws-cdk-lib/aws-events'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import type { Messaging } from '../messaging.ts'
import { pascal } from '../plan.ts'
import type { Watch } from './watch.ts'

const minute = Duration.minutes(1)

/** Queues whose messages customers wait for: runs, events, webhooks. */
const AWAITED: readonly QueueName[] = ['fanout', 'dispatch', 'delivery']

/** Alarms of the queues, their dead letters, and the rules that feed them. */
export const messageWatches = ({ queues, deadLetters, rules, bus }: Messaging): Watch[] => [
  ...[...queues].map(
    ([name, queue]): Watch => ({
      id: `${pascal(name)}Age`,
      label: name,
      kind: 'waiting-messages',
      severity: AWAITED.includes(name) ? 'page' : 'ticket',
      metric: queue.metricApproximateAgeOfOldestMessage({ period: minute }),
      limit: 300,
      breaching: 3,
      of: 3,
      description: `The oldest message of ${name} has waited for 5 minutes.`,
    }),
  ),
  ...deadLetters.map(
    (queue): Watch => ({
      id: `${queue.node.id}Depth`,
      label: queue.node.id,
      kind: 'dead-letters',
      severity: 'ticket',
      metric: queue.metricApproximateNumberOfMessagesVisible({ period: minute }),
      limit: 0,
      breaching: 1,
      of: 1,
      description: `${queue.node.id} has messages: fix the cause and redrive them.`,
    }),
  ),
  ...rules.map((rule) => ruleWatch(rule, rule.node.id.startsWith('To') ? bus.eventBusName : undefined)),
]

/**
 * Alarm on a rule's retries. EventBridge retries for a day before an event becomes a dead letter, so retries give an early warning. A
 * schedule isn't retried. Metrics of rules on a custom bus also have the bus as a dimension.
 */
const ruleWatch = (rule: Rule, bus: string | undefined): Watch => ({
  id: `${rule.node.id}Failures`,
  label: rule.node.id,
  kind: 'failing-rules',
  severity: 'ticket',
  metric: new Metric({
    namespace: 'AWS/Events',
    metricName: bus === undefined ? 'FailedInvocations' : 'RetryInvocationAttempts',
    dimensionsMap: { ...(bus !== undefined && { EventBusName: bus }), RuleName: rule.ruleName },
    statistic: Stats.SUM,
    period: minute,
  }),
  limit: 0,
  breaching: 3,
  of: 5,
  description: `The rule ${rule.node.id} can’t reach its target.`,
})
