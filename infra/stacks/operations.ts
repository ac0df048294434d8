import { Stack, type StackProps } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { FAILED_INVOCATIONS, metricsNamespace } from '#shared/kernel/metrics.ts'
import { AUDIT_INDEXES, TABLE_LAYOUT } from '#shared/table/layout.ts'
import { Alarms } from '../alarms.ts'
import { apiNames } from '../api.ts'
import type { Config } from '../config.ts'
import { Overview } from '../dashboard.ts'
import { encryption } from '../encryption.ts'
import { Journey } from '../journey.ts'
import { pascal } from '../plan.ts'
import { addSpending } from '../spending.ts'
import { burns } from '../watches/error-budget.ts'
import { watches } from '../watches.ts'
import type { DataStack } from './data.ts'
import type { ServiceStack } from './service.ts'

export type OperationsProps = StackProps & {
  config: Config
  data: DataStack
  service: ServiceStack
}

/** Stack of alarms and dashboard. It refers to the other stacks, and they don't refer to it. */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, { config, data, service, ...props }: OperationsProps) {
    super(scope, id, props)
    const journey = config.journey ? new Journey(this, 'Journey', { config, baseUrl: service.baseUrl }) : undefined
    // They count what an alarm reads, and would bring the service's stack closer to its limit of resources.
    for (const { logGroup, plan } of service.functions) {
      new MetricFilter(this, `${pascal(plan.name)}Failures`, {
        logGroup,
        metricNamespace: metricsNamespace(config.stage),
        metricName: FAILED_INVOCATIONS,
        filterPattern: FilterPattern.literal('{ $.type = "platform.report" && $.record.status != "success" }'),
      })
    }
    const watched = {
      stageName: config.stage,
      api: apiNames(config),
      functions: service.functions,
      messaging: service.messaging,
      tables: [
        { table: data.table, label: 'platform', indexes: Object.keys(TABLE_LAYOUT.indexes) },
        { table: data.auditTable, label: 'audit', indexes: AUDIT_INDEXES },
      ],
      model: config.modelApiUrl !== undefined,
      journey: journey?.lambda,
    }
    const all = watches(watched).filter(({ metric }) => config.alarmFormulas || metric instanceof Metric)
    const paced = config.alarmFormulas ? burns(watched) : []
    const { alarmEmail: email, alarmTopicArn: topicArn } = config
    const { alarms, burning, topic } = new Alarms(this, 'Alarms', {
      ...encryption(this, config),
      watches: all,
      burns: paced,
      email,
      topicArn,
    })
    new Overview(this, 'Overview', { ...watched, watches: all, burns: paced, alarms, burning })
    addSpending(this, config, topic)
  }
}
