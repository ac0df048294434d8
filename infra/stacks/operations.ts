import { Stack, type StackProps } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import { Alarms } from '../alarms.ts'
import { apiNames } from '../api.ts'
import type { Config } from '../config.ts'
import { Overview } from '../dashboard.ts'
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
    const watched = {
      stageName: config.stage,
      api: apiNames(config),
      functions: service.functions,
      messaging: service.messaging,
      table: data.table,
    }
    const all = watches(watched).filter(({ metric }) => config.alarmFormulas || metric instanceof Metric)
    const { alarmEmail: email, alarmTopicArn: topicArn } = config
    const { alarms } = new Alarms(this, 'Alarms', { watches: all, email, topicArn })
    new Overview(this, 'Overview', { ...watched, watches: all, alarms })
  }
}
